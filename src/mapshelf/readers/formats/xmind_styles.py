"""How topics look in XMind: both kinds of file use the same properties, one as XML, one as JSON."""

import re
from collections.abc import Mapping
from typing import Final

from mapshelf.model import Style
from mapshelf.readers.parsing.colours import colour

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
_LIGHTEST_BOLD: Final = 600
"""From here on, a weight of letters is called bold."""

_POINTS: Final = 0.75
"""Points of a pixel."""


def style_of(properties: Mapping[str, str]) -> Style | None:
    """Return the style that ``properties`` set, ``None`` if they set nothing we know.

    Args:
        properties: names, without prefix, and values.
    """
    get = properties.get
    style = Style(
        text=colour(get("color")),
        fill=colour(get("fill")),
        line=colour(get("line-color")),
        border=colour(get("border-line-color")),
        bold=_is_bold(get("font-weight", "")),
        italic=get("font-style") == "italic",
        size=_size(get("font-size", "")),
        shape=_SHAPES.get(get("shape-class", "").rpartition(".")[2].lower(), ""),
        line_width=_width(get("line-width", "")),
    )
    return style if style != _PLAIN else None


_PLAIN: Final = Style()


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
