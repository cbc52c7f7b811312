"""Cross-origin resource sharing (CORS): which origins may call the API and read its headers.

Pages are never shared with other origins. OAuth programs that run in browsers exchange codes and
revoke tokens like all others, so those paths are shared, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.api.http import Headers, Response

EXPOSED_HEADERS: Final = (
    b"Content-Disposition, ETag, Link, Location, Retry-After, WWW-Authenticate, X-Corrected-Query, "
    b"X-Missing-Pictures, X-Request-Id, X-Total-Count"
)
"""Headers that scripts of other origins may read."""

LIMIT_HEADERS: Final = b", RateLimit, RateLimit-Policy"
"""Additional ones if there is a rate limit."""

SENT_HEADERS: Final = b"Authorization, If-None-Match"
"""Headers that scripts of other origins may send in addition to the CORS-safelisted ones."""

SENT_WITH_BODY: Final = (
    b"Authorization, Content-Disposition, Content-Type, Idempotency-Key, If-None-Match"
)
"""The same for paths that accept bodies."""


def own_preflight(allowed: Iterable[str]) -> Response:
    """Return the response to OPTIONS for a path that is not shared; see ``preflight``."""
    return Response(204, ((b"allow", ", ".join(allowed).encode()),), shared=False)


def preflight(allowed: Iterable[str], shared: Iterable[str], *, writing: bool) -> Response:
    """Return the response to OPTIONS.

    Args:
        allowed: the methods of a path.
        shared: those that pages of other origins may use.
        writing: whether some of them write.
    """
    return Response(
        204,
        (
            (b"allow", ", ".join(allowed).encode()),
            (b"access-control-allow-methods", ", ".join(shared).encode()),
            (b"access-control-allow-headers", SENT_WITH_BODY if writing else SENT_HEADERS),
            (b"access-control-max-age", b"86400"),
        ),
    )


@dataclass(frozen=True, slots=True)
class FixedHeaders:
    """The fixed headers of shared responses, and of all other responses."""

    shared: Headers
    own: Headers

    def of(self, response: Response) -> Headers:
        """Return the fixed headers of ``response``."""
        return self.shared if response.shared else self.own


def fixed_headers(cors_origin: str, *, limited: bool = False) -> FixedHeaders:
    """Return the headers of every response.

    Args:
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
        limited: whether responses report the state of a rate limit.
    """
    own: Headers = ((b"x-content-type-options", b"nosniff"),)
    if not cors_origin:
        return FixedHeaders(own, own)
    shared = (
        (b"access-control-allow-origin", cors_origin.encode()),
        (b"access-control-expose-headers", EXPOSED_HEADERS + (LIMIT_HEADERS if limited else b"")),
    )
    return FixedHeaders((*own, *shared), own)
