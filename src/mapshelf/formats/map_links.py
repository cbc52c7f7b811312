"""Resolve links between maps: find the links of an outline to map files, and the maps they mean.

Maps of one author refer to each other by file name, mostly with relative paths. After an import the
files may be elsewhere, but usually together. So a link resolves to the file at its path, otherwise
to the only file with that name. This module does not access the file system: the catalogue stores
where each map was read from and finds the files with a given name.
"""

import posixpath
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

from mapshelf.formats.links import MAP_SUFFIXES, file_path
from mapshelf.model import MapLink, Outline
from mapshelf.text.normalize import stream_safe

SHARED_SUFFIXES: Final = frozenset(
    {".markdown", ".md", ".mermaid", ".mmd", ".plantuml", ".pu", ".puml"}
)
"""File extensions shared with other formats; a test compares them with the table of readers."""

MOST_LINKS: Final = 10_000
"""Maximum number of stored links per map."""

MOST_BYTES: Final = 1 << 18
"""Maximum total size of the stored links of a map, in bytes: of their targets, the names of the
files, and the ids of the topics. Files are compressed, so a small one can have very many, and the
quota of its owner does not count them."""

LONGEST_NAME: Final = 255
"""Maximum length of a file name, in characters: the limit of file systems."""

_FEW: Final = 10
"""Maximum number of files per name for one map: nearly every map was read from a single file."""

_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""Only these letters are case-folded, because that is consistent across databases."""


def map_links(outline: Outline) -> tuple[MapLink, ...]:
    """Return the links of an outline to possible map files, in order, each once per topic."""
    found: dict[MapLink, None] = {}
    room = MOST_BYTES
    for _, topic in outline.topics():
        for target in topic.links:
            name = linked_name(target)
            if not name or "\0" in target:  # PostgreSQL rejects it, and no link can contain it
                continue
            room -= sum(
                len(text.encode("utf-8", "surrogatepass")) for text in (target, name, topic.id)
            )
            if room < 0 or len(found) == MOST_LINKS:
                return tuple(found)
            found[MapLink(topic.id, target, name)] = None
    return tuple(found)


def linked_name(link: str) -> str:
    """Return the normalised name of the linked file; see ``name_of_file``.

    Empty if the extension is not that of a map.
    """
    name = file_path(link).rpartition("/")[2]
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in MAP_SUFFIXES and suffix not in SHARED_SUFFIXES:
        return ""
    return name_of_file(name)


def name_of_file(name: str) -> str:
    """Normalise a file name for comparing the names of linked files.

    The case of ASCII letters and the Unicode normal form are ignored, because systems differ in
    both. Empty if the name is invalid.
    """
    known = name if name.isascii() else _composed(name[: LONGEST_NAME + 1])
    return "" if len(known) > LONGEST_NAME or "\0" in known else known.translate(_LOWER)


def spellings(name: str) -> tuple[str, ...]:
    """Return the possible spellings of a file name that ``name_of_file`` normalises to ``name``.

    They ignore the case of ASCII letters, which databases fold.
    """
    if name.isascii():
        return (name,)
    return (name, unicodedata.normalize("NFD", stream_safe(name)).translate(_LOWER))


def topic_of(link: str) -> str:
    """Return the id of the topic that a link to a map targets, empty if none."""
    return unquote(link.partition("#")[2])


def linked_paths(link: str, places: Iterable[str]) -> tuple[str, ...]:
    """Return the possible paths of a link in a map whose files are at ``places``."""
    path = file_path(link)
    joined = (posixpath.join(posixpath.dirname(place), path) for place in places)
    return tuple(dict.fromkeys("/" + posixpath.normpath(one).lstrip("/") for one in joined))


class FilesOfName:
    """The source files of maps that share one name.

    Attributes:
        complete: whether all such files are included.
    """

    def __init__(self) -> None:
        self.complete = True
        self._maps: dict[str, str] = {}
        self._alike: dict[str, set[str]] = {}

    def add(self, path: str, public_id: str) -> None:
        """Add the source file at ``path`` of a map."""
        self._maps[path] = public_id
        self._alike.setdefault(_folded(path), set()).add(public_id)

    def meant(self, paths: Sequence[str]) -> str:
        """Return the map that a link to ``paths`` resolves to, empty if it is ambiguous or unknown.

        An exact path takes precedence, then a path in another spelling, then the only file with the
        name.
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
    return unicodedata.normalize("NFC", stream_safe(text))
