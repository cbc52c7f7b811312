"""Maps exceptions to the responses that clients see (``docs/api.md``).

Nothing internal leaks: an error without a row is a bug, which is logged and answered with a fixed
message.
"""

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from mapshelf.api.http import NO_STORE, Headers, Response, body_response, json_response
from mapshelf.api.tracing import facts_of
from mapshelf.api.work_queue import LONGEST_RETRY
from mapshelf.errors import (
    AddressTooLong,
    BodyTimeout,
    BodyTooLarge,
    CannotWrite,
    ClientDisconnected,
    Conflict,
    CrossSiteRequest,
    Ending,
    Forbidden,
    InsufficientScope,
    InvalidParameter,
    InvalidToken,
    LengthRequired,
    MalformedRequest,
    MethodNotAllowed,
    NotAMap,
    NotFound,
    OAuthRefusal,
    Overloaded,
    PreviewChanged,
    ProviderRefusal,
    ProviderUnavailable,
    SessionTooOld,
    SnapshotError,
    SnapshotMissing,
    StoreDamaged,
    StoreUnavailable,
    TooLarge,
    TooManyAttempts,
    TooManyReports,
    TooManyRequests,
    TooManyUploads,
    UnknownPath,
    UnreadableFile,
    UnsupportedMediaType,
    WrongCredentials,
    WrongPasskey,
)

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 1
"""``Retry-After`` in seconds for brief outages. For work in a queue, it depends on the length of
the queue (``work_queue``)."""

CHALLENGE: Final = b'Bearer realm="mapshelf"'
"""How to authenticate (RFC 6750, section 3)."""

BASIC_CHALLENGE: Final = b'Basic realm="mapshelf", charset="UTF-8"'
"""How programs authenticate with HTTP Basic (RFC 6749, section 5.2)."""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """The response to a kind of error.

    Attributes:
        status: the HTTP status.
        code: ``code`` of the Error object: the status, except that a 401 for a token has 0.
        identifier: ``error`` of the Error object.
        message: replaces the message of the error, if given.
    """

    status: int
    code: int
    identifier: str
    message: str | None = None


UNAVAILABLE: Final = ErrorRow(
    503, 503, "temporarily_unavailable", "The service cannot answer now; try again soon."
)

TABLE: Final[dict[type[Exception], ErrorRow]] = {
    InvalidParameter: ErrorRow(400, 400, "error"),
    MalformedRequest: ErrorRow(400, 400, "error"),
    InvalidToken: ErrorRow(401, 0, "invalid_request"),
    InsufficientScope: ErrorRow(403, 403, "insufficient_scope"),
    CrossSiteRequest: ErrorRow(403, 403, "forbidden"),
    SessionTooOld: ErrorRow(403, 403, "forbidden"),
    WrongCredentials: ErrorRow(403, 403, "forbidden"),
    WrongPasskey: ErrorRow(403, 403, "forbidden"),
    ProviderRefusal: ErrorRow(403, 403, "forbidden"),
    Forbidden: ErrorRow(403, 403, "forbidden"),
    NotFound: ErrorRow(404, 404, "not_found"),
    UnknownPath: ErrorRow(404, 404, "not_found"),
    MethodNotAllowed: ErrorRow(405, 405, "method_not_allowed"),
    BodyTimeout: ErrorRow(408, 408, "request_timeout"),
    Conflict: ErrorRow(409, 409, "conflict"),
    LengthRequired: ErrorRow(411, 411, "length_required"),
    BodyTooLarge: ErrorRow(413, 413, "content_too_large"),
    TooLarge: ErrorRow(413, 413, "content_too_large"),
    AddressTooLong: ErrorRow(414, 414, "uri_too_long"),
    UnsupportedMediaType: ErrorRow(415, 415, "unsupported_media_type"),
    NotAMap: ErrorRow(415, 415, "unsupported_media_type"),
    UnreadableFile: ErrorRow(422, 422, "unprocessable_content"),
    TooManyUploads: ErrorRow(429, 429, "rate_limited"),
    TooManyReports: ErrorRow(429, 429, "rate_limited"),
    TooManyAttempts: ErrorRow(429, 429, "rate_limited"),
    TooManyRequests: ErrorRow(429, 429, "rate_limited"),
    SnapshotError: ErrorRow(
        503, 503, "temporarily_unavailable", "The catalogue is being prepared; try again soon."
    ),
    Overloaded: ErrorRow(
        503, 503, "temporarily_unavailable", "The service is overloaded; try again soon."
    ),
    # The client has gone, so nobody reads this.
    ClientDisconnected: ErrorRow(503, 503, "temporarily_unavailable", "The client hung up."),
    Ending: ErrorRow(
        503, 503, "temporarily_unavailable", "This node is shutting down; ask another."
    ),
    StoreUnavailable: UNAVAILABLE,
    ProviderUnavailable: UNAVAILABLE,
    PreviewChanged: UNAVAILABLE,
    CannotWrite: UNAVAILABLE,  # for bodies that are buffered on disk
}
PASSING: Final = (408, 429)
"""Statuses below 500 of errors that pass: the request was right, and can be sent again."""

FAULT: Final = ErrorRow(500, 500, "server_error", "Something went wrong on our side.")


def error_row(error: Exception) -> ErrorRow:
    """Return the row of ``error``: its own, or that of its closest base class with a row."""
    if isinstance(error, OAuthRefusal):
        status = 401 if error.basic and error.reason == "invalid_client" else 400
        return ErrorRow(status, status, error.reason)
    # Most classes have their own row, and under overload this runs for each request.
    own = TABLE.get(type(error))
    return own or next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), FAULT)


def error_name(error: Exception) -> str:
    """Return the name of ``error`` for counters: one of a small fixed set."""
    if isinstance(error, OAuthRefusal):
        return OAuthRefusal.__name__
    if type(error) in TABLE:
        return type(error).__name__
    return next((kind.__name__ for kind in type(error).__mro__ if kind in TABLE), "Fault")


def error_response(
    error: Exception, request_id: str, traceparent: bytes = b"", *, outages_as_text: bool = False
) -> Response:
    """Log ``error``, and return its Error object (``docs/api.md``).

    With ``outages_as_text``, the response to an error that passes is its message as text.
    """
    status = error_row(error).status
    if outages_as_text and (status >= 500 or status in PASSING):
        log_error(error, request_id, traceparent)
        return _error_text(error)
    if type(error) is Overloaded:
        return _overloaded(error.retry_after)
    log_error(error, request_id, traceparent)
    return _error_object(error)


@lru_cache(LONGEST_RETRY + 1)
def _overloaded(retry_after: int) -> Response:
    """Return the usual response to overload, which is built once."""
    return _error_object(Overloaded("", retry_after))


def _error_object(error: Exception) -> Response:
    row = error_row(error)
    body = orjson.dumps(
        {
            "code": row.code,
            "error": row.identifier,
            "error_description": row.message or str(error),
        }
    )
    return json_response(row.status, body, error_headers(error))


def _error_text(error: Exception) -> Response:
    row = error_row(error)
    body = (row.message or str(error)).encode()
    return body_response(row.status, b"text/plain; charset=utf-8", body, error_headers(error))


def log_error(error: Exception, request_id: str, traceparent: bytes = b"") -> None:
    """Log an error if operators should know about it."""
    row, extra = error_row(error), {"facts": facts_of(request_id, traceparent)}
    if isinstance(error, Overloaded | ClientDisconnected):
        pass  # under overload, a line for each would add to the load
    elif isinstance(error, SnapshotMissing | Ending):  # not an error: it starts or stops
        log.info("request %s: %s", request_id, error, extra=extra)
    elif row.status >= 500:
        # The traceback of damage does not show its cause; that of a bug usually does.
        known = row is not FAULT or isinstance(error, StoreDamaged)
        trace = None if known else error
        log.error("request %s: %s", request_id, error, exc_info=trace, extra=extra)


def error_headers(error: Exception) -> Headers:
    """Return the headers of the response to an error, for JSON and for pages."""
    if error_row(error).status == 503:
        known = error.retry_after if isinstance(error, Overloaded) else 0
        return (*NO_STORE, (b"retry-after", str(known or RETRY_AFTER).encode()))
    return (*NO_STORE, *_own_headers(error))


def _own_headers(error: Exception) -> Headers:
    if isinstance(error, InvalidToken):
        reason = b', error="invalid_token"' if error.sent else b""
        return ((b"www-authenticate", CHALLENGE + reason),)
    if isinstance(error, InsufficientScope):
        needed = f', error="insufficient_scope", scope="{error.scope}"'.encode()
        return ((b"www-authenticate", CHALLENGE + needed),)
    if isinstance(error, OAuthRefusal) and error.basic:
        return ((b"www-authenticate", BASIC_CHALLENGE),)
    if isinstance(error, MethodNotAllowed):
        return ((b"allow", ", ".join(error.allowed).encode()),)
    if isinstance(error, TooManyAttempts | TooManyReports | TooManyRequests | TooManyUploads):
        return ((b"retry-after", str(error.retry_after).encode()),)
    return ()
