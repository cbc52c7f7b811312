"""Which requests somebody sent who wants to see something, and can be counted.

Left out are programs that say they are; what a browser fetches before anybody asked for it; pieces
of a file; pages that other pages load without showing them; and everybody who asks not to be
tracked. None of it is proof against somebody set on deceiving: the counts are for comparing maps.
"""

from functools import lru_cache
from typing import Final, Protocol

from crawleruseragents import is_crawler

from mapshelf.model import VisitKind

LONGEST_AGENT: Final = 400
"""Bytes of a User-Agent that are looked at: those of browsers have half as many."""

AGENTS: Final = 1024
"""User-Agents of which is remembered what they are."""

_BROWSERS: Final = (b"Mozilla/5.0 (", b"Opera/")
"""How the User-Agent of everything begins that shows pages to people."""

_AHEAD: Final = (b"sec-purpose", b"purpose", b"x-purpose", b"x-moz")
"""Headers by which browsers say that nobody has asked for this yet."""

_REFUSALS: Final = (b"sec-gpc", b"dnt")
"""Headers by which people say that they do not want to be tracked."""

_DESTINATIONS: Final = {
    VisitKind.VIEW: (b"", b"document"),
    VisitKind.DOWNLOAD: (b"", b"document", b"empty"),  # a link to download leads to no document
}
"""What a browser may say that an answer is for, empty if it says nothing."""


class Sender(Protocol):
    """Whoever sent a request."""

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty if it is not there."""

    def address(self) -> str:
        """Return the address at the other end of the connection, with its port if need be."""


def may_count(sender: Sender, kind: VisitKind) -> bool:
    """Tell whether a request may be a visit of this kind; ``is_robot`` tells the rest."""
    header = sender.header
    if header(b"range") or any(header(name) for name in _AHEAD):
        return False
    if any(header(name).strip() == b"1" for name in _REFUSALS):
        return False
    wanted = header(b"sec-fetch-dest").strip().lower()
    return wanted in _DESTINATIONS[kind] and header(b"user-agent").startswith(_BROWSERS)


@lru_cache(AGENTS)
def is_robot(agent: bytes) -> bool:
    """Tell whether a User-Agent is that of a program which pretends to be no browser.

    It takes a quarter of a millisecond the first time (``docs/dependencies.md``).
    """
    return bool(is_crawler(agent.decode("latin-1")))
