"""Draw the content of a topic's box besides its text: icons, tags, details, images and more."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Final

from mapshelf.render.contents import CELL_HEIGHT, CELL_PADDING, Piece
from mapshelf.render.contrast import legible
from mapshelf.render.fonts import font
from mapshelf.render.formula_drawing import UNITS
from mapshelf.render.glyphs import BOX, COLOURS, EDGE, EDGED, glyph, mark
from mapshelf.render.layout_style import LINE_HEIGHT
from mapshelf.render.nodes import Node
from mapshelf.render.svg import Place, Style, number, text_line
from mapshelf.render.topic_colours import TopicColours

_PLATE: Final = 0.58
"""Radius of the disc behind an icon on a coloured box, in heights of the icon."""


def piece(one: Piece, node: Node, colours: TopicColours, style: Style) -> str:
    """Return one element of a topic's box as SVG."""
    one = one._replace(x=one.x + node.left, y=one.y + node.y)
    if one.kind == "image":
        return _image(one, style)
    return _DRAWN[one.kind](one, colours, style)


def _glyph(one: Piece, colours: TopicColours, style: Style) -> str:
    found = glyph(one.name)
    assert found is not None, one.name
    drawn = ""
    if colours.fill and colours.fill != style.theme.ground:
        drawn = (
            f'<circle cx="{number(one.x + one.width / 2)}" cy="{number(one.y + one.height / 2)}"'
            f' r="{number(_PLATE * one.height)}" fill="{style.theme.ground}"/>\n'
        )
    look = f' fill="{COLOURS[found.colour]}"'
    if found.colour in EDGED:
        look += f' stroke="{EDGE}" stroke-width="0.8"'
    drawn += _shape(found.path, one, look)
    if found.text:
        size = 0.42 * one.height
        place = Place(one.x, one.y + 0.76 * one.height, one.width, "middle")
        fill = f' fill="{style.theme.text}"'
        drawn += text_line(found.text, _narrow(place, found.text, size), size, style, fill)
    return drawn


def _narrow(place: Place, text: str, size: float) -> Place:
    """Return the middle part of a place, as wide as ``text`` if it consists of digits."""
    width = 0.57 * size * len(text)
    return place._replace(x=place.x + (place.width - width) / 2, width=width)


def _shape(path: str, one: Piece, look: str) -> str:
    scale = one.height / BOX
    return (
        f'<path transform="translate({number(one.x)} {number(one.y)}) scale({scale:.4f})"'
        f' d="{path}"{look}/>\n'
    )


def _emoji(one: Piece, _: TopicColours, style: Style) -> str:
    runs = style.choose_fonts(one.name).runs
    if not any(run.text.strip() for run in runs):
        x, y = one.x + one.width / 2, one.y + one.height / 2
        return (
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(one.height / 5)}"'
            f' fill="{COLOURS["grey"]}"/>\n'
        )
    size = one.height / 1.2
    place = Place(one.x, one.y + 0.78 * one.height, one.width)
    return text_line(one.name, place, size, style, f' fill="{style.theme.text}"')


def _tag(one: Piece, colours: TopicColours, style: Style) -> str:
    ground = colours.fill or style.theme.ground
    text = legible(style.theme.text, ground)
    size = one.height / 1.45
    return (
        f'<rect x="{number(one.x)}" y="{number(one.y)}" width="{number(one.width)}"'
        f' height="{number(one.height)}" rx="{number(one.height / 2)}" fill="none"'
        f' stroke="{text}" stroke-opacity="0.45" stroke-width="0.9"/>\n'
    ) + text_line(
        one.name,
        Place(one.x + 5, one.y + 0.74 * one.height, one.width - 10, "middle"),
        size,
        style,
        f' fill="{text}"',
    )


def _mark(one: Piece, colours: TopicColours, style: Style) -> str:
    ground = colours.fill or style.theme.ground
    return _shape(mark(one.name), one, f' fill="{legible(style.theme.quiet, ground)}"')


def _subtext(one: Piece, colours: TopicColours, style: Style) -> str:
    place = Place(one.x, one.y + 0.74 * one.height, one.width, "middle")
    return text_line(one.name, place, one.height / LINE_HEIGHT, style, f' fill="{colours.text}"')


def _cell(one: Piece, colours: TopicColours, style: Style) -> str:
    text = legible(style.theme.text, colours.fill or style.theme.ground)
    size = one.height / CELL_HEIGHT
    width = font(bold=False).width(one.name) * size
    place = Place(one.x + CELL_PADDING, one.y + 0.69 * one.height, width)
    return (
        f'<rect x="{number(one.x)}" y="{number(one.y)}" width="{number(one.width)}"'
        f' height="{number(one.height)}" fill="none" stroke="{text}" stroke-opacity="0.45"'
        ' stroke-width="0.9"/>\n'
    ) + text_line(one.name, place, size, style, f' fill="{text}"')


def _formula(one: Piece, colours: TopicColours, style: Style) -> str:
    drawing = style.formulas[one.name]
    scale = one.height / drawing.height / UNITS
    return (
        f'<path transform="translate({number(one.x)} {number(one.y)}) scale({scale:.5f})"'
        f' d="{drawing.path}" fill="{colours.text}"/>\n'
    )


def _image(one: Piece, style: Style) -> str:
    place = (
        f' x="{number(one.x)}" y="{number(one.y)}" width="{number(one.width)}"'
        f' height="{number(one.height)}"'
    )
    png = style.pictures.get(one.name)
    if png:
        return f'<image{place} href="data:image/png;base64,{b64encode(png).decode()}"/>\n'
    quiet = style.theme.quiet
    drawn = (
        f'<rect{place} rx="2" fill="{quiet}" fill-opacity="0.1" stroke="{quiet}"'
        ' stroke-opacity="0.5" stroke-width="0.8"/>\n'
    )
    size = min(18.0, 0.6 * one.width, 0.6 * one.height)
    middle = Piece(
        "mark",
        "image",
        one.x + (one.width - size) / 2,
        one.y + (one.height - size) / 2,
        size,
        size,
    )
    found = glyph("image")
    assert found is not None
    return drawn + _shape(found.path, middle, f' fill="{quiet}" fill-opacity="0.6"')


_DRAWN: Final[Mapping[str, Callable[[Piece, TopicColours, Style], str]]] = {
    "glyph": _glyph,
    "emoji": _emoji,
    "mark": _mark,
    "subtext": _subtext,
    "cell": _cell,
    "tag": _tag,
    "formula": _formula,
}
"""Draws each kind of piece, except images."""
