"""Links from map to map: which links of an outline may be some, and which file each means.

Maps of one author refer to each other by the names of their files, mostly relative to their own
place. After an import, a file may be elsewhere, but the files around it usually are, too. So a link
means the file at the place it names, otherwise the only file of that name. Nothing here looks at
files: the catalogue knows where the maps were read from, and says which of them have a name.
"""

import posixpath
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

from mapshelf.formats.links import MAP_SUFFIXES, file_path
from mapshelf.model import MapLink, Outline

SHARED_SUFFIXES: Final = frozenset(
    {".markdown", ".md", ".mermaid", ".mmd", ".plantuml", ".pu", ".puml"}
)
"""Extensions of files that may be maps; a test compares them with the table of readers."""

MOST_LINKS: Final = 10_000
"""Links of a map that are kept."""

MOST_CHARACTERS: Final = 1 << 20
"""Characters of the links of a map that are kept, together."""

LONGEST_NAME: Final = 255
"""Characters of a file name, at most: file systems allow no longer ones."""

_FEW: Final = 10
"""Files of one name that may be of one map: nearly every map has been read from one file."""

_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""Databases fold the case of these letters only, so that all of them do it alike."""


def map_links(outline: Outline) -> tuple[MapLink, ...]:
    """Return the links of an outline to files that may be maps, in order, each once per topic."""
    found: dict[MapLink, None] = {}
    room = MOST_CHARACTERS
    for _, topic in outline.topics():
        for target in topic.links:
            name = linked_name(target)
            if not name or "\0" in target:  # which PostgreSQL refuses, and no link can have
                continue
            room -= len(target)
            if room < 0 or len(found) == MOST_LINKS:
                return tuple(found)
            found[MapLink(topic.id, target, name)] = None
    return tuple(found)


def linked_name(link: str) -> str:
    """Return the name of the file that a link leads to, as ``name_of_file`` writes it.

    Empty if that is no map, whatever is in it.
    """
    name = file_path(link).rpartition("/")[2]
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in MAP_SUFFIXES and suffix not in SHARED_SUFFIXES:
        return ""
    return name_of_file(name)


def name_of_file(name: str) -> str:
    """Return the name of a file in the form in which the names of linked files are compared.

    Case does not count for ASCII letters, nor how accents are encoded: systems differ in that.
    Empty if no file can have the name.
    """
    known = name if name.isascii() else _composed(name[: LONGEST_NAME + 1])
    return "" if len(known) > LONGEST_NAME or "\0" in known else known.translate(_LOWER)


def spellings(name: str) -> tuple[str, ...]:
    """Return how the name of a file may be spelt that is ``name`` to ``name_of_file``.

    But for the case of ASCII letters, which databases fold.
    """
    if name.isascii():
        return (name,)
    return (name, unicodedata.normalize("NFD", name).translate(_LOWER))


def topic_of(link: str) -> str:
    """Return the id of the topic that a link to a map leads to, empty if it leads to none."""
    return unquote(link.partition("#")[2])


def linked_paths(link: str, places: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that a link means, in a map whose files are at ``places``."""
    path = file_path(link)
    joined = (posixpath.join(posixpath.dirname(place), path) for place in places)
    return tuple(dict.fromkeys("/" + posixpath.normpath(one).lstrip("/") for one in joined))


class FilesOfName:
    """The files with one name that maps were read from.

    Attributes:
        complete: whether these are all of them.
    """

    def __init__(self) -> None:
        self.complete = True
        self._maps: dict[str, str] = {}
        self._alike: dict[str, set[str]] = {}

    def add(self, path: str, public_id: str) -> None:
        """Add the file at ``path``, which this map was read from."""
        self._maps[path] = public_id
        self._alike.setdefault(_folded(path), set()).add(public_id)

    def meant(self, paths: Sequence[str]) -> str:
        """Return which map a link to ``paths`` leads to, empty if that cannot be told.

        That is the one at such a path, otherwise the one at a path in another spelling, otherwise
        the only one with the name.
        """
        for path in paths:
            if path in self._maps:
                return self._maps[path]
        alike = {one for path in paths for one in self._alike.get(_folded(path), ())}
        if not alike and self.complete and len(self._maps) <= _FEW:
            alike = set(self._maps.values())
        return alike.pop() if len(alike) == 1 else ""


def _folded(path: str) -> str:
    return _composed(path).casefold()


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
