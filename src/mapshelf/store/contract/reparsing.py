"""Outlines that an older version made, which are made anew from the files that are kept."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import OutdatedMap, ReparsedMap


class ReparsableOutlines(Protocol):
    """Knows which maps have to be read anew, and takes the results."""

    def outdated(self, after: int, limit: int) -> list[OutdatedMap]:
        """Return up to ``limit`` maps to be read anew with a ``file_id`` above ``after``.

        They are in ascending order. MUST be cheap if there are none.
        """

    def replace_outlines(self, reparsed: Sequence[ReparsedMap]) -> int:
        """Take the results in one transaction; return how many maps changed.

        Each change is one in the feed, of outline, links and images and of nothing else; but a map
        without tags gets those of its file, unless people have removed them. A map that
        is no longer outdated MUST NOT change: its file has been imported, or another node was
        faster. The same goes for a map whose file has been replaced, which stays outdated.
        """
