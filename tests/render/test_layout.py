"""Maps are laid out so that nothing lies on anything else, in the order of the map."""

from itertools import pairwise

import pytest
from hypothesis import given

from mapshelf.model import Topic
from mapshelf.render.layout import PAGE, Layout, Node, layout
from mapshelf.render.visible_topics import Room, sizes, summarised, whole
from tests.render.trees import chain, tree, trees


def placed(root: Topic, *, right_to_left: bool = False) -> Layout:
    return layout(whole(root), PAGE, right_to_left=right_to_left)


@given(trees())
def test_every_topic_has_its_own_place(root: Topic) -> None:
    found = placed(root)
    assert len(found.nodes) == sum(1 for _ in root.walk())
    for at, one in enumerate(found.nodes):
        assert found.left <= one.x <= one.x + one.width <= found.right
        assert found.top <= one.y <= one.y + one.height <= found.bottom
        for other in found.nodes[at + 1 :]:
            assert not overlap(one, other)


def overlap(one: Node, other: Node) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 0.01 and down > 0.01


@given(trees())
def test_children_are_beside_their_parent_in_their_order(root: Topic) -> None:
    found = placed(root)
    for node in found.nodes[1:]:
        parent = found.nodes[node.parent]
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
def test_from_right_to_left_is_the_mirror_image(root: Topic) -> None:
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


def test_topics_keep_their_ids() -> None:
    root = Topic("a", id="1", children=[Topic("b", id="2")])
    assert [node.topic.id for node in placed(root).nodes] == ["1", "2"]


@given(trees())
def test_whatever_is_left_out_is_counted(root: Topic) -> None:
    for rows in (4, 6, 12):
        for depth in (1, 2, 3):
            shown = layout(summarised(root, sizes(root), Room(rows, depth)), PAGE).nodes
            named = [node for node in shown if node.lines]
            hidden = sum(node.topic.hidden for node in shown)
            assert len(named) + hidden == sum(1 for _ in root.walk())
            assert sum(not node.children for node in shown) <= rows
            assert max(node.depth for node in shown) <= depth


def test_room_is_given_out_evenly() -> None:
    root = Topic("r", children=[tree(2), tree(100), tree(2), tree(100)])
    shown = summarised(root, sizes(root), Room(16, 3))
    assert [len(branch.children) for branch in shown.children] == [2, 6, 2, 6]
    assert shown.children[1].children[-1].hidden == 95


def test_equal_branches_are_treated_alike() -> None:
    root = tree(10, 10)
    shown = summarised(root, sizes(root), Room(12, 3))
    assert {(len(branch.children), branch.hidden) for branch in shown.children} == {(0, 10)}
