"""The access log: a line for each request, if the operator asks for it.

Query strings are left out, because they have what people search for, and what providers and
programs exchange. Secrets in paths (of one-time links and of feeds) are replaced.
"""

import logging
import re
from typing import Final
from urllib.parse import quote

from mapshelf.api.context import address_of
from mapshelf.api.http import Request, Response
from mapshelf.api.tracing import facts_of
from mapshelf.client_address import Network

LOGGER: Final = "mapshelf.access"

LONGEST_PATH: Final = 500
"""Characters of a path that are written."""

_SECRET: Final = re.compile(r"(ms[a-z]_)[0-9A-Za-z]+")
_UNCHANGED: Final = "/:@!$&'()*+,;=~"
"""Characters of a path that are not encoded again."""

log = logging.getLogger(LOGGER)


class AccessLog:
    """Writes the lines of one worker."""

    def __init__(self, trusted: tuple[Network, ...]) -> None:
        """Take the addresses of clients from proxies in ``trusted``."""
        self._trusted = trusted

    def note(
        self, request: Request | None, response: Response, seconds: float, request_id: str
    ) -> None:
        """Write the line of a request; ``request`` is ``None`` if it was malformed."""
        facts = {
            "address": address_of(self._trusted, request.sender) if request else "",
            "method": request.method[:16] if request else "",
            "path": _shown(request.path) if request else "",
            "status": response.status,
            "bytes": response.size,
            "seconds": round(seconds, 6),
            **facts_of(request_id, request.traceparent if request else b""),
        }
        # Not 9e-05: people read this, and programs that know nothing of such numbers.
        texts = (f"{fact:.6f}" if isinstance(fact, float) else str(fact) for fact in facts.values())
        log.info(" ".join(text or "-" for text in texts), extra={"facts": facts})


def _shown(path: str) -> str:
    """Return a path as it can be written: without secrets, encoded as in an address."""
    without = _SECRET.sub(r"\1...", path)
    return quote(without, safe=_UNCHANGED, errors="backslashreplace")[:LONGEST_PATH]
