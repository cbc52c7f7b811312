"""Write topic styles as FreeMind and Freeplane do: as attributes and elements of the node."""

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
"""The shapes of both programs. FreeMind supports only bubbles and forks, and falls back to forks.
"""

_USUAL_SIZE: Final = 12
"""Default font size in points. FreeMind shows no text if a font has no size."""


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
    if style.line or style.line_width or style.line_hidden:
        hidden = ' STYLE="hide_edge"' * style.line_hidden
        width = f' WIDTH="{max(1, round(style.line_width))}"' if style.line_width else ""
        elements += f"<edge{hidden}{_colour('COLOR', style.line)}{width}/>\n"
    if style.bold or style.italic or style.size:
        bold = ' BOLD="true"' * style.bold + ' ITALIC="true"' * style.italic
        size = max(1, round(style.size)) if style.size else _USUAL_SIZE
        elements += f'<font{bold} NAME="SansSerif" SIZE="{size}"/>\n'
    return elements


def _colour(name: str, value: str) -> str:
    return attribute(name, value) if value else ""
