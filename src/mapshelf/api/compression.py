"""Answers made smaller for the way, for clients that take them so (RFC 9110, 12.5.3).

A proxy can do that, too; but whoever runs Mapshelf without one has readers with slow lines as well.
It costs more than answering a list does, so it is for what is made once and sent often, in threads:
pages and the files they load. Gzip is what every client takes, and comes with Python.
"""

import gzip
from dataclasses import replace
from typing import Final

from mapshelf.api.http import Response

LEVEL: Final = 6
"""Higher ones take twice as long for one per cent."""

WORTH_IT: Final = 1024
"""Bytes below which an answer fits into a packet or two anyway."""

_VARY: Final = (b"vary", b"Accept-Encoding")


def packable(response: Response) -> Response:
    """Return ``response`` with its smaller form beside it.

    The smaller one has a validator of its own: it is another representation of the same thing.
    """
    if len(response.body) < WORTH_IT:
        return with_smaller(response, None)
    body = compressed(response.body)
    return with_smaller(response, Response(response.status, (), body))


def compressed(body: bytes) -> bytes:
    """Return a body in its smaller form."""
    return gzip.compress(body, LEVEL, mtime=0)


def with_smaller(response: Response, smaller: Response | None) -> Response:
    """Return ``response`` with the compressed body of ``smaller`` as its smaller form."""
    headers = (*response.headers, _VARY)
    whole = replace(response, headers=headers)
    if smaller is not None:
        changed = {b"content-length": str(smaller.size).encode()}
        etag = response.header(b"etag")
        if etag is not None:
            changed[b"etag"] = etag.removesuffix(b'"') + b'-gzip"'
        packed = tuple((name, changed.get(name, value)) for name, value in headers)
        encoded = (*packed, (b"content-encoding", b"gzip"))
        whole.smaller = replace(smaller, status=response.status, headers=encoded)
    return whole


def takes_gzip(accepted: bytes) -> bool:
    """Tell whether a client that says this in ``Accept-Encoding`` takes gzip."""
    for part in accepted.lower().split(b","):
        coding, _, weight = part.partition(b";")
        if coding.strip() == b"gzip":
            number = weight.replace(b" ", b"").removeprefix(b"q=")
            return not weight or number.strip(b"0.") != b""
    return False
