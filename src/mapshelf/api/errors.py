"""Maps exceptions to the responses that clients see (``docs/api.md``).

Nothing internal leaks: an error without a row is a bug, which is logged and answered with a fixed
text.
"""

import logging
from dataclasses import dataclass
from typing import Final

import orjson

from mapshelf.api.http import Response, json_response
from mapshelf.errors import (
    AddressTooLong,
    BodyTooLarge,
    ClientDisconnected,
    Ending,
    InvalidParameter,
    InvalidToken,
    MalformedRequest,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    PreviewChanged,
    SnapshotError,
    SnapshotMissing,
    StoreDamaged,
    StoreUnavailable,
    UnknownPath,
)

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 1
"""Seconds after which a client may try again if the service cannot answer for a moment."""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """The response to a kind of error; ``message`` replaces that of the error, if given."""

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
    NotFound: ErrorRow(404, 404, "not_found"),
    UnknownPath: ErrorRow(404, 404, "not_found"),
    MethodNotAllowed: ErrorRow(405, 405, "method_not_allowed"),
    BodyTooLarge: ErrorRow(413, 413, "content_too_large"),
    AddressTooLong: ErrorRow(414, 414, "uri_too_long"),
    SnapshotError: ErrorRow(
        503, 503, "temporarily_unavailable", "The catalogue is being prepared; try again soon."
    ),
    Overloaded: ErrorRow(
        503, 503, "temporarily_unavailable", "The service has too much to do; try again soon."
    ),
    # Nobody reads this.
    ClientDisconnected: ErrorRow(503, 503, "temporarily_unavailable", "The client hung up."),
    Ending: ErrorRow(503, 503, "temporarily_unavailable", "This node is ending; ask another."),
    StoreUnavailable: UNAVAILABLE,
    PreviewChanged: UNAVAILABLE,
}
FAULT: Final = ErrorRow(500, 500, "server_error", "Something went wrong on our side.")


def error_row(error: Exception) -> ErrorRow:
    """Return the row of ``error``: its own, or that of the closest base class that has one."""
    return next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), FAULT)


def error_response(error: Exception, request_id: str) -> Response:
    """Return the Error object for ``error`` (``docs/api.md``)."""
    row = error_row(error)
    if isinstance(error, Overloaded | ClientDisconnected):
        pass  # under overload, a line for each would add to the load
    elif isinstance(error, SnapshotMissing | Ending):  # not an error: it starts or stops
        log.info("request %s: %s", request_id, error)
    elif row.status >= 500:
        # The traceback of damage does not show its cause; that of a bug usually does.
        known = row is not FAULT or isinstance(error, StoreDamaged)
        log.error("request %s: %s", request_id, error, exc_info=None if known else error)
    body = orjson.dumps(
        {
            "code": row.code,
            "error": row.identifier,
            "error_description": row.message or str(error),
        }
    )
    headers = [(b"cache-control", b"no-store"), *_own_headers(error)]
    if row.status == 503:
        headers.append((b"retry-after", str(RETRY_AFTER).encode()))
    return json_response(row.status, body, headers)


def _own_headers(error: Exception) -> list[tuple[bytes, bytes]]:
    if isinstance(error, InvalidToken):
        reason = b', error="invalid_token"' if error.sent else b""
        return [(b"www-authenticate", b'Bearer realm="mapshelf"' + reason)]
    if isinstance(error, MethodNotAllowed):
        return [(b"allow", ", ".join(error.allowed).encode())]
    return []
