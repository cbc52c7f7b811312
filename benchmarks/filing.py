"""The folders and tags of generated maps, and which maps are versions of others.

There is one folder for every ten maps. Nine in ten folders are three levels deep; the others are in
one folder, which has ten thousand subfolders at a million maps. Every folder has maps, and a few
have most of them, as in real libraries.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from benchmarks.words import VOCABULARY
from mapshelf.model import MapDraft, Source

MAPS_PER_FOLDER: Final = 10
WIDE: Final = 10
"""One in this many folders is in ``INBOX``."""

INBOX: Final = "Inbox"

MAPS_PER_TAG: Final = 200
MOST_TAGS: Final = 5000
TAGS_OF_A_MAP: Final = 3

VERSIONS: Final = 20
"""Of this many maps, one has the topics of the previous map, and one has nearly the same."""

LANGUAGES: Final = {
    "Latin": ("en", "en", "de", "fr", "es", ""),
    "Cyrillic": ("ru",),
    "Chinese": ("zh",),
    "Japanese": ("ja",),
    "Arabic": ("ar", "ar", "fa"),
}
"""Languages of maps by script; ``""`` is a language that is not recognised."""


def folders_of(size: int) -> int:
    """Return how many folders contain maps, not counting folders that contain only folders."""
    return max(WIDE, size // MAPS_PER_FOLDER)


def folder_path(number: int, size: int) -> str:
    """Return the path of a folder by its number."""
    if number % WIDE == 0:
        return f"{INBOX}/box {number // WIDE}"
    side = round(folders_of(size) ** (1 / 3)) + 1
    above, part = divmod(number, side)
    area, project = divmod(above, side)
    return f"area {area}/project {project}/part {part}"


def levels_of(size: int) -> list[str]:
    """Return the folders that contain folders, the whole library (``""``) first."""
    found = dict.fromkeys(["", INBOX])
    for number in range(folders_of(size)):
        area, _, rest = folder_path(number, size).partition("/")
        found[area] = None
        if area != INBOX:
            found[f"{area}/{rest.partition('/')[0]}"] = None
    return list(found)


def tags_of(size: int) -> int:
    """Return how many tags a catalogue has."""
    return min(MOST_TAGS, max(20, size // MAPS_PER_TAG))


def tag_name(number: int, words: Sequence[str]) -> str:
    """Return a tag by its number; the lowest numbers are the most frequent."""
    return f"{words[number * 7 % VOCABULARY]} {number}"


def skewed(chance: random.Random, choices: int) -> int:
    """Draw a number below ``choices``; low numbers are more likely."""
    return int((choices + 1) ** chance.random()) - 1


def filed(
    draft: MapDraft, number: int, size: int, chance: random.Random, words: Sequence[str]
) -> MapDraft:
    """Return the map with this number in the catalogue, with its folder and its tags."""
    folders = folders_of(size)
    folder = number % folders if chance.random() < 0.5 else skewed(chance, folders)
    path = f"{folder_path(folder, size)}/{number}.mm"
    assert draft.date_added is not None
    modified = draft.date_added + chance.randrange(10**10)
    tags = [tag_name(skewed(chance, tags_of(size)), words) for _ in range(TAGS_OF_A_MAP)]
    return replace(
        draft,
        tags=tuple(dict.fromkeys(tags[: chance.randrange(TAGS_OF_A_MAP + 1)])),
        source=Source(f"/{path}".encode(), path, draft.size or 0, modified * 10**6, b""),
    )
