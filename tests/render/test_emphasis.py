"""Bold, italic, underlined and struck words and code are drawn, and their boxes fit."""

import io
import re
import xml.etree.ElementTree as ET

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL import ImageChops

from mapshelf.model import Outline, Sheet, Style, Topic
from mapshelf.render.emphasis import marked_runs
from mapshelf.render.fonts import font
from mapshelf.render.layout import layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.map_drawing import map_drawing
from mapshelf.render.nodes import Node
from mapshelf.render.render_request import DrawingRequest
from mapshelf.render.visible_topics import whole
from mapshelf.site.map_data import map_data

SVG = "{http://www.w3.org/2000/svg}"


def below(text: str, html: str, style: Style | None = None) -> Outline:
    """Return a map with a topic so deep that its text is not bold as a whole."""
    topic = Topic(text, "t", text_html=html, style=style)
    return Outline((Sheet(Topic("Map", "r", children=[Topic("Branch", "b", children=[topic])])),))


def node_of(outline: Outline) -> Node:
    nodes = layout(whole(outline.sheets[0]), PAGE).nodes
    return next(node for node in nodes if node.topic.id == "t")


def drawing(outline: Outline, kind: str = "svg") -> bytes:
    return map_drawing(outline, DrawingRequest("Map", kind, "light"), {})


@pytest.mark.parametrize(
    ("html", "look"),
    [
        ("a <b>word</b> here", {"font-weight": "600"}),
        ("a <STRONG>word</STRONG> here", {"font-weight": "600"}),
        ("a <i>word</i> here", {"font-style": "italic"}),
        ("a <em>word</em> here", {"font-style": "italic"}),
        ("a <u>word</u> here", {"text-decoration": "underline"}),
        ("a <u><s>word</s></u> here", {"text-decoration": "underline line-through"}),
        ("<p>a <b><i>word</i></b></p><p>here</p>", {"font-weight": "600", "font-style": "italic"}),
    ],
)
def test_emphasised_words_have_their_style(html: str, look: dict[str, str]) -> None:
    text = "a word\nhere" if "</p>" in html else "a word here"
    spans = ET.fromstring(drawing(below(text, html))).iter(f"{SVG}tspan")
    assert [(span.text, dict(span.attrib)) for span in spans] == [("word", look)]


def test_code_has_a_frame_of_its_width() -> None:
    outline = below("run make check now", "run <code>make check</code> now")
    boxes = ET.fromstring(drawing(outline)).iter(f"{SVG}rect")
    (box,) = [one for one in boxes if one.get("stroke-opacity") == "0.45"]
    node = node_of(outline)
    regular = font(bold=False)
    assert float(box.attrib["width"]) == pytest.approx(
        regular.width("make check") * node.kind.size + 3, abs=0.1
    )
    start = node.left + node.contents.text_left + regular.width("run ") * node.kind.size
    assert float(box.attrib["x"]) == pytest.approx(start - 1.5, abs=0.1)


def test_lines_are_as_wide_as_their_parts() -> None:
    words = [f"word{number}" for number in range(40)]
    html = " ".join(f"<b>{one}</b>" if at % 3 else f"<i>{one}</i>" for at, one in enumerate(words))
    node = node_of(below(" ".join(words), html))
    assert len(node.lines) > 3
    for line in node.lines:
        assert "".join(part.text for part in line.parts) == line.text
        measured = sum(
            font(bold="bold" in part.marks, italic="italic" in part.marks).width(part.text)
            for part in line.parts
        )
        assert line.width == pytest.approx(measured)
        assert line.width <= node.kind.width
    assert node.text_width == max(line.width for line in node.lines) * node.kind.size


def test_a_cut_text_keeps_its_emphasis() -> None:
    words = " ".join(f"word{number}" for number in range(400))
    node = node_of(below(words, f"<b>{words}</b>"))
    assert node.lines[-1].text.endswith("…")
    assert all("bold" in line.parts[0].marks for line in node.lines)
    assert node.lines[-1].parts[-1] == ("…", font(bold=False).width("…"), frozenset())


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("other words", "a <b>word</b>"),
        ("a", "a <b>word</b>"),
        ("a word", "a word"),
        ("a word", "a <b>word" + "x" * 30_000),
        ("a word", "a <b></b>word"),
        ("", "<b></b>"),
    ],
)
def test_formatting_that_differs_from_the_text_is_ignored(text: str, html: str) -> None:
    assert not any(run.marks for run in marked_runs(Topic(text, text_html=html)))
    assert b"<tspan" not in drawing(below(text, html))


@pytest.mark.parametrize(("changes", "kept"), [(4, True), (40, False)])
def test_a_line_with_very_many_changes_of_formatting_has_none(changes: int, kept: bool) -> None:
    """The program that makes a PNG reads the whole line again for each of them."""
    found = drawing(below("ab" * changes, "<b>a</b>b" * changes))
    assert (b"<tspan" in found) is kept


@given(st.lists(st.tuples(st.sampled_from("abc \n-•"), st.sampled_from(["", "b", "i"]))))
def test_every_letter_keeps_its_mark(letters: list[tuple[str, str]]) -> None:
    html = "".join(f"<{tag}>{char}</{tag}>" if tag else char for char, tag in letters)
    text = "".join(char for char, _ in letters)
    runs = marked_runs(Topic(text, text_html=html))
    found = [(char, run.marks) for run in runs for char in run.text]
    names = {"b": frozenset({"bold"}), "i": frozenset({"italic"}), "": frozenset[str]()}
    if runs:
        assert "".join(char for char, _ in found) == text
        assert [one for one in found if not one[0].isspace()] == [
            (char, names[tag]) for char, tag in letters if not char.isspace()
        ]
    else:
        assert not any(tag for _, tag in letters)


def test_emphasis_shows_in_pixels() -> None:
    plain, bold, slanted = (
        Pillow.open(io.BytesIO(drawing(below("some words", html), "png"))).convert("L")
        for html in ("some words", "some words<b></b>", "<i>some</i> words")
    )
    assert ImageChops.difference(plain, bold).getbbox() is None
    assert plain.size != slanted.size or ImageChops.difference(plain, slanted).getbbox()


def test_a_pdf_embeds_the_font_faces() -> None:
    text = "bold and both"
    made = drawing(below(text, "<b>bold</b> and <b><i>both</i></b>"), "pdf")
    faces = {name.decode() for name in re.findall(rb"/BaseFont\s*/[A-Z]+\+([\w-]+)", made)}
    assert {"OpenSans-Regular", "OpenSans-SemiBold", "OpenSans-SemiBoldItalic"} <= faces


def test_an_italic_topic_is_measured_in_italic() -> None:
    node = node_of(below("some words", "", Style(italic=True)))
    assert node.lines[0].width == font(bold=False, italic=True).width("some words")


def test_pages_get_the_emphasised_parts() -> None:
    outline = below("a bold word", "a <b>bold</b> <code><i>word</i></code>")
    data = orjson.loads(map_data(outline, {}))
    (line,) = data["sheets"][0]["topics"][2][4]
    assert line[0] == "a bold word"
    assert [(text, marks) for text, _, *marks in line[2]] == [
        ("a ", []),
        ("bold", ["bold"]),
        (" ", []),
        ("word", ["code", "italic"]),
    ]
    assert sum(width for _, width, *_ in line[2]) == pytest.approx(line[1], abs=0.05)
