"""Compute the positions of Freeplane's free topics: floating topics and callouts.

The file stores distances between the edges of two boxes, not their middles: ``HGAP`` from the left
edge of the parent to the left edge of the free topic (between the right edges if that is on the
left), and ``VSHIFT`` between the upper edges. The sizes of the boxes are estimated
(``formats.freemind_boxes``), accurate to a few dozen pixels. Coggle writes the position itself.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.formats.freemind_boxes import box_size
from mapshelf.model import Topic

_LENGTH: Final = re.compile(r"\s*(-?\d{1,7}(?:\.\d{1,20})?)\s*(pt|mm|cm|in|px)?", re.ASCII)
_PIXELS: Final = {"pt": 96 / 72, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}


def place(node: Element, topic: Topic, parent: Topic, *, left: bool) -> tuple[float, float] | None:
    """Return the position of a free topic, ``None`` if not in the file.

    Args:
        node: its element.
        topic: its topic.
        parent: the topic below which it is in the file, and which the position is relative to.
        left: whether it is on the left of the central topic.
    """
    coggle = _length(node, "X_COGGLE_POSX"), _length(node, "X_COGGLE_POSY")
    if coggle[0] is not None and coggle[1] is not None:
        return coggle[0], coggle[1]
    across, down = _length(node, "HGAP"), _length(node, "VSHIFT")
    if across is None and down is None:
        return None
    width, height = box_size(topic)
    parent_width, parent_height = box_size(parent)
    right = (across or 0.0) + (width - parent_width) / 2
    return (
        round(-right if left else right, 1),
        round((down or 0.0) + (height - parent_height) / 2, 1),
    )


def _length(node: Element, name: str) -> float | None:
    found = _LENGTH.match(node.get(f"{name}_QUANTITY") or node.get(name) or "")
    return float(found[1]) * _PIXELS.get(found[2] or "", 1.0) if found else None
