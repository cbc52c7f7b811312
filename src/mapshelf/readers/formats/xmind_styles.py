"""Convert topic styles of XMind, whose XML and JSON formats have the same properties.

A topic has the properties that the theme sets for its level, overridden by its own.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mapshelf.model import Sheet, Style, TopicKind
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.levels import Level, levels

Properties = Mapping[str, str]
"""Style properties by their names without prefix."""

NO_PROPERTIES: Final[Properties] = MappingProxyType({})

_NUMBER: Final = re.compile(r"\s*(\d{1,4}(?:\.\d{1,4})?)\s*(pt|px)?", re.ASCII)
_SHAPES: Final = {
    "rect": "rectangle",
    "roundedrect": "rounded",
    "ellipse": "ellipse",
    "circle": "ellipse",
    "ellipserect": "rounded",
    "stadium": "rounded",
    "capsule": "rounded",
    "underline": "underline",
    "doubleunderline": "underline",
    "diamond": "diamond",
    "hexagon": "hexagon",
    "roundedhexagon": "hexagon",
    "cloud": "cloud",
    "noborder": "none",
}
_OPEN: Final = frozenset({"none", "underline"})
"""Shapes without an outline."""

_LIGHTEST_BOLD: Final = 600
"""The lowest font weight that counts as bold."""

_POINTS: Final = 0.75
"""Points per pixel."""


class Theme:
    """The theme of a sheet: default properties of topics and lines.

    Attributes:
        background: background colour, empty if not set.
    """

    def __init__(self, families: Mapping[str, Properties] = MappingProxyType({})) -> None:
        """Use the properties in ``families``, by family: ``centralTopic``, ``boundary`` ..."""
        self._families = families
        whole = self.properties("map")
        self.background = colour(whole.get("fill"))
        colours = (colour(name) for name in whole.get("multi-line-colors", "").split())
        self._branch_colours = tuple(filter(None, colours))
        self._styles: dict[tuple[str, str, int], Style | None] = {}

    def properties(self, family: str) -> Properties:
        """Return the properties of a family."""
        return self._families.get(family, NO_PROPERTIES)

    def apply(self, sheet: Sheet, own: Mapping[int, Properties]) -> None:
        """Set the styles of all topics of a sheet.

        Args:
            sheet: the sheet.
            own: properties set at the topics themselves, by the ``id()`` of the topic. They must
                exist as long as the theme, which caches styles by the ``id()`` of the properties.
        """
        for level in levels(sheet):
            level.topic.style = self._style(level, own.get(id(level.topic), NO_PROPERTIES))

    def _style(self, level: Level, own: Properties) -> Style | None:
        family, line = _family(level), self._branch_colour(level)
        key = (family, line, id(own))
        if key not in self._styles:
            theme = self._theme_of(family) if self._families else {}
            if self._branch_colours:  # then lines have the colours of branches
                theme["line-color"] = line
            self._styles[key] = _style_of({**theme, **own})
        return self._styles[key]

    def _theme_of(self, family: str) -> dict[str, str]:
        theme = {**_SHAPE_OF.get(family, NO_PROPERTIES), **self.properties(family)}
        if _shape(theme) in _OPEN:
            theme.pop("border-line-color", None)
        return theme

    def _branch_colour(self, level: Level) -> str:
        if not self._branch_colours or level.kind is not TopicKind.ATTACHED or level.depth != 1:
            return ""
        return self._branch_colours[level.branch % len(self._branch_colours)]


def _family(level: Level) -> str:
    if level.depth == 0:
        return _FAMILIES[level.kind]
    central = level.kind is TopicKind.ATTACHED
    return "mainTopic" if central and level.depth == 1 else "subTopic"


_FAMILIES: Final = {
    TopicKind.ATTACHED: "centralTopic",
    TopicKind.FLOATING: "floatingTopic",
    TopicKind.SUMMARY: "summaryTopic",
    TopicKind.CALLOUT: "calloutTopic",
}


_SHAPE_OF: Final = {"subTopic": {"shape-class": "underline"}}
"""Default shapes, for themes that set none."""


def _style_of(properties: Properties) -> Style | None:
    """Return the style for ``properties``, ``None`` if they set nothing that a ``Style`` has."""
    get = properties.get
    style = Style(
        text=colour(get("color")),
        fill=colour(get("fill")),
        line=colour(get("line-color")),
        border=colour(get("border-line-color")),
        bold=_is_bold(get("font-weight", "")),
        italic=get("font-style") == "italic",
        size=_size(get("font-size", "")),
        shape=_shape(properties),
        line_width=_width(get("line-width", "")),
    )
    return style if style != _PLAIN else None


_PLAIN: Final = Style()


def _shape(properties: Properties) -> str:
    return _SHAPES.get(properties.get("shape-class", "").rpartition(".")[2].lower(), "")


def _is_bold(weight: str) -> bool:
    return weight == "bold" or (
        weight.isascii()
        and weight.isdecimal()
        and len(weight) < 5
        and int(weight) >= _LIGHTEST_BOLD
    )


def _size(text: str) -> float:
    found = _NUMBER.match(text)
    if found is None:
        return 0.0
    return float(found[1]) * (_POINTS if found[2] == "px" else 1.0)


def _width(text: str) -> float:
    found = _NUMBER.match(text)
    return float(found[1]) if found else 0.0
