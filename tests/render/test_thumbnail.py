"""Thumbnails are legible, harmless and reproducible."""

import hashlib
import io
import re
import struct
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Boundary, Outline, Sheet, Topic, sheets_of
from mapshelf.render import drawing, svg
from mapshelf.render.contrast import contrast, legible, tint
from mapshelf.render.font_fallback import SystemFonts
from mapshelf.render.formulas import drawings
from mapshelf.render.layout import layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.render_request import RENDER_VERSION, WIDTHS, RenderRequest
from mapshelf.render.themes import LIGHT, THEMES, Theme
from mapshelf.render.thumbnail import shown_pictures, thumbnail
from mapshelf.render.topic_colours import colours_of_ours
from mapshelf.render.visible_topics import whole
from tests.examples import examples
from tests.render.tour import OTHER_PICTURE, PICTURE, TOUR
from tests.render.trees import chain, render_request, sheets, tree, trees
from tests.writers.outlines import TEXTS, outlines

NO_FONTS = SystemFonts(())
SVG = "{http://www.w3.org/2000/svg}"

DRAWN = {
    "svg": {"width", "height", "viewBox", "role", "font-family", "text-rendering"},
    "title": set[str](),
    "g": {"transform", "fill", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap"},
    "rect": {
        *("x", "y", "width", "height", "rx", "fill", "fill-opacity", "font-weight"),
        *("font-style", "stroke", "stroke-width", "stroke-opacity"),
    },
    "path": {
        *("d", "fill", "fill-opacity", "stroke", "stroke-width"),
        *("stroke-dasharray", "transform"),
    },
    "circle": {"cx", "cy", "r", "fill", "fill-opacity"},
    "text": {
        *("x", "y", "font-size", "font-weight", "font-style", "fill"),
        *("text-anchor", "textLength", "lengthAdjust"),
    },
    "tspan": {"font-family"},
}
"""Every element and attribute that a picture may have: no scripts and no references."""


def drawn(wanted: RenderRequest) -> str:
    return thumbnail(wanted, NO_FONTS).decode()


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def texts(picture: str) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(picture).iter(f"{SVG}text")]


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(outlines(), TEXTS, st.sampled_from(WIDTHS), st.sampled_from([*THEMES]))
def test_pictures_of_hostile_maps_contain_nothing_active(
    outline: Outline, text: str, width: int, theme: str
) -> None:
    shown = encode_outline(sendable(outline))
    for wanted in (
        RenderRequest(shown, text, text, text, width, theme, "svg"),
        RenderRequest(None, text, text, text, width, theme, "svg"),
    ):
        for element in parsed(drawn(wanted)).iter():
            name = element.tag.removeprefix(SVG)
            assert set(element.attrib) <= DRAWN[name]
            # References look like functions, and addresses of scripts have a colon.
            assert not any(re.search("[:#]", value) and not is_colour(value)
                           for value in element.attrib.values())  # fmt: skip


def is_colour(value: str) -> bool:
    return re.fullmatch("#[0-9a-f]{6}", value) is not None


def sendable(outline: Outline) -> Outline:
    """Return an outline that the store could contain: without lone surrogates."""
    for _, topic in outline.topics():
        for name in ("text", "id", "note", "note_html"):
            setattr(topic, name, getattr(topic, name).encode("utf-8", "replace").decode())
        topic.links = ()
    return replace(outline, author="", copyright="", software="", software_version="")


@settings(max_examples=examples(40))
@given(trees(most=80), st.sampled_from(WIDTHS))
def test_letters_are_large_enough_and_inside_the_picture(root: Topic, width: int) -> None:
    picture = parsed(drawn(render_request(root, width)))
    group = picture.find(f"{SVG}g")
    assert group is not None
    placed = re.fullmatch(r"translate\((\S+) (\S+)\) scale\((\S+)\)", group.attrib["transform"])
    assert placed
    x, y, scale = map(float, placed.groups())
    smallest = {160: 4, 320: 6.5, 640: 8, 1280: 9.5}[width]
    for text in picture.iter(f"{SVG}text"):
        main = float(text.attrib["font-size"]) >= 10
        assert float(text.attrib["font-size"]) * scale >= smallest * (1 if main else 0.8)
        assert 0 <= x + scale * float(text.attrib["x"]) <= width
        assert 0 <= y + scale * float(text.attrib["y"]) <= 0.75 * width


@pytest.mark.slow
@pytest.mark.parametrize(
    "root",
    [chain(250), tree(3000), tree(20, 20, 20), tree(2, 5000), tree(1, 1, 1, 400)],
    ids=["deep", "flat", "bushy", "two large branches", "late"],
)
def test_large_maps_show_their_main_branches_and_count_the_rest(root: Topic) -> None:
    for width in WIDTHS:
        found = texts(drawn(render_request(root, width)))
        assert found[0] == root.text
        assert root.children[0].text in found
        assert len(found) < width / 2
        if root.children[0].children and width == 160:
            continue  # at this width, small branches or a count
        named = sum(not text.startswith("+") for text in found)
        counted = sum(int(text[1:]) for text in found if text.startswith("+"))
        assert named + counted <= sum(1 for _ in root.walk())


def test_larger_pictures_show_more_topics() -> None:
    shown = [len(texts(drawn(render_request(tree(8, 8, 8), width)))) for width in WIDTHS]
    assert shown == sorted(set(shown))


def test_small_maps_are_shown_completely() -> None:
    found = texts(drawn(render_request(tree(3, 2))))
    assert len(found) == 1 + 3 + 6


def test_several_sheets_show_the_first_real_one_and_a_dot_for_each() -> None:
    sheets = (Topic("Cover"), tree(2), Topic("Notes"))
    wanted = replace(render_request(None), outline=encode_outline(Outline(sheets_of(sheets))))
    picture = parsed(drawn(wanted))
    assert texts(drawn(wanted)) == ["Root", "Topic 0.0", "Topic 0.1"]
    dots = [element.attrib["fill-opacity"] for element in picture.iter(f"{SVG}circle")]
    assert dots == ["0.35", "1", "0.35"]


def tour(width: int = 1280, theme: str = "light", picture: str = "svg") -> RenderRequest:
    return RenderRequest(encode_outline(TOUR), "A tour", "", "", width, theme, picture)


def test_the_whole_canvas_is_shown() -> None:
    picture = drawn(tour())
    found = texts(picture)
    for text in ("Far away", "Anywhere", "In short", "Some of them", "depends on", "A remark"):
        assert text in found
    dashed = [
        one.attrib for one in parsed(picture).iter(f"{SVG}path") if "stroke-dasharray" in one.attrib
    ]
    # Three arrows and the line to the callout; the other arrow is within one visible topic.
    assert len(dashed) >= 4
    assert any(one["stroke"] == "#cc00cc" for one in dashed)


@pytest.mark.parametrize("theme", [*THEMES])
def test_formulas_are_drawn_in_the_colour_of_the_words(theme: str) -> None:
    shown = drawings((r"\sqrt{\frac{a}{b}}", "r^2", "x_1"))
    made = drawn(tour(theme=theme))
    fills = {one.get("d"): one.get("fill") for one in parsed(made).iter(f"{SVG}path")}
    assert {fills[one.path] for one in shown.values()} == {THEMES[theme].text}
    # A formula that cannot be drawn is shown as its source.
    assert {"Area", "Unknown", r"\unknown{x}"} <= set(texts(made))
    assert not {"r^2", "$x_1$"} & set(texts(made))


@pytest.mark.parametrize("theme", [*THEMES])
def test_colours_of_the_author_are_kept_but_legible(theme: str) -> None:
    picture = parsed(drawn(tour(theme=theme)))
    fills = {one.attrib["fill"] for one in picture.iter(f"{SVG}rect")}
    assert "#ffff88" in fills
    colours = {"".join(one.itertext()): one.attrib["fill"] for one in picture.iter(f"{SVG}text")}
    ground = THEMES[theme].ground
    assert contrast(colours["Yellow box"], "#ffff88") >= 4.5
    assert contrast(colours["Hexagon"], "#113355") >= 4.5
    assert contrast(colours["Red words"], ground) >= 4.5
    assert rgb(colours["Red words"])[0] > 180, "red is no longer red"
    assert contrast(colours["Styles"], ground) >= 4.5


@given(st.from_regex("#[0-9a-f]{6}", fullmatch=True), st.from_regex("#[0-9a-f]{6}", fullmatch=True))
def test_any_colour_can_be_made_legible_on_any_other(colour: str, ground: str) -> None:
    changed = legible(colour, ground)
    assert contrast(changed, ground) >= 4.5
    assert changed == colour or contrast(colour, ground) < 4.5


@given(st.from_regex("#[0-9a-f]{6}", fullmatch=True), st.from_regex("#[0-9a-f]{6}", fullmatch=True))
def test_text_on_a_tinted_background_stays_legible(colour: str, ground: str) -> None:
    tinted = tint(colour, ground)
    assert contrast(tinted, ground) <= 1.17
    for words in ("#000000", "#ffffff"):
        assert contrast(words, tinted) * 1.17 >= contrast(words, ground) - 0.001


@pytest.mark.parametrize(("theme", "kept"), [("light", True), ("dark", False)])
def test_boundaries_are_filled_with_the_colour_of_their_author(theme: str, kept: bool) -> None:
    line = Boundary(("a",), "", "#99ffff")
    sheet = Sheet(Topic("r", id="r", children=[Topic("a", id="a")]), boundaries=(line,))
    request = RenderRequest(encode_outline(Outline((sheet,))), "t", "", "", 640, theme, "svg")
    (box,) = (one for one in parsed(drawn(request)).iter(f"{SVG}rect") if "stroke" in one.attrib)
    assert (box.attrib["fill"] == "#99ffff") == kept
    assert contrast(box.attrib["fill"], THEMES[theme].ground) <= 1.17


@pytest.mark.parametrize("theme", [*THEMES])
@pytest.mark.parametrize("background", ["#101010", "#ffffff", "#ffd700", "#7f7f7f", "nonsense"])
def test_the_background_is_kept_unless_it_is_white_in_dark_mode(
    theme: str, background: str
) -> None:
    sheet = Sheet(tree(2), background=background)
    outline = encode_outline(Outline((sheet,)))
    picture = parsed(drawn(RenderRequest(outline, "", "", "", 320, theme, "svg")))
    ground = next(picture.iter(f"{SVG}rect")).attrib["fill"]
    ours = background == "nonsense" or (background == "#ffffff" and theme == "dark")
    assert ground == (THEMES[theme].ground if ours else background)


@pytest.mark.slow
def test_available_pictures_are_in_the_thumbnail() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), "#00ff00").save(buffer, "PNG")
    wanted = replace(tour(), pictures=((PICTURE, buffer.getvalue()),))
    (shown,) = parsed(drawn(wanted)).iter(f"{SVG}image")
    assert shown.attrib["href"].startswith("data:image/png;base64,iVBOR")
    assert wanted.key() == tour().key()
    assert shown_pictures(tour()) == [PICTURE, OTHER_PICTURE]
    assert PICTURE not in drawn(tour())
    assert OTHER_PICTURE not in drawn(wanted)
    pixels = thumbnail(replace(wanted, format="png"), NO_FONTS)
    with Image.open(io.BytesIO(pixels)) as opened:
        assert (0, 255, 0) in {colour for _, colour in opened.convert("RGB").getcolors(9999) or []}


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(sheets(), st.sampled_from(WIDTHS))
def test_any_sheet_is_drawn_inside_its_picture(sheet: Sheet, width: int) -> None:
    outline = encode_outline(Outline((sheet,)))
    picture = parsed(drawn(RenderRequest(outline, "T", "", "", width, "dark", "svg")))
    group = picture.find(f"{SVG}g")
    assert group is not None
    placed = re.fullmatch(r"translate\((\S+) (\S+)\) scale\((\S+)\)", group.attrib["transform"])
    assert placed
    x, y, scale = map(float, placed.groups())
    for text in group.iter(f"{SVG}text"):
        assert -1 <= x + scale * float(text.attrib["x"]) <= width + 1
        assert -1 <= y + scale * float(text.attrib["y"]) <= 0.75 * width + 1


def test_an_empty_centre_shows_the_title() -> None:
    assert texts(drawn(render_request(Topic("", children=[Topic("a")]))))[0] == "A title"


def test_a_map_without_topics_gets_a_card() -> None:
    assert texts(drawn(render_request(None))) == ["A title", "ada · Science"]
    long = replace(render_request(None), title="A title that goes on " * 30, owner="", category="")
    assert texts(drawn(long))[-1].endswith("…")


def test_maps_written_from_right_to_left_are_mirrored() -> None:
    root = Topic("תכנון", children=[Topic("ראשון"), Topic("שני (ב)!")])
    picture = drawn(render_request(root))
    placed = {
        "".join(text.itertext()).strip("\u202b\u202c"): float(text.attrib["x"])
        for text in parsed(picture).iter(f"{SVG}text")
    }
    assert placed["ראשון"] < placed["תכנון"] < placed["שני (ב)!"]
    assert "\u202bשני (ב)!\u202c" in picture


@pytest.mark.process
@pytest.mark.parametrize("picture", ["svg", "png"])
def test_another_process_draws_the_same(picture: str) -> None:
    program = (
        "import sys\n"
        "from tests.render.test_thumbnail import NO_FONTS\n"
        "from tests.render.trees import render_request, tree\n"
        "from mapshelf.render.thumbnail import thumbnail\n"
        f"wanted = render_request(tree(5, 4), 320, {picture!r})\n"
        "sys.stdout.buffer.write(thumbnail(wanted, NO_FONTS))\n"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert other.stdout == thumbnail(render_request(tree(5, 4), 320, picture), NO_FONTS)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [*product(WIDTHS, THEMES)])
def test_pictures_have_the_requested_size(width: int, theme: str) -> None:
    picture = thumbnail(render_request(tree(5, 4), width, "png", theme), NO_FONTS)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (width, width * 3 // 4)
    with Image.open(io.BytesIO(picture)) as opened:
        assert opened.mode == "P", "without a palette it is twice as large"
        ground = "#{:02x}{:02x}{:02x}".format(*opened.convert("RGB").getpixel((0, 0)))  # type: ignore[misc]
        assert ground == THEMES[theme].ground


@pytest.mark.slow
def test_pictures_of_one_version_do_not_change() -> None:
    """If this fails, pictures look different: raise RENDER_VERSION, so that they are redrawn."""
    everything = "".join(
        drawn(render_request(root, width, "svg", theme))
        for root in (tree(4, 6, 3), chain(9), wordy(), Topic("日本 and עברית"), None)
        for width in WIDTHS
        for theme in THEMES
    )
    everything += "".join(
        thumbnail(
            RenderRequest(encode_outline(TOUR), "", "", "", width, theme, "svg"), NO_FONTS
        ).decode()
        for width in WIDTHS
        for theme in THEMES
    )
    digest = hashlib.sha256(everything.encode()).hexdigest()[:16]
    assert (RENDER_VERSION, digest) == (9, "0e91d48d2796aa36")


def wordy() -> Topic:
    """Return a map with long texts."""
    root = tree(5, 4)
    for depth, topic in root.walk():
        topic.text = f"Extraordinarily {topic.text} goes on and on, " * (4 - depth)
    return root


def test_different_pictures_have_different_keys() -> None:
    same = render_request(tree(2))
    assert same.key() == render_request(tree(2)).key()
    others = [
        replace(same, width=160),
        replace(same, theme="dark"),
        replace(same, format="png"),
        replace(same, title="Another"),
        render_request(tree(3)),
        render_request(None),
        replace(render_request(None), owner="bob"),
        replace(render_request(None), category="Other"),
    ]
    keys = [one.key() for one in (same, *others)]
    assert len(set(keys)) == len(keys)
    assert replace(same, owner="bob").key() == same.key()


def test_a_damaged_outline_raises_an_error() -> None:
    with pytest.raises(StoreDamaged):
        thumbnail(replace(render_request(None), outline=b"no outline"), NO_FONTS)


def test_a_whole_map_is_drawn_with_the_ids_of_its_topics() -> None:
    root = Topic("r", id="a", children=[Topic("x", id='"<&>'), Topic("y", id="c")])
    placed = layout(whole(Sheet(root)), PAGE)
    frame = svg.Frame(placed.width, placed.height, -placed.box.left, -placed.box.top, 1)
    style = svg.Style(LIGHT, identified=True)
    content = drawing.drawn(placed, colours_of_ours(placed.nodes, LIGHT), (), frame, style)
    picture = svg.document("r", frame, LIGHT, content)
    ids = [element.get("data-topic") for element in parsed(picture).iter(f"{SVG}g")]
    assert [one for one in ids if one is not None] == ["a", '"<&>', "c"]


@pytest.mark.parametrize("theme", [*THEMES.values()], ids=[*THEMES])
def test_colours_of_themes_are_legible_and_distinct(theme: Theme) -> None:
    assert contrast(theme.text, theme.ground) >= 7
    assert contrast(theme.quiet, theme.ground) >= 4.5
    assert contrast(theme.on_centre, theme.centre) >= 7
    for colour in theme.branches:
        assert contrast(theme.on_branch, colour) >= 4.5
        assert contrast(colour, theme.ground) >= 3
    for one, other in combinations(theme.branches, 2):
        assert sum(abs(a - b) for a, b in zip(rgb(one), rgb(other), strict=True)) > 60


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))
