"""Read topic styles of MindManager: colours, fonts, shapes and formatted text.

The style of a topic is the default style of its level in the map, overridden by attributes of the
topic itself. Colours have eight hexadecimal digits, of which the first two are the opacity. A
``FontRange`` formats a part of a text, from one character index to another, both included.
"""

from collections import Counter
from collections.abc import Mapping
from html import escape
from itertools import pairwise
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Sheet, Style, TopicKind
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.levels import Level, levels

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
"""Maximum number of formatted ranges in one text; further ones are ignored."""


Looks = Mapping[str, str]
"""Style attributes of a topic by their MindManager names; the shape has the name ``Shape``."""

NO_LOOKS: Final[Looks] = MappingProxyType({})


def looks_of(element: Element, shape: str, prefix: str = "") -> Looks:
    """Return the style attributes that ``element`` sets.

    Args:
        element: a topic, or a group of defaults.
        shape: name of the element with the shape, which depends on the kind of topic.
        prefix: prefix of element names: ``Default`` in a group of defaults, otherwise empty.
    """
    looks: dict[str, str] = {}
    for path in ("Color", "Text/Font"):
        found = element.find(prefix + path)
        if found is not None:
            looks.update(found.attrib)
    found = element.find(prefix + shape)
    if found is not None and (name := found.get(shape)):
        looks["Shape"] = name.rpartition(":")[2]
    return looks


def _style_of(looks: Looks) -> Style | None:
    """Return the style for ``looks``, ``None`` if they set nothing that a ``Style`` has."""
    kind = _SHAPES.get(looks.get("Shape", ""), "")
    line = argb(looks.get("LineColor"))
    style = Style(
        text=argb(looks.get("Color")),
        fill=argb(looks.get("FillColor")),
        line=line,
        border="" if kind in _OPEN else line,
        bold=looks.get("Bold") == "true",
        italic=looks.get("Italic") == "true",
        size=_size(looks.get("Size", "")),
        shape=kind,
    )
    return style if style != _PLAIN else None


_PLAIN: Final = Style()


class Defaults:
    """The theme of a map: the default style attributes of topics, by level."""

    def __init__(self, group: Element | None) -> None:
        """Read the ``StyleGroup`` of a map, ``None`` if it has none."""
        self._heads: dict[TopicKind, Looks] = {}
        self._below: dict[TopicKind, list[Looks]] = {}
        self._styles: dict[tuple[int, int], Style | None] = {}
        for kind, (name, shape) in _DEFAULTS.items():
            head = None if group is None else group.find(f"{name}TopicDefaultsGroup")
            self._heads[kind] = NO_LOOKS if head is None else looks_of(head, shape, "Default")
            found = [] if group is None else group.findall(f"{name}SubTopicDefaultsGroup")
            found.sort(key=lambda each: each.get("Level", "").zfill(3))
            self._below[kind] = [looks_of(each, SUBTOPIC_SHAPE, "Default") for each in found]
        # The default line colour of all levels is that of the central topic.
        line = self._heads[TopicKind.ATTACHED].get("LineColor")
        self._line = {"LineColor": line} if line else NO_LOOKS

    def apply(self, sheet: Sheet, own: Mapping[int, Looks]) -> None:
        """Set the styles of all topics of a sheet.

        Args:
            sheet: the sheet.
            own: style attributes set at the topics themselves, by the ``id()`` of the topic.
        """
        for level in levels(sheet):
            level.topic.style = self._style(self._at(level), own.get(id(level.topic), NO_LOOKS))

    def _at(self, level: Level) -> Looks:
        below = self._below[level.kind]
        if level.depth == 0:
            return self._heads[level.kind]
        return below[min(level.depth, len(below)) - 1] if below else NO_LOOKS

    def _style(self, defaults: Looks, own: Looks) -> Style | None:
        key = (id(defaults), id(own))
        if key not in self._styles:
            self._styles[key] = _style_of({**self._line, **defaults, **own})
        return self._styles[key]


SUBTOPIC_SHAPE: Final = "SubTopicShape"
_CALLOUT: Final = ("Callout", "CalloutFloatingTopicShape")
_DEFAULTS: Final = {
    TopicKind.ATTACHED: ("Root", SUBTOPIC_SHAPE),
    TopicKind.FLOATING: ("Label", "LabelFloatingTopicShape"),
    TopicKind.CALLOUT: _CALLOUT,
    TopicKind.SUMMARY: _CALLOUT,
}
"""By kind of tree: the prefix of its groups of defaults, and the element with the root's shape."""


def argb(text: str | None) -> str:
    """Return a colour of MindManager, empty if ``text`` is missing, invalid or transparent."""
    return colour(text, alpha_first=True) if text else ""


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        return 0.0
    return size if 0 < size < 1000 else 0.0


def rich_text(text: str, ranges: list[Element]) -> str:
    """Return ``text`` as HTML, empty if ``ranges`` set none of the formats in ``_RANGES``."""
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
