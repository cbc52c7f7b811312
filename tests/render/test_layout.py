"""The layout of maps: nothing overlaps, and topics keep the order of the map."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import Image, Sheet, Summary, Topic
from mapshelf.render.contents import FORMULA
from mapshelf.render.formulas import drawings, formulas_of
from mapshelf.render.layout import Layout, layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.nodes import Node
from mapshelf.render.visible_topics import Room, sizes, summarised, whole, with_formulas
from tests.render.tour import SHEET, topic
from tests.render.trees import chain, sheets, tree, trees


def placed(root: Topic, *, right_to_left: bool = False) -> Layout:
    return layout(whole(Sheet(root)), PAGE, right_to_left=right_to_left)


@given(trees())
def test_every_topic_has_its_own_place(root: Topic) -> None:
    found = placed(root)
    assert len(found.nodes) == sum(1 for _ in root.walk())
    for at, one in enumerate(found.nodes):
        assert found.box.left <= one.x <= one.x + one.width <= found.box.right
        assert found.box.top <= one.y <= one.y + one.height <= found.box.bottom
        for other in found.nodes[at + 1 :]:
            assert not overlap(one, other)


def overlap(one: Node, other: Node) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 0.01 and down > 0.01


@pytest.mark.slow
@given(sheets(), st.booleans())
def test_topics_of_a_whole_sheet_do_not_overlap(sheet: Sheet, mirrored: bool) -> None:
    found = layout(whole(sheet), PAGE, right_to_left=mirrored)
    assert len(found.nodes) == sum(1 for tree in sheet.trees() for _ in tree.walk())
    for at, one in enumerate(found.nodes):
        assert one.side or not one.depth
        for other in found.nodes[at + 1 :]:
            assert not overlap(one, other)
    for boundary in found.boundaries:
        assert found.box.left <= boundary.box.left < boundary.box.right <= found.box.right
        assert found.box.top <= boundary.box.top < boundary.box.bottom <= found.box.bottom


def on_tour() -> tuple[Layout, dict[str, Node]]:
    found = layout(whole(SHEET), PAGE)
    return found, {node.topic.id: node for node in found.nodes}


def test_main_topics_keep_the_side_that_their_author_chose() -> None:
    _, node = on_tour()
    sides = [node[name].side for name in ("icons", "pictures", "groups", "styles")]
    assert sides == [1, 1, -1, -1]
    assert node["icons"].y < node["pictures"].y
    assert node["groups"].y < node["styles"].y
    assert node["deeper"].side == -1


def test_clockwise_main_topics_start_at_the_bottom_on_the_left() -> None:
    sides = ["right", "left", "right", "left", "left"]
    mains = [topic(f"m{number}", side=side) for number, side in enumerate(sides)]
    sheet = Sheet(topic("r", *mains), clockwise=True)
    for shown in (whole(sheet), summarised(sheet, sizes(sheet), Room(10, 1))):
        nodes = {node.topic.id: node for node in layout(shown, PAGE).nodes}
        assert nodes["m0"].y < nodes["m2"].y
        assert nodes["m4"].y < nodes["m3"].y < nodes["m1"].y
    assert [main.id for main in sheet.root.children] == ["m0", "m1", "m2", "m3", "m4"]


def test_sides_of_only_a_few_topics_are_ignored() -> None:
    mains = [topic(f"m{number}", side="left" if number == 0 else "") for number in range(6)]
    sides = [node.side for node in placed(topic("r", *mains)).nodes[1:]]
    assert sides == [1, 1, 1, -1, -1, -1]


def test_floating_topics_are_at_or_near_their_position() -> None:
    _, node = on_tour()
    far, near, rest = (node[name] for name in ("far-away", "in-the-way", "anywhere"))
    assert (far.x + far.width / 2, far.middle) == pytest.approx((-140, -320))
    assert node["its-child"].side == far.side == -1
    assert abs(near.x + near.width / 2) < 200
    assert abs(near.middle) < 200
    assert rest.y > max(one.y for one in node.values() if one is not rest)


def test_distant_floating_topics_are_moved_closer() -> None:
    far = topic("far", position=(-90_000.0, 45_000.0))
    found = layout(whole(Sheet(tree(4, 3), floating=(far,))), PAGE)
    assert found.width < 2000
    assert found.height < 2000
    last = found.nodes[-1]
    assert last.x < 0 < last.y


def test_boundaries_contain_their_topics_only() -> None:
    found, _ = on_tour()
    held = {
        boundary.group.label.text if boundary.group.label else "": {
            one.topic.id
            for one in found.nodes
            if boundary.box.left < one.x + one.width / 2 < boundary.box.right
            and boundary.box.top < one.middle < boundary.box.bottom
        }
        for boundary in found.boundaries
    }
    assert held == {
        "Some of them": {"two", "two-a", "two-b", "three"},
        "A whole branch": {"pictures", "a-flower", "bare-picture", "lost"},
        "Around a floating one": {"far-away", "its-child", "on-it"},
    }


def test_a_summary_is_beyond_its_topics_and_a_brace_between() -> None:
    found, node = on_tour()
    (brace,) = found.braces
    assert brace.summary is node["in-short"]
    for name in ("one", "two", "two-a"):
        assert brace.x <= node[name].x
        assert brace.top <= node[name].y < node[name].y + node[name].height <= brace.bottom
    assert node["in-short"].x + node["in-short"].width < brace.x
    assert node["in-short"].middle == pytest.approx((brace.top + brace.bottom) / 2)
    assert node["more-of-it"].x < node["in-short"].x


def test_summaries_of_each_other_do_not_loop() -> None:
    one, other = topic("one", topic("one below")), topic("other", topic("other below"))
    sheet = Sheet(
        topic("r"), summaries=(Summary(("other-below",), one), Summary(("one-below",), other))
    )
    assert len(layout(whole(sheet), PAGE).nodes) == 5


def test_pictures_and_icons_are_inside_the_box_of_their_topic() -> None:
    for node in on_tour()[0].nodes:
        for piece in node.pieces:
            assert 0 <= piece.x <= piece.x + piece.width <= node.body + 0.01
            assert 0 <= piece.y <= piece.y + piece.height <= node.height + 0.01


def test_pictures_keep_their_proportions_in_little_room() -> None:
    root = topic("r", images=(Image("a" * 64, 3000, 500), Image("b" * 64, 20, 10)))
    large, small = placed(root).nodes[0].pieces
    assert (large.width, large.height) == pytest.approx((240, 40))
    assert (small.width, small.height) == (20, 10)


@pytest.mark.parametrize("size", [(0, 0), (-5, 3), (float("nan"), 9), (float("inf"), 1e300)])
def test_impossible_sizes_count_as_unknown(size: tuple[float, float]) -> None:
    (piece,) = placed(topic("r", images=(Image("a" * 64, *size),))).nodes[0].pieces
    assert 2 <= piece.width <= 240
    assert 2 <= piece.height <= 180


@given(trees())
def test_children_are_beside_their_parent_in_their_order(root: Topic) -> None:
    found = placed(root)
    for node in found.nodes[1:]:
        parent = node.above
        assert parent
        assert node in parent.children
        assert node.depth == parent.depth + 1
        if node.side > 0:
            assert node.x > parent.x + parent.width
        else:
            assert node.x + node.width < parent.x
        assert parent.depth == 0 or (node.side, node.main) == (parent.side, parent.main)
    for node in found.nodes:
        for one, following in pairwise(node.children):
            assert one.side != following.side or one.y + one.height < following.y


@given(trees())
def test_the_centre_is_the_origin_and_main_branches_are_divided_once(root: Topic) -> None:
    found = placed(root)
    centre = found.nodes[0]
    assert (centre.x + centre.width / 2, centre.middle) == (0, 0)
    sides = [node.side for node in centre.children]
    assert sides == sorted(sides, reverse=True)
    assert not sides or sides[0] == 1


@given(trees())
def test_both_sides_are_as_high_as_the_main_branches_allow(root: Topic) -> None:
    centre = placed(root).nodes[0]
    right, left = (
        sum(node.reach for node in centre.children if node.side == side) for side in (1, -1)
    )
    largest = max((node.reach for node in centre.children), default=0)
    assert abs(right - left) <= largest + 12 * PAGE.kind(1).apart


@given(trees())
def test_a_right_to_left_layout_is_mirrored(root: Topic) -> None:
    for node, mirrored in zip(
        placed(root).nodes, placed(root, right_to_left=True).nodes, strict=True
    ):
        assert mirrored.y == pytest.approx(node.y)
        assert mirrored.x == pytest.approx(-node.x - node.width)


@pytest.mark.slow
def test_deep_and_large_maps_are_laid_out_whole() -> None:
    assert len(placed(chain(300)).nodes) == 301
    assert len(placed(tree(20_000)).nodes) == 20_001
    assert len(placed(tree(10, 10, 10)).nodes) == 1111


def test_a_formula_is_not_an_empty_box() -> None:
    root = topic("", topic("Area", formula="r^2"), formula=r"E=mc^2", id="r")
    shown = [[line.text for line in node.lines] for node in placed(root).nodes]
    assert shown == [["E=mc^2"], ["Area", "r^2"]]


def test_formulas_have_the_size_that_they_are_drawn_in() -> None:
    alone, below = topic("", formula=r"\frac{a}{b}"), topic("A long text", formula="r^2")
    wide = topic("", formula="x" * 200)
    sheet = Sheet(topic("r", alone, below, wide))
    drawn = drawings(formulas_of(sheet.topics()))
    _, first, second, third = layout(with_formulas(whole(sheet), drawn), PAGE).nodes
    (fraction,), (square,), (row,) = first.pieces, second.pieces, third.pieces
    size = first.kind.size * FORMULA
    assert (fraction.width, fraction.height) == pytest.approx(
        [size * drawn[r"\frac{a}{b}"].width, size * drawn[r"\frac{a}{b}"].height]
    )
    assert first.height >= fraction.height
    assert square.y >= second.contents.text_top + second.kind.size
    assert second.height > square.y + square.height
    assert row.width == pytest.approx(PAGE.formula[0] * third.kind.size)
    assert all(
        one.x >= 0 and one.x + one.width <= node.body
        for node in (first, second, third)
        for one in node.pieces
    )


def test_formulas_stand_beside_icons_and_are_mirrored() -> None:
    root = topic("r", topic("", formula="x", marks="star"))
    drawn = drawings(["x"])
    places = []
    for right_to_left in (False, True):
        shown = with_formulas(whole(Sheet(root)), drawn)
        node = layout(shown, PAGE, right_to_left=right_to_left).nodes[1]
        places.append({piece.kind: piece.x for piece in node.pieces})
    assert places[0]["glyph"] < places[0]["formula"]
    assert places[1]["formula"] < places[1]["glyph"]


def test_topics_keep_their_ids() -> None:
    root = Topic("a", id="1", children=[Topic("b", id="2")])
    assert [node.topic.id for node in placed(root).nodes] == ["1", "2"]


@given(trees())
def test_hidden_topics_are_counted(root: Topic) -> None:
    for rows in (4, 6, 12):
        for depth in (1, 2, 3):
            shown = layout(
                summarised(Sheet(root), sizes(Sheet(root)), Room(rows, depth)), PAGE
            ).nodes
            named = [node for node in shown if node.lines]
            hidden = sum(node.topic.hidden for node in shown)
            assert len(named) + hidden == sum(1 for _ in root.walk())
            assert sum(not node.children for node in shown) <= rows
            assert max(node.depth for node in shown) <= depth


def test_space_is_divided_evenly() -> None:
    root = Topic("r", children=[tree(2), tree(100), tree(2), tree(100)])
    shown = summarised(Sheet(root), sizes(Sheet(root)), Room(16, 3)).root
    assert [len(branch.children) for branch in shown.children] == [2, 6, 2, 6]
    assert shown.children[1].children[-1].hidden == 95


def test_equal_branches_are_treated_alike() -> None:
    root = tree(10, 10)
    shown = summarised(Sheet(root), sizes(Sheet(root)), Room(12, 3)).root
    assert {(len(branch.children), branch.hidden) for branch in shown.children} == {(0, 10)}
