"""Read topic styles of FreeMind and Freeplane: from the node itself, or from a named style.

Freeplane stores styles in the map, as ``stylenode`` elements below the first hook ``MapStyle``.
A topic refers to one of them by name, or gets one by its level if automatic layout is on. The
topic's own properties take precedence. The default styles of the map are ignored, because nearly
every file has those of the same few templates; only numbers and the kinds of lines are taken from
them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Style, Topic
from mapshelf.readers.parsing.colours import colour

Parts = Mapping[str, list[Element]]
"""The elements inside a node by tag, without the child nodes."""

_SHAPES: Final = {
    "bubble": "rounded",
    "fork": "underline",
    "narrow_hexagon": "hexagon",
    "oval": "ellipse",
    "rectangle": "rectangle",
    "rounded_rectangle": "rounded",
    "wide_hexagon": "hexagon",
}
_NUMBER: Final = re.compile(r"\s*(\d{1,4}(?:\.\d{1,20})?)", re.ASCII)
_AUTOMATIC: Final = "accessories/plugins/AutomaticLayout.properties"
_NO_ATTRIBUTES: Final[Mapping[str, str]] = {}
_HIDDEN: Final = "hide_edge"
_DEFAULT: Final = "default"

Look = tuple[str | None, ...]
"""The raw properties of an element, in the order of ``_look``."""


class Styles:
    """The styles of one map.

    Attributes:
        background: background colour of the map, as written in the file.
    """

    def __init__(self, document: Element) -> None:
        self.background = ""
        self._named: dict[str, Element] = {}
        self._levels: dict[Element, str] = {}
        self._made: dict[tuple[Look, str | None], Style | None] = {}
        for hook in document.findall("node/hook"):
            if hook.get("NAME") == "MapStyle":
                self.background = hook.get("background", "")
                self._take(hook)
            elif hook.get("NAME") == _AUTOMATIC:
                self._levels = _levels(document)

    def named(self, node: Element) -> Element | None:
        """Return the named style of a topic, ``None`` if it has none."""
        own = node.attrib
        name = own.get("STYLE_REF") or own.get("LOCALIZED_STYLE_REF")
        return self._named.get(name) if name else None

    def look(self, node: Element, parts: Parts) -> Style | None:
        """Return the style of a topic, ``None`` if nothing is set."""
        style = self._style(node)
        own = _look(node, parts)
        key = (own, None if style is None else _name(style))
        if key not in self._made:
            self._made[key] = _style(own, style)
        return self._made[key]

    def is_numbered(self, node: Element) -> bool:
        """Return whether Freeplane shows an automatic number before the text of a topic."""
        return self._first(node, lambda one: one.get("NUMBERED")) == "true"

    def edge(self, node: Element) -> str:
        """Return the kind of the line to a topic, empty if it is that of its parent."""
        return self._first(node, _edge)

    def _first(self, node: Element, value_of: Callable[[Element], str | None]) -> str:
        """Return the value that is set first: by the node, by its style, or by the default one."""
        sources = (node, self._style(node), self._named.get(_DEFAULT))
        values = (value_of(one) for one in sources if one is not None)
        return next(filter(None, values), "")

    def _style(self, node: Element) -> Element | None:
        """Return the style of a topic, by name or by its level."""
        style = self.named(node)
        if style is None and self._levels:
            style = self._named.get(self._levels.get(node, ""))
        return style

    def _take(self, hook: Element) -> None:
        for style in hook.iter("stylenode"):
            if name := _name(style):
                self._named.setdefault(name, style)


def hide_lines(
    centres: Iterable[Element], styles: Styles, topic_of: Callable[[Element], Topic | None]
) -> None:
    """Mark the topics without a line to their parents; they pass this on to their descendants.

    Args:
        centres: the nodes of the central topics.
        styles: the styles of the map.
        topic_of: returns the topic of a node, ``None`` if it has none.
    """
    pending = [(node, False) for node in centres]
    while pending:
        node, hidden = pending.pop()
        edge = styles.edge(node)
        hidden = edge == _HIDDEN if edge else hidden
        topic = topic_of(node) if hidden else None
        if topic:
            topic.style = replace(topic.style or Style(), line_hidden=True)
        pending.extend((child, hidden) for child in node.findall("node"))


def parts_of(node: Element) -> dict[str, list[Element]]:
    """Return the elements inside ``node`` by tag, without the child nodes."""
    parts: dict[str, list[Element]] = {}
    for part in node:
        if part.tag not in ("node", "stylenode"):
            parts.setdefault(part.tag, []).append(part)
    return parts


def _name(style: Element) -> str:
    return style.get("TEXT", "") or style.get("LOCALIZED_TEXT", "")


def _edge(node: Element) -> str | None:
    edge = node.find("edge")
    return None if edge is None else edge.get("STYLE")


def _levels(document: Element) -> dict[Element, str]:
    """Return the style of each topic by its level, as automatic layout assigns them."""
    found: dict[Element, str] = {}
    level, name = document.findall("node"), "AutomaticLayout.level.root"
    number = 0
    while level:
        found.update(dict.fromkeys(level, name))
        level = [child for node in level for child in node.findall("node")]
        number += 1
        name = f"AutomaticLayout.level,{number}"
    return found


def _look(node: Element, parts: Parts) -> Look:
    own = node.attrib
    edge = parts["edge"][0].attrib if "edge" in parts else _NO_ATTRIBUTES
    font = parts["font"][0].attrib if "font" in parts else _NO_ATTRIBUTES
    return (
        own.get("COLOR"),
        own.get("BACKGROUND_COLOR"),
        own.get("BORDER_COLOR"),
        own.get("STYLE"),
        own.get("SHAPE"),
        edge.get("COLOR"),
        edge.get("WIDTH"),
        font.get("BOLD"),
        font.get("ITALIC"),
        font.get("SIZE"),
    )


def _style(own: Look, style: Element | None) -> Style | None:
    if style is not None:
        given = _look(style, parts_of(style))
        own = tuple(mine or theirs for mine, theirs in zip(own, given, strict=True))
    text, fill, border, style_shape, shape, line, width, bold, italic, size = own
    made = Style(
        text=colour(text),
        fill=colour(fill),
        line=colour(line),
        border=colour(border),
        bold=bold == "true",
        italic=italic == "true",
        size=_number(size),
        shape=_SHAPES.get(shape or style_shape or "", ""),
        line_width=1.0 if width == "thin" else _number(width),
    )
    return made if made != Style() else None


def _number(text: str | None) -> float:
    found = _NUMBER.match(text or "")
    return float(found[1]) if found else 0.0
