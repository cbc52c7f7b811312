"""Decide which new files may be versions of unpublished ones, although nobody knows their content.

The content of a file tells that it was copied or moved. But a conflict copy has a content of its
own, and so has a file that was changed and moved before anybody looked, for instance in a folder
that was renamed. Only their names tell where they may be from.
"""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from typing import Final, NamedTuple

from mapshelf.importer.conflict_copies import ConflictCopies, spelling_key
from mapshelf.importer.documents import is_in_document
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.scan import is_gone
from mapshelf.model import Source
from mapshelf.store.contract import Sources

MOST_NAMED: Final = 1000
"""Unpublished files with one name that are looked at."""


class _Unknown(NamedTuple):
    """A new file with a content that no file had; see ``Originals.note_unknown``."""

    name: str
    first: bool


class Originals:
    """The originals that the new files of one import may have."""

    def __init__(self, store: Sources, lost: LostFiles) -> None:
        self._store = store
        self._lost = lost
        self._conflict_copies = ConflictCopies(lost.present)
        self._copies: dict[str, list[str]] = {}
        self._unknown: dict[str, _Unknown] = {}

    def of_conflict_copy(self, path: str) -> list[str]:
        """See ``ConflictCopies.originals``."""
        return self._conflict_copies.originals(path)

    def note_copy(self, path: str, originals: list[str]) -> None:
        """Note of which files a new one may be a conflict copy."""
        self._copies[path] = originals

    def note_unknown(self, path: str, name: str, *, first: bool) -> None:
        """Note a new file with a content that no file had.

        Of a document that is a folder, only the name of the folder would tell something.

        Args:
            path: its path.
            name: its name in ``Source``.
            first: whether it was found by the first import of its folder.
        """
        if not is_in_document(path):
            self._unknown[path] = _Unknown(name, first)

    def take_unpublished(self) -> set[str]:
        """Return those of the noted files that may be versions of unpublished ones; forget all.

        Raises:
            StoreError: the store failed.
        """
        found = {path for path, some in self._copies.items() if self._is_unpublished(some)}
        found |= self._named_like_unpublished()
        self._copies.clear()
        self._unknown.clear()
        return found

    def _is_unpublished(self, originals: list[str]) -> bool:
        """Return whether the map of any of these is not published, or cannot be told."""
        paths = list(map(os.fsencode, originals))
        if self._store.unpublished_sources(paths, missing=True):
            return True
        known = self._store.sources(paths)
        left = [one for one in paths if one not in known or known[one].is_gone]
        if any(self._is_there(os.fsdecode(one)) for one in left):
            return True
        return bool(self._store.unpublished_places(left))

    def _is_there(self, path: str) -> bool:
        """Return whether there is a file, even one that a scan leaves out, such as an empty one."""
        return path in self._lost.present or os.path.lexists(path)

    def _named_like_unpublished(self) -> set[str]:
        """Return the files with the name of an unpublished one that is gone, for an hour at most.

        In the same folder, that may still be there: then only its name is spelled differently.
        """
        if not self._unknown:
            return set()
        names = {os.path.basename(one.name) for one in self._unknown.values()}
        spellings = {spelling for name in names for spelling in _spellings(name)}
        unpublished: dict[str, list[Source]] = defaultdict(list)
        gone = set[bytes]()
        for source in self._store.unpublished_named(spellings, MOST_NAMED):
            unpublished[_key(source.path)].append(source)
            if is_gone(source.path):
                gone.add(source.path)
        return {
            path
            for path, new in self._unknown.items()
            for source in unpublished.get(_key(os.fsencode(path)), ())
            if self._may_be(path, new, source, is_gone=source.path in gone)
        }

    def _may_be(self, path: str, new: _Unknown, source: Source, *, is_gone: bool) -> bool:
        """Return whether a new file may be an unpublished one with the same name."""
        place = os.fsdecode(source.path)
        if spelling_key(place) == spelling_key(path):
            return place != path
        if not is_gone:
            return False
        if source.is_gone or self._lost.is_followed(source.path):
            return True
        # Nobody may ever miss it. But its whole folder may have been moved to where this one is.
        return new.first and spelling_key(source.name) == spelling_key(new.name)


def _key(path: bytes) -> str:
    return spelling_key(os.path.basename(os.fsdecode(path)))


def _spellings(name: str) -> Collection[str]:
    """Return how files are usually spelled whose names differ only in case or accents.

    The store compares them without regard to the case of English letters only.
    """
    forms = {name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))}
    ways = (str, str.lower, str.upper, str.title, _capitalized)
    return {_in_english_lower_case(change(form)) for form in forms for change in ways}


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _in_english_lower_case(text: str) -> str:
    return "".join(one.lower() if one.isascii() else one for one in text)
