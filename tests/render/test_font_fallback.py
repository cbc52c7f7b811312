"""Characters that our font lacks come from fonts of the system, and are never empty boxes."""

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from mapshelf.model import Topic
from mapshelf.render.font_fallback import FontFallback, SystemFonts
from mapshelf.render.svg import FontRuns, Run
from mapshelf.render.thumbnail import thumbnail
from tests.render.trees import render_request

BAR = FontRuns((), fitted=False)


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "font_runs"),
    [
        ("Latin, Ελληνικά, Русский", FontRuns((Run("Latin, Ελληνικά, Русский"),), fitted=False)),
        ("日本", FontRuns((Run("日本", "Fallback"),), fitted=True)),
        ("in 日本!", FontRuns((Run("in "), Run("日本", "Fallback"), Run("!")), fitted=False)),
        ("אב", FontRuns((Run("אב", "Noto Sans Hebrew"),), fitted=True)),
        ("\U0001f600", FontRuns((Run("\U0001f600", "Noto Emoji"),), fitted=True)),
        ("hi \U0001f680", FontRuns((Run("hi "),), fitted=False)),
        ("\U0001f680", FontRuns((Run(""),), fitted=False)),
        ("กขค", BAR),
        ("中文", BAR),
        ("日中", BAR),
        ("long word 中", FontRuns((Run("long word "),), fitted=False)),
    ],
)
def test_lines_use_fallback_fonts(fonts: SystemFonts, text: str, font_runs: FontRuns) -> None:
    assert FontFallback(fonts, text)(text) == font_runs


def test_only_needed_font_files_are_used(fonts: SystemFonts) -> None:
    letters = FontFallback(fonts, "")
    letters("Latin")
    assert not letters.files
    letters("日")
    assert [Path(path).name for path in letters.files] == ["DroidSansFallbackFull.ttf"]


def test_a_font_of_the_system_changes_the_pixels(fonts: SystemFonts) -> None:
    wanted = render_request(Topic("日本"), 320, "png")
    assert thumbnail(wanted, fonts) != thumbnail(wanted, SystemFonts(()))
    latin = render_request(Topic("Latin"), 320, "png")
    assert thumbnail(latin, fonts) == thumbnail(latin, SystemFonts(()))
