"""Gzip compression of responses, for clients that accept it (RFC 9110, 12.5.3).

A proxy can compress too, but not every installation has one. Compressing takes longer than making a
list, so it is only for responses that are made once, in threads, and sent often: pages and their
assets. Every client accepts gzip.
"""

from dataclasses import replace
from typing import Final

from isal import igzip

from mapshelf.api.http import Response

LEVEL: Final = 3
"""The best that ISA-L has: pages are 5 % larger than at level 6 of zlib, which takes five times as
long."""

SMALLEST_COMPRESSED: Final = 1024
"""Bytes below which compression is not worthwhile: the response fits into a packet or two."""

_VARY: Final = (b"vary", b"Accept-Encoding")


def also_compressed(response: Response) -> Response:
    """Return ``response`` with its compressed form in ``compressed``.

    The compressed form has its own ETag, because it is another representation of the same thing.
    """
    if len(response.body) < SMALLEST_COMPRESSED:
        return with_compressed(response, None)
    body = compress(response.body)
    return with_compressed(response, Response(response.status, (), body))


def compress(body: bytes) -> bytes:
    """Return a body, compressed."""
    return igzip.compress(body, LEVEL, mtime=0)


def with_compressed(response: Response, compressed: Response | None) -> Response:
    """Return ``response`` with ``compressed``, whose body is compressed, as its compressed form."""
    headers = (*response.headers, _VARY)
    whole = replace(response, headers=headers)
    if compressed is not None:
        changed = {b"content-length": str(compressed.size).encode()}
        etag = response.header(b"etag")
        if etag is not None:
            changed[b"etag"] = etag.removesuffix(b'"') + b'-gzip"'
        sent = tuple((name, changed.get(name, value)) for name, value in headers)
        encoded = (*sent, (b"content-encoding", b"gzip"))
        whole.compressed = replace(compressed, status=response.status, headers=encoded)
    return whole


def takes_gzip(accepted: bytes) -> bool:
    """Return whether a client with this ``Accept-Encoding`` accepts gzip."""
    for part in accepted.lower().split(b","):
        coding, _, weight = part.partition(b";")
        if coding.strip() == b"gzip":
            number = weight.replace(b" ", b"").removeprefix(b"q=")
            return not weight or number.strip(b"0.") != b""
    return False
