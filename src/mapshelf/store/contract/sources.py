"""Sources: the files that maps were read from, by which an importer finds them again."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Source


class Sources(Protocol):
    """Finds, renames and deletes the files that maps were read from."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """Return, by path, the sources known among ``paths``."""

    def sources_below(self, folder: bytes, after: bytes, limit: int) -> list[Source]:
        """Return up to ``limit`` sources below ``folder`` with a path above ``after``.

        They are in ascending order of the bytes of their paths. ``folder`` ends with no slash.
        """

    def sources_of(self, digest: bytes) -> list[Source]:
        """Return the sources with this content, in ascending order of the bytes of their paths."""

    def move_source(self, old: bytes, new: Source) -> bool:
        """Record that the file at ``old`` is now ``new``; tell whether ``old`` was known.

        The map stays the same. It makes a change in the feed, because the name of its source is
        searchable. A source that is already at ``new.path`` MUST NOT be lost: in that case nothing
        is moved.
        """

    def delete_sources(self, paths: Sequence[bytes]) -> int:
        """Delete the maps that were read from these files; return how many there were."""
