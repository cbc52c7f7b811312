"""Which origins may call the API, and which headers of responses they may read (CORS)."""

from typing import Final

from mapshelf.api.http import METHODS, Headers, Response

EXPOSED_HEADERS: Final = (
    b"Content-Disposition, ETag, Link, Retry-After, WWW-Authenticate, X-Corrected-Query, "
    b"X-Request-Id, X-Total-Count"
)
"""Headers that scripts of other origins may read."""

PREFLIGHT: Final = Response(
    204,
    (
        (b"allow", ", ".join(METHODS).encode()),
        (b"access-control-allow-methods", ", ".join(METHODS).encode()),
        (b"access-control-allow-headers", b"Authorization, If-None-Match"),
        (b"access-control-max-age", b"86400"),
    ),
)
"""The response to OPTIONS."""


def fixed_headers(cors_origin: str) -> Headers:
    """Return the headers of every response.

    Args:
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
    """
    headers: Headers = ((b"x-content-type-options", b"nosniff"),)
    if cors_origin:
        headers += (
            (b"access-control-allow-origin", cors_origin.encode()),
            (b"access-control-expose-headers", EXPOSED_HEADERS),
        )
    return headers
