"""How topics look in MindManager: colours, letters, shapes, and text with formatting.

Colours are eight digits of which the first two are the opacity. Parts of a text are formatted by
``FontRange``, from one character to another, both included.
"""

from collections import Counter
from html import escape
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Style
from mapshelf.readers.parsing.colours import colour

_SHAPES: Final = {
    "None": "none",
    "Line": "underline",
    "Rectangle": "rectangle",
    "RoundedRectangle": "rounded",
    "Capsule": "rounded",
    "Oval": "ellipse",
    "Circle": "ellipse",
    "Hexagon": "hexagon",
    "Octagon": "hexagon",
    "Diamond": "diamond",
    "RectangleBalloon": "rectangle",
    "RoundedRectangleBalloon": "rounded",
    "OvalBalloon": "ellipse",
    "ThoughtBubble": "cloud",
}
_OPEN: Final = frozenset({"", "none", "underline"})
"""Shapes without an outline."""

_RANGES: Final = {"Bold": "b", "Italic": "i", "Underline": "u", "Strikethrough": "s"}
_MOST_RANGES: Final = 1_000
"""Formatted parts of one text."""


def style_of(topic: Element, shape_element: str) -> Style | None:
    """Return the style that is set at ``topic``, ``None`` if none is.

    Args:
        topic: the topic.
        shape_element: the element with its shape, which depends on how it belongs to the map.
    """
    look = topic.find("Color")
    font = topic.find("Text/Font")
    look = _NOTHING if look is None else look
    font = _NOTHING if font is None else font
    shape = topic.find(shape_element)
    name = "" if shape is None else shape.get(shape_element, "").rpartition(":")[2]
    kind = _SHAPES.get(name, "")
    line = argb(look.get("LineColor"))
    style = Style(
        text=argb(font.get("Color")),
        fill=argb(look.get("FillColor")),
        line=line,
        border="" if kind in _OPEN else line,
        bold=font.get("Bold") == "true",
        italic=font.get("Italic") == "true",
        size=_size(font.get("Size", "")),
        shape=kind,
    )
    return style if style != _PLAIN else None


_NOTHING: Final = Element("nothing")
_PLAIN: Final = Style()


def argb(text: str | None) -> str:
    """Return a colour of MindManager, empty if ``text`` is none or transparent."""
    return colour(text, alpha_first=True) if text else ""


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        return 0.0
    return size if 0 < size < 1000 else 0.0


def rich_text(text: str, ranges: list[Element]) -> str:
    """Return ``text`` as HTML, empty if ``ranges`` give no part of it a format HTML shows."""
    changes: dict[int, Counter[str]] = {}
    for part in ranges[:_MOST_RANGES]:
        first, last = part.get("From", ""), part.get("To", "")
        if first.isdecimal() and last.isdecimal() and len(first) < 7 and len(last) < 7:
            start, end = int(first), int(last) + 1
            for name, element in _RANGES.items():
                if part.get(name) == "true" and start < end:
                    changes.setdefault(start, Counter())[element] += 1
                    changes.setdefault(end, Counter())[element] -= 1
    if not changes:
        return ""
    depths: Counter[str] = Counter()
    pieces: list[str] = []
    for start, end in pairwise(sorted({0, len(text), *changes})):
        depths.update(changes.get(start, {}))
        pieces.append(_piece(text[start:end], [each for each, depth in depths.items() if depth]))
    return "".join(pieces)


def _piece(text: str, elements: list[str]) -> str:
    if not text:
        return ""
    html = escape(text, quote=False).replace("\n", "<br>")
    for element in elements:
        html = f"<{element}>{html}</{element}>"
    return html
