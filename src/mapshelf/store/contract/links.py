"""Links between maps: what is known of them, and of the files they may mean."""

from collections.abc import Collection
from typing import Protocol

from mapshelf.model import LinkOfMap, MapFile, MapLink


class Links(Protocol):
    """Finds links by the map they are in or the name they lead to, and files by name and path.

    Maps that are not published count as not there, but for the links that are in them.

    The answers are as new as every snapshot of the catalogue, as long as the database can be
    written to: what is made of them may be kept until the next snapshot.
    """

    def links_from(self, file_id: int) -> list[MapLink]:
        """Return the links of a map to files that may be maps, in the order of its topics."""

    def links_to(self, names: Collection[str], limit: int) -> list[LinkOfMap]:
        """Return up to ``limit`` links with one of these names, map by map as ``file_id`` goes."""

    def paths_of(self, file_ids: Collection[int]) -> dict[int, list[bytes]]:
        """Return the paths of the files that maps were read from, of those that have any."""

    def files_at(self, paths: Collection[bytes]) -> list[MapFile]:
        """Return those of the files at ``paths`` that maps were read from."""

    def files_named(self, names: Collection[str], limit: int) -> dict[str, list[MapFile]]:
        """Return, for each of ``names``, up to ``limit`` files with it; none if there are none.

        A file has a name if it is the end of ``Source.name`` (the last 255 characters of it) after
        the last slash, in any case of ASCII letters. ``names`` are in lower case.
        """
