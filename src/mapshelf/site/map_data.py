"""What the script on a map's page draws from: every topic, measured.

The words are broken into lines and measured here, by the font that all pictures are measured by
(``render``), because only the server knows them to be the same everywhere. Where the topics lie is
computed again in the browser (``static/layout.js``), since folding a branch moves all others;
a test holds that to be the arithmetic of ``render.layout``.
"""

from typing import Any

import orjson

from mapshelf.model import Outline, Topic
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.fonts import ASCENT, font
from mapshelf.render.layout import COUNT_GAP, COUNT_PADDING, COUNT_SIZE, LINE_HEIGHT, PAGE, layout
from mapshelf.render.visible_topics import whole


def drawing(outline: Outline) -> bytes:
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
