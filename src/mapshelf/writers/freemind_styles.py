"""How a topic looks, as FreeMind and Freeplane write it: attributes and elements of its node."""

from typing import Final

from mapshelf.model import Style
from mapshelf.writers.markup import attribute

_SHAPES: Final = {
    "rectangle": "rectangle",
    "rounded": "bubble",
    "ellipse": "oval",
    "underline": "fork",
    "hexagon": "wide_hexagon",
}
"""The two programs have no others. FreeMind only knows bubbles and forks, and shows a fork."""

_USUAL_SIZE: Final = 12
"""Points. FreeMind shows no letters at all if it finds a font without a size."""


def look_attributes(style: Style) -> str:
    """Return the attributes of a node for a style."""
    attributes = _colour("COLOR", style.text) + _colour("BACKGROUND_COLOR", style.fill)
    if style.border:
        attributes += attribute("BORDER_COLOR", style.border)
        attributes += ' BORDER_COLOR_LIKE_EDGE="false"'
    shape = _SHAPES.get(style.shape, "")
    return attributes + (attribute("STYLE", shape) if shape else "")


def look_elements(style: Style) -> str:
    """Return the elements of a node for a style."""
    elements = ""
    if style.line or style.line_width:
        width = f' WIDTH="{max(1, round(style.line_width))}"' if style.line_width else ""
        elements += f"<edge{_colour('COLOR', style.line)}{width}/>\n"
    if style.bold or style.italic or style.size:
        bold = ' BOLD="true"' * style.bold + ' ITALIC="true"' * style.italic
        size = max(1, round(style.size)) if style.size else _USUAL_SIZE
        elements += f'<font{bold} NAME="SansSerif" SIZE="{size}"/>\n'
    return elements


def _colour(name: str, value: str) -> str:
    return attribute(name, value) if value else ""
