"""Letters that our font lacks come from the system, and are never drawn as empty boxes."""

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from mapshelf.model import Topic
from mapshelf.render.font_fallback import Letters, SystemFonts
from mapshelf.render.svg import Run, Setting
from mapshelf.render.thumbnail import thumbnail
from tests.render.trees import order

BAR = Setting((), fitted=False)


def make_font(path: Path, family: str, characters: str) -> None:
    """Write a font in which every character is a full square."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 1000), (1000, 1000), (1000, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", *(f"u{ord(one):x}" for one in characters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, characters), names[1:], strict=True)))
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=0)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def fonts(tmp_path: Path) -> SystemFonts:
    below = tmp_path / "truetype" / "x"
    below.mkdir(parents=True)
    make_font(below / "DroidSansFallbackFull.ttf", "Fallback", "日本")
    make_font(below / "NotoSansHebrew-Regular.ttf", "Noto Sans Hebrew", "אבג")
    make_font(below / "NotoEmoji-Regular.ttf", "Noto Emoji", "\U0001f600")
    (below / "NotoSansThai-Regular.ttf").write_bytes(b"no font")
    return SystemFonts((str(tmp_path), "/nowhere"))


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("Latin, Ελληνικά, Русский", Setting((Run("Latin, Ελληνικά, Русский"),), fitted=False)),
        ("日本", Setting((Run("日本", "Fallback"),), fitted=True)),
        ("in 日本!", Setting((Run("in "), Run("日本", "Fallback"), Run("!")), fitted=False)),
        ("אב", Setting((Run("אב", "Noto Sans Hebrew"),), fitted=True)),
        ("\U0001f600", Setting((Run("\U0001f600", "Noto Emoji"),), fitted=True)),
        ("hi \U0001f680", Setting((Run("hi "),), fitted=False)),
        ("\U0001f680", Setting((Run(""),), fitted=False)),
        ("กขค", BAR),
        ("中文", BAR),
        ("日中", BAR),
        ("long word 中", Setting((Run("long word "),), fitted=False)),
    ],
)
def test_how_lines_are_set(fonts: SystemFonts, text: str, setting: Setting) -> None:
    assert Letters(fonts, text)(text) == setting


def test_only_the_files_that_are_needed_are_used(fonts: SystemFonts) -> None:
    letters = Letters(fonts, "")
    letters("Latin")
    assert not letters.files
    letters("日")
    assert [Path(path).name for path in letters.files] == ["DroidSansFallbackFull.ttf"]


def test_a_font_of_the_system_changes_the_pixels(fonts: SystemFonts) -> None:
    wanted = order(Topic("日本"), 320, "png")
    assert thumbnail(wanted, fonts) != thumbnail(wanted, SystemFonts(()))
    latin = order(Topic("Latin"), 320, "png")
    assert thumbnail(latin, fonts) == thumbnail(latin, SystemFonts(()))
