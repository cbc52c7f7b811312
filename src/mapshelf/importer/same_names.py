"""Find new files that may be unpublished ones which were changed and moved, by their names.

The content of a file tells that it was copied or moved. If it was also changed before anybody
looked, for instance in a folder that was renamed, only its name tells where it may be from.
"""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from mapshelf.importer.conflict_copies import spelling_key
from mapshelf.importer.documents import is_in_document
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.scan import is_gone
from mapshelf.model import Source
from mapshelf.store.contract import Sources

MOST_NAMED: Final = 10_000
"""Unpublished files with one name that are looked at. If there are more, one may be gone."""

NAMES_AT_ONCE: Final = 500
"""Names that are looked up in the store at a time."""

_Respelling = Callable[[str], str]
"""Writes a name with other capital or small letters."""

_BEGINNING: Final = re.compile(r"(?:^|[\s_-])\w")
"""The beginning of a word."""


class FoundFile(NamedTuple):
    """A file that was found.

    Attributes:
        name: its name in ``Source``.
        first: whether this is the first import of its folder.
    """

    name: str
    first: bool


class SameNames:
    """The unpublished files with the names that one import meets."""

    def __init__(self, store: Sources, lost: LostFiles) -> None:
        self._store = store
        self._lost = lost
        self._gone: dict[bytes, bool] = {}

    def moved_among(self, found: Mapping[str, FoundFile]) -> set[str]:
        """Return those of some files, by path, that have the name of an unpublished one.

        That must be gone, for an hour at most. In the same folder, it may still be there: then only
        its name is spelled differently. Of a document that is a folder, only the name of the folder
        would tell something.

        Raises:
            StoreError: the store failed.
        """
        files = {path: one for path, one in found.items() if not is_in_document(path)}
        unpublished = self._unpublished(
            list({os.path.basename(one.name) for one in files.values()})
        )
        named = {key: self._named(some) for key, some in unpublished.items()}
        return {
            path
            for path, one in files.items()
            if (some := named.get(_key(path))) and some.may_include(path, one)
        }

    def _unpublished(self, names: Sequence[str]) -> Mapping[str, list[Source]]:
        """Return the unpublished files with these names, by ``_key``."""
        found: dict[str, list[Source]] = defaultdict(list)
        for start in range(0, len(names), NAMES_AT_ONCE):
            some = names[start : start + NAMES_AT_ONCE]
            spellings = {spelling for name in some for spelling in _spellings(name)}
            for source in self._store.unpublished_named(spellings, MOST_NAMED):
                found[_key(os.fsdecode(source.path))].append(source)
        return found

    def _named(self, sources: Sequence[Source]) -> "_Named":
        named = _Named(are_more=len(sources) >= MOST_NAMED)
        for source in sources:
            place = os.fsdecode(source.path)
            key = spelling_key(place)
            named.places[key].add(place)
            if not self._is_gone(source.path):
                continue
            if source.is_gone or self._lost.is_followed(source.path):
                named.gone.add(key)
            else:
                # Nobody may ever miss it. But its whole folder may have been moved.
                named.not_followed[spelling_key(source.name)].add(key)
        return named

    def _is_gone(self, path: bytes) -> bool:
        gone = self._gone.get(path)
        if gone is None:
            # Even if it was there during the scan, it may have been moved since.
            gone = self._gone[path] = is_gone(path)
        return gone


@dataclass
class _Named:
    """The unpublished files with one name.

    Places and names are compared by ``spelling_key``. The cost of a new file does not depend on how
    many there are.

    Attributes:
        are_more: whether there are too many to look at.
        places: their paths, by place.
        gone: the places of those that are gone from folders that are followed.
        not_followed: the places of those that are gone from other folders, by ``Source.name``.
    """

    are_more: bool
    places: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    gone: set[str] = field(default_factory=set)
    not_followed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def may_include(self, path: str, found: FoundFile) -> bool:
        """Return whether a file that was found may be one of these."""
        place = spelling_key(path)
        if self.are_more or self.places.get(place, set()) - {path}:
            return True
        moved = self.not_followed.get(spelling_key(found.name), ()) if found.first else ()
        return any(one != place for one in chain(self.gone, moved))


def _key(path: str) -> str:
    return spelling_key(os.path.basename(path))


def _spellings(name: str) -> Collection[str]:
    """Return how files are usually spelled whose names differ only in case or accents.

    The store compares them without regard to the case of English letters only.
    """
    forms = {name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))}
    respellings: tuple[_Respelling, ...] = (
        str,
        str.lower,
        str.upper,
        str.title,
        str.capitalize,
        _with_capital,
        _with_capitals,
    )
    respellings += tuple(map(_of_stem, respellings))
    return {_in_english_lower_case(respell(form)) for form in forms for respell in respellings}


def _of_stem(respelling: _Respelling) -> _Respelling:
    """Return a respelling of a name without its extension.

    Python writes a sigma at the end of a word differently, but not one before an extension.
    """

    def respell(name: str) -> str:
        stem, extension = os.path.splitext(name)
        return respelling(stem) + extension

    return respell


def _with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_capitals(text: str) -> str:
    """Begin each word with a capital. Unlike ``str.title``, do not begin one at an apostrophe."""
    return _BEGINNING.sub(lambda found: found[0].upper(), text.lower())


def _in_english_lower_case(text: str) -> str:
    return "".join(one.lower() if one.isascii() else one for one in text)
