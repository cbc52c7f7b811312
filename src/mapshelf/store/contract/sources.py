"""Sources: the files that maps were read from, so that an importer can recognize them."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Source


class Sources(Protocol):
    """Finds, renames and deletes the files that maps were read from."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """Return, by path, the sources known among ``paths``."""

    def sources_below(self, folder: bytes, after: bytes, limit: int) -> list[Source]:
        """Return up to ``limit`` sources below ``folder`` with a path above ``after``.

        They are sorted bytewise by path. ``folder`` has no trailing slash.
        """

    def sources_of(self, digest: bytes) -> list[Source]:
        """Return the sources with this content, sorted bytewise by path."""

    def move_source(self, old: bytes, new: Source) -> bool:
        """Record that the file at ``old`` is now ``new``; return whether ``old`` was known.

        The map itself is unchanged, but there is a change in the feed, because the name of the
        source is searchable. If there is already a source at ``new.path``, it MUST NOT be lost, and
        nothing is moved.
        """

    def delete_sources(self, paths: Sequence[bytes]) -> int:
        """Delete the maps that were read from these files; return how many there were."""
