"""How large FreeMind and Freeplane draw the box of a topic, about.

Their files tell how far the edges of boxes are from each other, not the middles, and how large a
box is depends on the fonts of the author's machine. So it is estimated, in the same way when maps
are read and written. That is right to a few dozen pixels.
"""

from typing import Final

from mapshelf.model import Topic

_LETTERS: Final = 12.0
"""Points, where the map says nothing."""

_WIDEST: Final = 600.0
"""Pixels of text on a line; Freeplane's default."""


def box_size(topic: Topic) -> tuple[float, float]:
    """Return about how many pixels a topic takes, across and down."""
    letters = (topic.style.size if topic.style else 0.0) or _LETTERS
    lines = [len(line) * letters * 0.7 for line in topic.text.split("\n") if line]
    width = max(
        (*(min(line, _WIDEST) for line in lines), *(image.width for image in topic.images)),
        default=0.0,
    )
    height = sum(1 + line // _WIDEST for line in lines) * letters * 1.6
    return width + 10, height + sum(image.height for image in topic.images) + 6
