"""Numbers, attributes, details, callouts and arrows are drawn where other programs show them."""

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    Boundary,
    Image,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Topic,
    TopicKind,
    sheets_of,
)
from mapshelf.render.font_fallback import SystemFonts
from mapshelf.render.layout import Layout, layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.map_drawing import map_drawing
from mapshelf.render.nodes import Node
from mapshelf.render.render_request import DrawingRequest, RenderRequest
from mapshelf.render.thumbnail import thumbnail
from mapshelf.render.visible_topics import whole
from tests.render.tour import PICTURE, topic

BARE = Style(line_hidden=True)


def drawing(sheet: Sheet | Topic) -> ElementTree.Element:
    sheets = (sheet,) if isinstance(sheet, Sheet) else sheets_of((sheet,))
    request = DrawingRequest("Map", "svg", "light")
    return ElementTree.fromstring(map_drawing(Outline(sheets), request, {}))


def all_of(drawn: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return [one for one in drawn.iter() if one.tag.endswith(f"}}{tag}")]


def texts(drawn: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in all_of(drawn, "text")]


def laid_out(sheet: Sheet) -> tuple[Layout, dict[str, Node]]:
    found = layout(whole(sheet), PAGE)
    return found, {node.topic.id: node for node in found.nodes}


def callout(text: str, *children: Topic, at: tuple[float, float] | None, **more: Any) -> Topic:
    return topic(text, *children, kind=TopicKind.CALLOUT, position=at, **more)


# -- in topics ------------------------------------------------------------------------------------


def test_numbers_are_drawn_before_the_text() -> None:
    root = topic("r", topic("In node core", number="1.2", text_html="In <b>node core</b>"))
    drawn = drawing(root)
    assert "1.2 In node core" in texts(drawn)
    bold = [one.text for one in all_of(drawn, "tspan") if one.get("font-weight")]
    assert bold == ["node core"]


def test_a_number_stands_alone_where_there_is_no_text() -> None:
    assert "7" in texts(drawing(topic("r", topic("", id="a", number="7"))))


def test_visible_attributes_are_a_table_below_the_text() -> None:
    one = topic(
        "Budget",
        attributes=(("cost", "<b>12</b>"), ("secret", "no"), ("when", "")),
        shown_attributes=("cost", "when"),
    )
    drawn = drawing(topic("r", one))
    assert [text for text in texts(drawn) if text != "r"] == ["Budget", "cost", "<b>12</b>", "when"]
    _, nodes = laid_out(Sheet(topic("r", one)))
    cells = [piece for piece in nodes["budget"].pieces if piece.kind == "cell"]
    assert [cell.name for cell in cells] == ["cost", "<b>12</b>", "when", ""]
    names, values = cells[::2], cells[1::2]
    assert len({(cell.x, cell.width) for cell in names}) == 1
    assert len({(cell.x, cell.width) for cell in values}) == 1
    assert values[0].x == pytest.approx(names[0].x + names[0].width)
    assert names[1].y == pytest.approx(names[0].y + names[0].height)
    assert names[0].y >= nodes["budget"].contents.text_top + nodes["budget"].kind.size
    check_inside(nodes["budget"])


def check_inside(node: Node) -> None:
    for piece in node.pieces:
        assert 0 <= piece.x <= piece.x + piece.width <= node.body + 0.01
        assert 0 <= piece.y <= piece.y + piece.height <= node.height + 0.01


def test_attributes_are_limited_in_number_and_length() -> None:
    many = tuple((f"name {n} " * 100, "v" * 4000) for n in range(100))
    wide = topic("wide", attributes=many, shown_attributes=tuple(name for name, _ in many))
    _, nodes = laid_out(Sheet(topic("r", wide)))
    cells = [piece for piece in nodes["wide"].pieces if piece.kind == "cell"]
    assert len(cells) == 24
    assert nodes["wide"].width < 600
    assert all(len(cell.says) <= 300 for cell in cells)
    pairs = (("a", "b"),)
    topics = [topic(str(n), attributes=pairs, shown_attributes=("a",)) for n in range(600)]
    found, _ = laid_out(Sheet(topic("r", *topics)))
    assert sum(bool(node.pieces) for node in found.nodes) == 500


def test_details_are_drawn_below_the_text_without_a_mark() -> None:
    told = topic("Told", note="At <hand>", details="At <hand>")
    more = topic("More", note="At hand\nand apart", details="At hand")
    long = topic("Long", note="x", details="word " * 400)
    assert texts(drawing(topic("r", told)))[1:] == ["Told", "At <hand>"]
    _, nodes = laid_out(Sheet(topic("r", topic("m", told, more, long))))
    assert [piece.kind for piece in nodes["told"].pieces] == ["subtext"]
    assert sorted(piece.kind for piece in nodes["more"].pieces) == ["mark", "subtext"]
    lines = [piece for piece in nodes["long"].pieces if piece.kind == "subtext"]
    assert len(lines) == 20
    assert lines[-1].name.endswith("…")
    for name in ("told", "more", "long"):
        check_inside(nodes[name])


def test_pictures_are_above_or_below_the_text() -> None:
    tops = []
    for below in (False, True):
        one = topic("Seen", images=(Image(PICTURE, 60, 40, "", below),))
        _, nodes = laid_out(Sheet(topic("r", one)))
        (picture,) = nodes["seen"].pieces
        tops.append(picture.y < nodes["seen"].contents.text_top)
        check_inside(nodes["seen"])
    assert tops == [True, False]


# -- callouts -------------------------------------------------------------------------------------


def middle(node: Node) -> tuple[float, float]:
    return node.x + node.width / 2, node.middle


def test_callouts_are_where_their_author_put_them() -> None:
    inner = callout("inner", at=(10.0, 90.0))
    placed = callout("placed", topic("below", inner), at=(-60.0, -150.0))
    mains = [topic("one", topic("two", placed)), topic("three", callout("four", at=None))]
    floating = topic("far", callout("near far", at=(120.0, 80.0)), position=(-500.0, -300.0))
    _, nodes = laid_out(Sheet(topic("r", *mains), floating=(floating,)))
    for name, parent in (("placed", "two"), ("inner", "below"), ("near-far", "far")):
        (x, y), (wanted_x, wanted_y) = middle(nodes[name]), middle(nodes[parent])
        position = nodes[name].position
        assert position
        assert (x, y) == pytest.approx((wanted_x + position[0], wanted_y + position[1]))
    assert nodes["below"].x > nodes["placed"].x
    assert nodes["four"].x < nodes["three"].x  # on the left, in the row of its parent
    assert nodes["four"].middle == pytest.approx(nodes["three"].middle)


def test_callouts_overlap_no_topics_and_stay_near() -> None:
    children = [topic(f"c{n}", callout(f"n{n}", at=(0.0, 0.0))) for n in range(6)]
    far = callout("far", at=(90_000.0, -90_000.0))
    found, nodes = laid_out(Sheet(topic("r", topic("m", *children, far))))
    assert found.width < 2000
    assert found.height < 2000
    placed = list(nodes.values())
    for at, one in enumerate(placed):
        for other in placed[at + 1 :]:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert across <= 0 or down <= 0


def test_a_boundary_contains_the_callouts_of_its_topics() -> None:
    held = topic("held", topic("leaf", callout("out", at=(0.0, -90.0))))
    ringed = callout("ringed", callout("more", at=(0.0, 90.0)), at=(300.0, 50.0))
    sheet = Sheet(
        topic("r", topic("m", held, ringed, topic("other"))),
        boundaries=(Boundary(("held",)), Boundary(("ringed",)), Boundary(("m",))),
    )
    found, nodes = laid_out(sheet)
    boxes = {
        frozenset(name for name, node in nodes.items() if is_inside(node, boundary.box))
        for boundary in found.boundaries
    }
    assert {"held", "leaf", "out"} in boxes
    assert {"ringed", "more"} in boxes
    assert set(nodes) - {"r"} in boxes


def test_a_summary_is_beside_its_brace_even_if_it_is_a_callout_with_a_position() -> None:
    summary = callout("all", callout("more", at=(0.0, 90.0)), at=(300.0, 400.0))
    sheet = Sheet(
        topic("r", topic("m")),
        boundaries=(Boundary(("all",)),),
        summaries=(Summary(("m",), summary),),
    )
    found, nodes = laid_out(sheet)
    assert nodes["all"].middle == pytest.approx(nodes["m"].middle)
    assert not found.boundaries, "there is none around the topic of a summary"


def is_inside(node: Node, box: Sequence[float]) -> bool:
    left, top, right, bottom = box
    return left < node.x < node.x + node.width < right and top < node.y < node.middle < bottom


# -- lines and arrows -----------------------------------------------------------------------------


def paths(sheet: Sheet | Topic) -> list[str]:
    return [path.get("d", "") for path in all_of(drawing(sheet), "path")]


def test_hidden_lines_are_not_drawn() -> None:
    joined, alone = (topic("r", topic("m", topic("a", style=look))) for look in (None, BARE))
    (main, line), (main_alone, rest) = paths(joined), paths(alone)
    assert main == main_alone
    assert "C" in line
    # Only the line below the topic is left, as long as the topic.
    assert re.fullmatch(r"M[\d.-]+ [\d.-]+H[\d.-]+", rest)
    assert rest.partition("H")[2] == line.partition("H")[2]
    boxed = topic("r", topic("m", style=BARE))
    assert paths(boxed) == []


def test_an_arrow_points_to_a_position() -> None:
    sheet = Sheet(
        topic("r", topic("m", topic("a"))),
        relationships=(Relationship("a", "a", point=(-60.0, 30.0)),),
    )
    line, head = paths(sheet)[-2:]
    x0, y0, *_, x3, y3 = map(float, re.findall(r"-?[\d.]+", line))
    assert (x3 - x0, y3 - y0) == pytest.approx((-60, 30), abs=0.2)
    assert head.startswith(f"M{x3:g} {y3:g}L")
    _, nodes = laid_out(sheet)
    node = nodes["a"]
    assert node.x - 0.1 <= x0 <= node.x + node.width + 0.1
    assert node.y - 0.1 <= y0 <= node.y + node.height + 0.1


@pytest.mark.parametrize(("heads", "count"), [("end", 1), ("start", 1), ("both", 2), ("none", 0)])
def test_arrows_have_heads_where_the_author_put_them(heads: str, count: int) -> None:
    sheet = Sheet(
        topic("r", topic("a"), topic("b")), relationships=(Relationship("a", "b", heads=heads),)
    )
    tips = "".join(path for path in paths(sheet) if path.endswith("Z"))
    assert tips.count("M") == count
    if count == 1:
        line = next(path for path in paths(sheet) if "C" in path and path not in tips)
        assert line
        ends = {"end": 3, "start": 0}
        curve = [path for path in paths(sheet) if path.count("C") == 1][-1]
        points = re.findall(r"-?[\d.]+ -?[\d.]+", curve)
        assert tips.startswith(f"M{points[ends[heads]]}L")


def test_a_thumbnail_has_no_arrows_to_hidden_positions() -> None:
    arrows = (Relationship("m", "m", point=(-60.0, 30.0)),)
    few, many = (topic("r", topic("m"), *map(topic, "abcd"[:count])) for count in (1, 4))
    many.children[1].children = [topic(f"t{n}") for n in range(200)]
    found = []
    for root in (few, many):
        outline = encode_outline(Outline((Sheet(root, relationships=arrows),)))
        request = RenderRequest(outline, "", "", "", 320, "light", "svg")
        found.append("stroke-dasharray" in thumbnail(request, SystemFonts(())).decode())
    assert found == [True, False]
