"""Walk through a folder whose contents anybody may have made.

``os.walk`` recurses before Python 3.12, and ``pathlib`` raises errors for single entries. Here, a
path that is too long or a folder that is closed concerns itself only, and the rest is walked.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mapshelf.errors import TooLarge, UnreadableFile

DEEPEST: Final = 200
"""Levels of folders below the first one that are entered. Real collections have a dozen."""

Refuse = Callable[[str, OSError | UnreadableFile], None]
"""Called with the path of a folder that cannot be walked, and why."""


@dataclass(slots=True)
class Folder:
    """What is in a folder.

    Attributes:
        path: its path.
        folders: the names of folders in it that will be walked next; callers may change them.
        names: the names of everything else, without links to folders.
        links: those of ``names`` that are symbolic links.
    """

    path: str
    folders: list[str]
    names: list[str]
    links: frozenset[str]


def walk(top: str, refuse: Refuse) -> Iterator[Folder]:
    """Yield a folder and those below it, each before the ones in it; links are not followed."""
    pending = [(top, 0)]
    while pending:
        path, depth = pending.pop()
        if depth > DEEPEST:
            refuse(path, TooLarge(f"it is below more than {DEEPEST} folders"))
            continue
        try:
            with os.scandir(path) as listing:
                entries = list(listing)
        except OSError as error:
            refuse(path, error)
            continue
        folder = _folder(path, entries)
        yield folder
        below = [(os.path.join(path, name), depth + 1) for name in folder.folders]
        pending += reversed(below)


def _folder(path: str, entries: list[os.DirEntry[str]]) -> Folder:
    links = frozenset(entry.name for entry in entries if _is_link(entry))
    folders = {entry.name for entry in entries if _is_folder(entry)}
    names = [entry.name for entry in entries if entry.name not in folders]
    return Folder(path, [name for name in folders if name not in links], names, links)


def _is_link(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink()
    except OSError:  # nothing is known of it, and opening it will fail
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False
