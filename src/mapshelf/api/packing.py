"""Answers made smaller for the way, for clients that take them so (RFC 9110, 12.5.3).

A proxy can do that, too; but whoever runs Mapshelf without one has readers with slow lines as well.
It costs more than answering a list does, so it is for what is made once and sent often, in threads:
pages and the files they load. Gzip is what every client takes, and comes with Python.
"""

import gzip
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
    headers = (*response.headers, _VARY)
    whole = Response(response.status, headers, response.body)
    if len(response.body) >= WORTH_IT:
        body = gzip.compress(response.body, LEVEL, mtime=0)
        changed = {b"content-length": str(len(body)).encode()}
        etag = response.header(b"etag")
        if etag is not None:
            changed[b"etag"] = etag.removesuffix(b'"') + b'-gzip"'
        packed = tuple((name, changed.get(name, value)) for name, value in headers)
        whole.smaller = Response(response.status, (*packed, (b"content-encoding", b"gzip")), body)
    return whole


def takes_gzip(accepted: bytes) -> bool:
    """Tell whether a client that says this in ``Accept-Encoding`` takes gzip."""
    for part in accepted.lower().split(b","):
        coding, _, weight = part.partition(b";")
        if coding.strip() == b"gzip":
            number = weight.replace(b" ", b"").removeprefix(b"q=")
            return not weight or number.strip(b"0.") != b""
    return False
