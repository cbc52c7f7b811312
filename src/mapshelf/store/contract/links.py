"""Links between maps: look up links, and the files they may refer to."""

from collections.abc import Collection
from typing import Protocol

from mapshelf.model import LinkOfMap, MapFile, MapLink


class Links(Protocol):
    """Finds links by source map or target name, and files by name and path.

    Unpublished maps are treated as missing, except that their own links can be read.

    While the database is writable, results are at least as recent as every snapshot of the
    catalogue, so data derived from them may be cached until the next snapshot.
    """

    def links_from(self, file_id: int) -> list[MapLink]:
        """Return the links of a map to files that may be maps, in the order of its topics."""

    def links_to(self, names: Collection[str], limit: int, characters: int) -> list[LinkOfMap]:
        """Return links with one of these names, in order of ``file_id``.

        At most ``limit`` links, whose targets and topics have at most this many ``characters``
        together.
        """

    def paths_of(self, file_ids: Collection[int]) -> dict[int, list[bytes]]:
        """Return the source paths of maps, leaving out maps that have none."""

    def files_at(self, paths: Collection[bytes]) -> list[MapFile]:
        """Return the files at ``paths`` that maps were read from."""

    def files_named(self, names: Collection[str], limit: int) -> dict[str, list[MapFile]]:
        """Return up to ``limit`` files for each of ``names`` that has any.

        The name of a file is the part of ``Source.name`` (its last 255 characters) after the last
        slash, ignoring the case of ASCII letters. ``names`` are in lower case.
        """
