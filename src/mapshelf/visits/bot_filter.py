"""Decide which requests count as visits.

These do not count: declared bots, prefetching, ranges of a file, subresources of other pages, and
people who ask not to be tracked. This does not stop a determined cheater; the counts are meant for
comparing maps.
"""

from functools import lru_cache
from typing import Final

from crawleruseragents import is_crawler

from mapshelf.client_address import Sender
from mapshelf.model import VisitKind

LONGEST_AGENT: Final = 400  # bytes of a User-Agent examined; those of browsers have half as many

CACHED_AGENTS: Final = 1024

_BROWSERS: Final = (b"Mozilla/5.0 (", b"Opera/")
"""How the User-Agent of every browser starts."""

_AHEAD: Final = (b"sec-purpose", b"purpose", b"x-purpose", b"x-moz")
"""Headers of prefetch requests."""

_REFUSALS: Final = (b"sec-gpc", b"dnt")
"""Headers of people who do not want to be tracked."""

_DESTINATIONS: Final = {
    VisitKind.VIEW: (b"", b"document"),
    VisitKind.DOWNLOAD: (b"", b"document", b"empty"),  # a link to download leads to no document
}
"""Values of Sec-Fetch-Dest that count; empty if the header is missing."""


def may_count(sender: Sender, kind: VisitKind) -> bool:
    """Tell whether a request may be a visit of this kind, unless ``is_bot``."""
    header = sender.header
    if header(b"range") or any(header(name) for name in _AHEAD):
        return False
    if any(header(name).strip() == b"1" for name in _REFUSALS):
        return False
    wanted = header(b"sec-fetch-dest").strip().lower()
    return wanted in _DESTINATIONS[kind] and header(b"user-agent").startswith(_BROWSERS)


@lru_cache(CACHED_AGENTS)
def is_bot(agent: bytes) -> bool:
    """Tell whether a User-Agent is that of a known bot.

    This takes a quarter of a millisecond the first time (``docs/dependencies.md``).
    """
    return bool(is_crawler(agent.decode("latin-1")))
