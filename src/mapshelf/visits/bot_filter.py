"""Decide which requests count as visits.

The filter excludes declared bots, prefetching, range requests, subresources of other pages, and
users who opt out of tracking. It does not stop deliberate manipulation: counts are meant for
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
"""Prefixes of the User-Agent of every browser."""

_AHEAD: Final = (b"sec-purpose", b"purpose", b"x-purpose", b"x-moz")
"""Headers that mark prefetch requests."""

_REFUSALS: Final = (b"sec-gpc", b"dnt")
"""Headers by which users opt out of tracking."""

_DESTINATIONS: Final = {
    VisitKind.VIEW: (b"", b"document"),
    VisitKind.DOWNLOAD: (b"", b"document", b"empty"),  # a download link opens no document
}
"""Values of Sec-Fetch-Dest that count; empty if the header is missing."""


def may_count(sender: Sender, kind: VisitKind) -> bool:
    """Return whether a request may count as a visit of this kind, not considering ``is_bot``."""
    header = sender.header
    if header(b"range") or any(header(name) for name in _AHEAD):
        return False
    if any(header(name).strip() == b"1" for name in _REFUSALS):
        return False
    wanted = header(b"sec-fetch-dest").strip().lower()
    return wanted in _DESTINATIONS[kind] and header(b"user-agent").startswith(_BROWSERS)


@lru_cache(CACHED_AGENTS)
def is_bot(agent: bytes) -> bool:
    """Return whether a User-Agent belongs to a known bot.

    The first check of each takes a quarter of a millisecond (``docs/dependencies.md``).
    """
    return bool(is_crawler(agent.decode("latin-1")))
