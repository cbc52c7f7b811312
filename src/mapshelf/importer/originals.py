"""Decide which new files may be versions of unpublished ones, although nobody knows their content.

The content of a file tells that it was copied or moved. But a conflict copy has a content of its
own, and so has a file that was changed and moved before anybody looked, for instance in a folder
that was renamed. Only their names tell where they may be from.
"""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from typing import Final

from mapshelf.importer.conflict_copies import ConflictCopies, spelling_key
from mapshelf.importer.documents import is_in_document
from mapshelf.importer.scan import is_gone
from mapshelf.store.contract import Sources

MOST_NAMED: Final = 100
"""Unpublished files with one name that are looked at."""


class Originals:
    """The originals that the new files of one import may have."""

    def __init__(self, store: Sources, present: Collection[str]) -> None:
        """Set up for folders with the files ``present``."""
        self._store = store
        self._present = present
        self._conflict_copies = ConflictCopies(present)
        self._copies: dict[str, list[str]] = {}
        self._named: dict[str, str] = {}

    def of_conflict_copy(self, path: str) -> list[str]:
        """See ``ConflictCopies.originals``."""
        return self._conflict_copies.originals(path)

    def note_copy(self, path: str, originals: list[str]) -> None:
        """Note of which files a new one may be a conflict copy."""
        self._copies[path] = originals

    def note_unknown(self, path: str, name: str) -> None:
        """Note a new file with a content that no file had; ``name`` is that of ``Source``.

        Of a document that is a folder, only the name of the folder would tell something.
        """
        if not is_in_document(path):
            self._named[path] = os.path.basename(name)

    def take_unpublished(self) -> set[str]:
        """Return those of the noted files that may be versions of unpublished ones; forget all.

        Raises:
            StoreError: the store failed.
        """
        found = {path for path, some in self._copies.items() if self._is_unpublished(some)}
        found |= self._named_like_unpublished()
        self._copies.clear()
        self._named.clear()
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
        return path in self._present or os.path.lexists(path)

    def _named_like_unpublished(self) -> set[str]:
        """Return the files with the name of an unpublished one that is gone, for an hour at most.

        In the same folder, that may still be there: then only its name is spelled differently.
        """
        if not self._named:
            return set()
        names = {one for name in self._named.values() for one in _spellings(name)}
        unpublished: dict[str, list[str]] = defaultdict(list)
        for other in self._store.unpublished_named(names, MOST_NAMED):
            place = os.fsdecode(other)
            unpublished[spelling_key(os.path.basename(place))].append(place)
        return {
            path
            for path in self._named
            for place in unpublished.get(spelling_key(os.path.basename(path)), ())
            if place != path and _may_be(path, place)
        }


def _may_be(path: str, unpublished: str) -> bool:
    return spelling_key(path) == spelling_key(unpublished) or is_gone(os.fsencode(unpublished))


def _spellings(name: str) -> Collection[str]:
    """Return what a database may have for a name in lower case, or for one that means the same.

    SQLite turns only the letters of English into lower case.
    """
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    forms |= {one for form in forms for one in (form.lower(), form[:1].upper() + form[1:])}
    return {_with_english_lower_case(one) for one in forms}


def _with_english_lower_case(text: str) -> str:
    return "".join(one.lower() if one.isascii() else one for one in text)
