"""Choose system fonts for characters that our own font lacks: Chinese, Arabic, emoji, symbols.

Shipping fonts for all scripts would take a hundred megabytes, so system fonts are used, if
installed. They are found by the file names that distributions use (``docs/operating.md`` lists the
packages), in a fixed order, so that a machine always uses the same ones. Opening every installed
font would find more characters, but would take seconds.

Text that no font can draw is never shown as empty boxes. A line becomes a bar of the same length if
at least half of its letters cannot be drawn; otherwise such characters are left out.
"""

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from fontTools.ttLib import TTCollection, TTFont, TTLibError

from mapshelf.render.fonts import font, is_emoji, is_invisible
from mapshelf.render.svg import FontRuns, Run

FOLDERS: Final = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
)

_EAST_ASIAN: Final = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
)
_EMOJI: Final = ("NotoColorEmoji.ttf", "Apple Color Emoji.ttc", "NotoEmoji-Regular.ttf")
_ANY: Final = (
    "NotoSans-Regular.ttf",
    "DejaVuSans.ttf",
    "NotoSansSymbols2-Regular.ttf",
    "NotoSansSymbols-Regular.ttf",
    "NotoSansMath-Regular.ttf",
    "FreeSans.ttf",
    "Arial Unicode.ttf",
)

_JAPANESE: Final = range(0x3040, 0x3100)
_KOREAN: Final = range(0xAC00, 0xD7B0)

_BAR_FROM: Final = 0.5
"""If at least this share of its letters cannot be drawn, the whole line becomes a bar."""


class Face(NamedTuple):
    """A font file of the system.

    Attributes:
        path: the path of the file.
        families: the family names of the fonts in it, as SVG refers to them.
        characters: the code points of the characters that they have.
    """

    path: str
    families: tuple[str, ...]
    characters: frozenset[int]


class SystemFonts:
    """The fonts of this system with a known file name, opened when first needed."""

    def __init__(self, folders: Sequence[str] = FOLDERS) -> None:
        self._folders = folders
        self._opened: dict[str, Face | None] = {}
        self._chosen: dict[str, Face | None] = {}

    def face(self, character: str) -> Face | None:
        """Return the first font that has ``character``, ``None`` if there is none."""
        if character not in self._chosen:
            faces = filter(None, map(self._open, _candidates(character)))
            code = ord(character)
            self._chosen[character] = next((f for f in faces if code in f.characters), None)
        return self._chosen[character]

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """The paths of all font files, by file name."""
        paths: dict[str, str] = {}
        for folder in self._folders:
            for place, below, names in os.walk(Path(folder).expanduser()):
                below.sort()
                for name in sorted(names):
                    paths.setdefault(name, os.path.join(place, name))
        return paths

    def _open(self, name: str) -> Face | None:
        if name not in self._opened:
            path = self._paths.get(name)
            self._opened[name] = _read(path) if path else None
        return self._opened[name]


class FontFallback:
    """Chooses the fonts for each line of one map, and collects the font files in ``files``."""

    def __init__(self, fonts: SystemFonts, text: str) -> None:
        """Prepare for a map.

        Args:
            fonts: the fonts of the system.
            text: a sample of the map's text. Chinese, Japanese and Korean share characters that
                look different in each of them, and the sample decides which font is used.
        """
        self._fonts = fonts
        self._text = text
        self.files: dict[str, None] = {}

    def __call__(self, text: str) -> FontRuns:
        """Return the runs of a line."""
        if font(bold=False).characters.issuperset(text):
            return FontRuns((Run(text),), fitted=False)
        drawn = list(self._drawn(text))
        lost = sum(map(str.isalpha, text)) - sum(character.isalpha() for _, character in drawn)
        if lost and lost >= _BAR_FROM * sum(map(str.isalpha, text)):
            return FontRuns((), fitted=False)
        runs = tuple(
            Run("".join(character for _, character in part), family)
            for family, part in groupby(drawn, key=lambda one: one[0])
        )
        return FontRuns(runs or (Run(""),), fitted=len(runs) == 1 and bool(runs[0].family))

    def _drawn(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the characters that can be drawn, each with the font it is drawn with."""
        own, family = font(bold=False).characters, ""
        for character in text:
            if character in own:
                family = ""
            elif not is_invisible(character):  # invisible ones use the font of the one before
                face = self._fonts.face(character)
                if face is None:
                    continue
                self.files[face.path] = None
                family = self._family(face)
            yield family, character

    def _family(self, face: Face) -> str:
        """Return the family name of the font to use in a file, which may be a collection."""
        if len(face.families) == 1:
            return face.families[0]
        named = (name for name in face.families if name.endswith(self._han))
        return next(named, face.families[0])

    @cached_property
    def _han(self) -> str:
        """The suffix of the family name for the map's variant of Chinese characters."""
        codes = set(map(ord, self._text))
        if not codes.isdisjoint(_JAPANESE):
            return " JP"
        return " SC" if codes.isdisjoint(_KOREAN) else " KR"


@cache
def system_fonts() -> SystemFonts:
    """Return the fonts of this system, searched once per process."""
    return SystemFonts()


def _candidates(character: str) -> Iterator[str]:
    """Yield the names of font files that may have ``character``, the best first."""
    if is_emoji(character):
        yield from _EMOJI
    elif unicodedata.east_asian_width(character) in ("W", "F"):
        yield from _EAST_ASIAN
    else:
        script = unicodedata.name(character, "?").split()[0].split("-")[0].title()
        yield f"NotoSans{script}-Regular.ttf"
    yield from _ANY
    yield from _EMOJI
    yield from _EAST_ASIAN


def _read(path: str) -> Face | None:
    """Return the font in a file, ``None`` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            if path.endswith(".ttc"):
                return _face(path, list(TTCollection(file, lazy=True).fonts))
            return _face(path, [TTFont(file, lazy=True)])
    except (OSError, TTLibError, AssertionError, LookupError, ValueError):
        return None


def _face(path: str, fonts: list[TTFont]) -> Face:
    families = (str(one["name"].getBestFamilyName() or "") for one in fonts)
    characters = fonts[0].getBestCmap() or {}
    return Face(path, tuple(families), frozenset(characters))
