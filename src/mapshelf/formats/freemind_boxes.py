"""Estimate the size at which FreeMind and Freeplane draw the box of a topic.

Their files store the distances between the edges of boxes, not between the middles, and the size of
a box depends on the fonts of the author's machine. Readers and writers use the same estimate, which
is accurate to a few dozen pixels.
"""

from typing import Final

from mapshelf.model import Topic

_LETTERS: Final = 12.0
"""Default font size in points."""

_ROW: Final = 18.0
"""Height of a row of details or attributes in pixels."""

_WIDEST: Final = 600.0
"""Maximum line width in pixels; Freeplane's default."""


def box_size(topic: Topic) -> tuple[float, float]:
    """Return the estimated width and height of a topic in pixels."""
    letters = (topic.style.size if topic.style else 0.0) or _LETTERS
    lines = [len(line) * letters * 0.7 for line in topic.text.split("\n") if line]
    width = max(
        (*(min(line, _WIDEST) for line in lines), *(image.width for image in topic.images)),
        default=0.0,
    )
    height = sum(1 + line // _WIDEST for line in lines) * letters * 1.6
    height += sum(image.height for image in topic.images)
    return width + 10, height + _rows_below(topic) * _ROW + 6


def _rows_below(topic: Topic) -> int:
    """Return the number of rows below the text: details, attributes and a formula."""
    details = topic.details.count("\n") + 1 if topic.details else 0
    attributes = sum(name in topic.shown_attributes for name, _ in topic.attributes)
    return details + attributes + bool(topic.formula and topic.text)
