"""Documents that may be a folder or a file, such as ``Trip.mindnode``.

On a Mac, some programs write a folder that looks like a file (a bundle). Such a document is
represented by the file in it that holds the map. The Finder, downloads and synchronizing programs
turn it into a file, or back. It remains the same document: its path identifies it, as that of any
other file does. Otherwise it would be a new map, published, whatever its owner had set.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.model import Source
from mapshelf.readers import READERS
from mapshelf.store.contract import Sources

_MAINS: Final = {
    suffix: reader.main for reader in READERS if reader.main for suffix in reader.suffixes
}
"""The file that holds the map in a bundle, by the extension of the document, in lower case."""

_SUFFIXES: Final = tuple(_MAINS)
_MAIN_SUFFIXES: Final = tuple(f"{suffix}/{main}" for suffix, main in _MAINS.items())

OTHER_FORM: Final = -2
"""Size of a known source whose document had the other form when it was read: no file has it."""

_MOST: Final = 100
"""Sources in the former folder of a document that are looked at."""


def is_in_document(path: str) -> bool:
    """Return whether a file holds the map of a bundle."""
    return path.replace(os.sep, "/").lower().endswith(_MAIN_SUFFIXES)


def in_present_form(source: Source) -> Source:
    """Return the source of a document as it is there now, if that is in its other form."""
    path = os.fsdecode(source.path)
    if is_in_document(path):
        document = os.path.dirname(path)
        if _is_file(document):
            return _converted(source, document, os.path.dirname(source.name))
    elif main := _main_in(path):
        place = os.path.join(path, main)
        return _converted(source, place, os.path.join(source.name, main))
    return source


def _has_other_form(path: str) -> bool:
    return _is_file(os.path.dirname(path)) if is_in_document(path) else _main_in(path) is not None


def _is_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _main_in(path: str) -> str | None:
    """Return the name of the file that holds the map if a document is a folder."""
    if not path.lower().endswith(_SUFFIXES) or os.path.islink(path):
        return None
    try:
        names = sorted(os.listdir(path))
    except OSError:  # it is no folder, or closed
        return None
    return next((name for name in names if is_in_document(os.path.join(path, name))), None)


def _converted(source: Source, path: str, name: str) -> Source:
    return replace(source, path=os.fsencode(path), name=name, size=OTHER_FORM)


class Documents:
    """The documents among files that are there.

    ``present`` are the paths of these files.
    """

    def __init__(self, present: Collection[str]) -> None:
        self._present = present
        self._folders: frozenset[str] | None = None

    def has_other_form(self, path: bytes) -> bool:
        """Return whether a file that is not there is a document that has its other form now.

        That may be in a folder that another process follows.
        """
        place = os.fsdecode(path)
        return self._is_present(place) or _has_other_form(place)

    def _is_present(self, place: str) -> bool:
        if is_in_document(place):
            return os.path.dirname(place) in self._present
        return place.lower().endswith(_SUFFIXES) and place in self._bundles()

    def _bundles(self) -> frozenset[str]:
        if self._folders is None:
            mains = filter(is_in_document, self._present)
            self._folders = frozenset(map(os.path.dirname, mains))
        return self._folders


class Found(NamedTuple):
    """A file that was found: its path, and its name as in ``Source``."""

    path: str
    name: str


def take_other_forms(
    store: Sources,
    found: Iterable[Found],
    known: Mapping[bytes, Source],
    present: Collection[str],
) -> dict[bytes, Source]:
    """Move the sources of documents whose form has changed to where these are now.

    They count as files that have changed (``OTHER_FORM``), until they are read.

    Args:
        store: the store.
        found: the files that were found.
        known: the sources at their paths, as far as there are any.
        present: the paths of all files that are there. In an archive, both forms may be.

    Returns:
        The sources at the paths of documents that were new or missing, by path.

    Raises:
        StoreError: the store failed; earlier sources are moved.
    """
    new = [one for one in found if _may_be_converted(one, known)]
    if not new:
        return {}
    for one, others in _other_forms(store, new):
        path = os.fsencode(one.path)
        away = [other for other in others if os.fsdecode(other.path) not in present]
        if path in known:  # it comes back itself, unless it had its other form until now
            away = [other for other in away if not other.is_gone]
        if away:
            latest = min(away, key=lambda other: other.is_gone)
            store.move_source(latest.path, _converted(latest, one.path, one.name))
    # Another process may have moved some of them.
    return store.sources([os.fsencode(one.path) for one in new])


def other_places(path: str) -> tuple[bytes, ...]:
    """Return the paths that the document at a path usually has in its other form, if it is one."""
    return (os.fsencode(_other_path(path)),) if _is_document(path) else ()


def _is_document(path: str) -> bool:
    return path.lower().endswith(_SUFFIXES) or is_in_document(path)


def _may_be_converted(found: Found, known: Mapping[bytes, Source]) -> bool:
    """Return whether a file may be a document that had the other form before."""
    if not _is_document(found.path):
        return False
    source = known.get(os.fsencode(found.path))
    return source is None or source.is_gone


def _other_forms(store: Sources, new: list[Found]) -> Iterator[tuple[Found, list[Source]]]:
    """Yield files with the sources at the paths that their documents have in the other form."""
    others = {one: os.fsencode(_other_path(one.path)) for one in new}
    known = store.sources(list(others.values()))
    for one, other in others.items():
        if other in known:
            yield one, [known[other]]
        elif not is_in_document(one.path):
            yield one, _in_folder(store, os.fsencode(one.path))


def _other_path(path: str) -> str:
    """Return the path that a document usually has in its other form."""
    if is_in_document(path):
        return os.path.dirname(path)
    main = next(main for suffix, main in _MAINS.items() if path.lower().endswith(suffix))
    return os.path.join(path, main)


def _in_folder(store: Sources, path: bytes) -> list[Source]:
    """Return the sources that held the map of a document when it was a folder.

    Their names may have capital letters.
    """
    below = store.sources_below(path, b"", _MOST, missing=True)
    mains = (one for one in below if is_in_document(os.fsdecode(one.path)))
    return [one for one in mains if os.path.dirname(one.path) == path]
