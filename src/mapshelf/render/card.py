"""Draw the placeholder card of a map without an outline: its title, owner and category.

Records imported without a file have no outline, but lists show an image for each map. The card has
the colours of maps and a small sketch of a map, so that it does not look like an image that failed
to load.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from mapshelf.render import svg
from mapshelf.render.fonts import font
from mapshelf.render.layout_style import LINE_HEIGHT
from mapshelf.render.wrapping import wrapped
from mapshelf.writers.plain import one_line

_UNIT: Final = 320.0
"""The reference width for all other lengths in this module."""

_LEFT: Final = 26.0
_TEXT_WIDTH: Final = 268.0
_TITLE_SIZES: Final = (26.0, 22.0, 18.0)
_TITLE_LINES: Final = (2, 3, 4)
_SIZE: Final = 12.5

_SKETCH: Final = (
    "M232 46C256 46 252 26 276 26M232 46C256 46 254 46 282 46M232 46C256 46 252 66 276 66",
    "M232 46C212 46 214 32 196 32M232 46C212 46 214 60 196 60",
)
_LEAVES: Final = ((276, 26), (282, 46), (276, 66), (196, 32), (196, 60))


def drawn(title: str, facts: Sequence[str], frame: svg.Frame, style: svg.Style) -> Iterable[str]:
    """Yield the SVG of a card.

    Args:
        title: the title of the map.
        facts: text shown at the bottom; blank ones are left out.
        frame: the size of the picture.
        style: how to draw it.
    """
    scale = frame.width / _UNIT
    height = frame.height / scale
    title = one_line(title)
    colour = _colour(title, style)
    yield f'<g transform="scale({scale:.4f})">\n'
    yield (
        f'<rect width="{svg.number(_UNIT)}" height="{svg.number(height)}" fill="{colour}"'
        ' fill-opacity="0.08"/>\n'
        f'<rect width="6" height="{svg.number(height)}" fill="{colour}"/>\n'
    )
    yield from _sketch(colour)
    yield from _title(title, height, style)
    yield from _facts([one_line(fact) for fact in facts if fact.strip()], height, style)
    yield "</g>\n"


def _colour(title: str, style: svg.Style) -> str:
    digest = hashlib.blake2b(title.encode(), digest_size=2).digest()
    branches = style.theme.branches
    return branches[int.from_bytes(digest, "big") % len(branches)]


def _sketch(colour: str) -> Iterable[str]:
    lines = "".join(f'<path d="{path}"/>' for path in _SKETCH)
    leaves = "".join(f'<circle cx="{x}" cy="{y}" r="4.5"/>' for x, y in _LEAVES)
    yield (
        f'<g fill="none" stroke="{colour}" stroke-width="2.2" stroke-opacity="0.7">{lines}</g>\n'
        f'<g fill="{colour}">{leaves}<rect x="219" y="38.5" width="26" height="15" rx="7.5"/></g>\n'
    )


def _title(title: str, height: float, style: svg.Style) -> Iterable[str]:
    """Yield the title in the largest font size at which it fits, or cut in the smallest."""
    bold = font(bold=True)
    for size, most in zip(_TITLE_SIZES, _TITLE_LINES, strict=True):
        lines = wrapped(title, bold, _TEXT_WIDTH / size, most)
        if not lines or not lines[-1].text.endswith("…"):
            break
    top = height * 0.56 - len(lines) * size * LINE_HEIGHT / 2
    look = f' fill="{style.theme.text}" font-weight="600"'
    for row, line in enumerate(lines):
        y = top + (row + 0.8) * size * LINE_HEIGHT
        yield svg.text_line(line.text, svg.Place(_LEFT, y, line.width * size), size, style, look)


def _facts(facts: Sequence[str], height: float, style: svg.Style) -> Iterable[str]:
    regular = font(bold=False)
    lines = wrapped(" · ".join(facts), regular, _TEXT_WIDTH / _SIZE, 1)
    for line in lines:
        place = svg.Place(_LEFT, height - 22, line.width * _SIZE)
        yield svg.text_line(line.text, place, _SIZE, style, f' fill="{style.theme.quiet}"')
