"""The optional access log, with one line for each request.

Query strings are omitted, because they contain search texts and the data of sign-in protocols.
Secrets in paths (of one-time links and feeds) are masked.
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
"""Most characters of a path to log."""

_SECRET: Final = re.compile(r"(ms[a-z]_)[0-9A-Za-z]+")
_UNCHANGED: Final = "/:@!$&'()*+,;=~"
"""Characters of a path that are not percent-encoded again."""

log = logging.getLogger(LOGGER)


class AccessLog:
    """Writes the access log of one worker."""

    def __init__(self, trusted: tuple[Network, ...]) -> None:
        """Accept client addresses from the proxies in ``trusted``."""
        self._trusted = trusted

    def note(
        self, request: Request | None, response: Response, seconds: float, request_id: str
    ) -> None:
        """Log a request; ``request`` is ``None`` if it was malformed."""
        facts = {
            "address": address_of(self._trusted, request.sender) if request else "",
            "method": request.method[:16] if request else "",
            "path": _shown(request.path) if request else "",
            "status": response.status,
            "bytes": response.size,
            "seconds": round(seconds, 6),
            **facts_of(request_id, request.traceparent if request else b""),
        }
        # Fixed-point, not 9e-05: people and simple programs read this.
        texts = (f"{fact:.6f}" if isinstance(fact, float) else str(fact) for fact in facts.values())
        log.info(" ".join(text or "-" for text in texts), extra={"facts": facts})


def _shown(path: str) -> str:
    """Return a path in loggable form: secrets masked, percent-encoded."""
    without = _SECRET.sub(r"\1...", path)
    return quote(without, safe=_UNCHANGED, errors="backslashreplace")[:LONGEST_PATH]
