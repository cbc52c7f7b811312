"""Where Freeplane shows floating topics.

The file tells how far the near edges of two boxes are from each other, not the middles: ``HGAP``
from the left edge of the central topic to the left edge of the floating one (between the right
edges if that is on the left), ``VSHIFT`` between the upper edges. How large a box is depends on the
fonts of the author's machine, so it is estimated here. That is right to a few dozen pixels.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Topic

_LENGTH: Final = re.compile(r"\s*(-?\d{1,7}(?:\.\d{1,20})?)\s*(pt|mm|cm|in|px)?", re.ASCII)
_PIXELS: Final = {"pt": 96 / 72, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
_LETTERS: Final = 12.0
"""Points, where the map says nothing."""
_WIDEST: Final = 600.0
"""Pixels of text on a line; Freeplane's default."""


def place(node: Element, topic: Topic, centre: Topic) -> tuple[float, float] | None:
    """Return the position of a floating topic, ``None`` if the file does not tell.

    Args:
        node: its element.
        topic: the topic made of it.
        centre: the central topic it is placed by.
    """
    across, down = _length(node, "HGAP"), _length(node, "VSHIFT")
    if across is None and down is None:
        return None
    width, height = _size(topic)
    centre_width, centre_height = _size(centre)
    right = (across or 0.0) + (width - centre_width) / 2
    return (
        round(-right if topic.side == "left" else right, 1),
        round((down or 0.0) + (height - centre_height) / 2, 1),
    )


def _length(node: Element, name: str) -> float | None:
    found = _LENGTH.match(node.get(f"{name}_QUANTITY") or node.get(name) or "")
    return float(found[1]) * _PIXELS.get(found[2] or "", 1.0) if found else None


def _size(topic: Topic) -> tuple[float, float]:
    """Return about how many pixels a topic takes."""
    letters = (topic.style.size if topic.style else 0.0) or _LETTERS
    lines = [len(line) * letters * 0.7 for line in topic.text.split("\n") if line]
    width = max(
        (*(min(line, _WIDEST) for line in lines), *(image.width for image in topic.images)),
        default=0.0,
    )
    height = sum(1 + line // _WIDEST for line in lines) * letters * 1.6
    return width + 10, height + sum(image.height for image in topic.images) + 6
