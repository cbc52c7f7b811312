"""Arrows from a topic to itself are drawn as loops, in thumbnails and in drawings of whole maps."""

import re
from dataclasses import replace

import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Outline, Relationship, Sheet, Topic
from mapshelf.render.arrows import links, room_of, routed
from mapshelf.render.layout import layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.map_drawing import map_drawing
from mapshelf.render.nodes import by_id
from mapshelf.render.render_request import DrawingRequest
from mapshelf.render.thumbnail import thumbnail
from mapshelf.render.visible_topics import whole
from tests.render.test_thumbnail import NO_FONTS
from tests.render.trees import render_request

LABEL = "until it works"
SHEET = Sheet(
    Topic("Loops", "r", children=[Topic("Again", "again"), Topic("Once", "once")]),
    relationships=(Relationship("again", "again", LABEL), Relationship("r", "r")),
)
OUTLINE = Outline((SHEET,))
CURVE = re.compile(r'<path d="M[^"]*"[^>]* stroke-dasharray="5 3"/>')


def test_a_loop_is_in_every_drawing() -> None:
    request = replace(render_request(SHEET.root, 640), outline=encode_outline(OUTLINE))
    small = thumbnail(request, NO_FONTS).decode()
    large = map_drawing(OUTLINE, DrawingRequest("Loops", "svg", "light"), {}).decode()
    for picture in (small, large):
        assert len(CURVE.findall(picture)) == 2
        assert LABEL in picture


@pytest.mark.parametrize("label", ["", LABEL, "words " * 8])
def test_a_loop_and_its_label_cover_no_topic(label: str) -> None:
    sheet = replace(SHEET, relationships=(Relationship("again", "again", label),))
    placed = layout(whole(sheet), PAGE)
    ((link, curve),) = routed(placed.nodes, links(sheet.relationships, by_id(placed.nodes)))
    assert link.start is link.end
    for share in range(1, 100):
        x, y = curve.at(share / 100)
        for node in placed.nodes:
            within = node.x < x < node.x + node.width and node.y < y < node.y + node.height
            assert not within
    middle = curve.at(0.5)
    assert max(abs(middle[0] - curve.start[0]), abs(middle[1] - curve.start[1])) > 20
    (room,) = room_of([(link, curve)])
    assert room.left < min(point[0] for point in (curve.start, curve.end))


def test_arrows_within_a_visible_topic_are_not_loops() -> None:
    root = Topic("Root", "r", children=[Topic("Inside", "inside"), Topic("Beside", "beside")])
    node = layout(whole(Sheet(root)), PAGE).nodes[0]
    shown = dict.fromkeys(("r", "inside", "beside"), node)
    hidden = (Relationship("inside", "beside"), Relationship("inside", "inside"))
    assert not [*links(hidden, shown)]
    assert [link.start for link in links((Relationship("r", "r"),), shown)] == [node]
