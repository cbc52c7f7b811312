"""Reparsing: regenerate outlines made by an older version from the stored files."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import OutdatedMap, ReparsedMap


class ReparsableOutlines(Protocol):
    """Finds maps with outdated outlines, and stores the new ones."""

    def outdated(self, after: int, limit: int) -> list[OutdatedMap]:
        """Return up to ``limit`` outdated maps with a ``file_id`` above ``after``, ascending.

        MUST be cheap if there are none.
        """

    def replace_outlines(self, reparsed: Sequence[ReparsedMap]) -> int:
        """Store the results in one transaction; return how many maps changed.

        Each map makes one change in the feed. Only outline, links and images change, except that a
        map without tags gets those of its file, unless users have removed them. A map that is no
        longer outdated MUST NOT change: its file has been imported, or another node was faster. Nor
        MUST a map whose file has been replaced, which stays outdated.
        """
