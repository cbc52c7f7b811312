"""The data from which the script on a map's page draws the map: every topic, measured.

The server breaks texts into lines and measures them in the font of ``render``, so that the result
is the same in every browser. The browser computes the places of the topics (``static/layout.js``),
because folding a branch moves all others. A test checks that it computes the same as
``render.layout``.
"""

from typing import Any

import orjson

from mapshelf.model import Outline, Topic
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.fonts import ASCENT, font
from mapshelf.render.layout import COUNT_GAP, COUNT_PADDING, COUNT_SIZE, LINE_HEIGHT, PAGE, layout
from mapshelf.render.visible_topics import whole


def map_data(outline: Outline) -> bytes:
    """Return all sheets of a map as JSON."""
    return orjson.dumps(
        {
            "lineHeight": LINE_HEIGHT,
            "ascent": ASCENT,
            "count": {
                "size": COUNT_SIZE,
                "padding": COUNT_PADDING,
                "gap": COUNT_GAP,
                "digit": font(bold=True).width("0"),
                "plus": font(bold=True).width("+"),
            },
            "kinds": [kind._asdict() for kind in PAGE.kinds],
            "sheets": [_sheet(root) for root in outline.roots],
        }
    )


def _sheet(root: Topic) -> dict[str, Any]:
    leftwards = reads_leftwards(root)
    placed = layout(whole(root), PAGE, right_to_left=leftwards)
    return {
        "leftwards": leftwards,
        # Each topic as its parent's place, its id, its width and height, and its lines with theirs.
        "topics": [
            [
                node.parent,
                node.topic.id,
                round(node.body, 2),
                round(node.height, 2),
                [[line.text, round(line.width * node.kind.size, 2)] for line in node.lines],
            ]
            for node in placed.nodes
        ],
    }
