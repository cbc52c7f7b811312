"""Scales, markers and labels of our plots, as SVG without a plotting library, which would be large.

The background is white and the text dark, so a plot is readable on light and on dark pages.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

COLOURS: Final = ("#d55e00", "#0072b2", "#009e73", "#b0609a", "#8a6d00", "#555555")
"""Colours that colour-blind people can distinguish, too (after Okabe and Ito)."""

INK: Final = "#333333"
FAINT: Final = "#e2e2e2"

Scale = Callable[[float], float]
Point = tuple[float, float]


def picture(width: float, height: float, title: str, lines: Iterable[str]) -> str:
    """Return a complete SVG document."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="12">'
    )
    ground = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    return "\n".join((head, f"<title>{escape(title)}</title>", ground, *lines, "</svg>")) + "\n"


def decades(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten that enclose the values."""
    logarithms = [math.log10(value) for value in values if value > 0] or [0.0]
    low, high = math.floor(min(logarithms)), math.ceil(max(logarithms))
    return 10.0**low, 10.0 ** max(high, low + 1)


def ticks(low: float, high: float) -> Iterable[float]:
    """Return the powers of ten from ``low`` to ``high``."""
    first, last = round(math.log10(low)), round(math.log10(high))
    return (10.0**power for power in range(first, last + 1))


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    """Return a logarithmic scale, which maps ``low`` to ``start`` and ``high`` to ``end``."""
    span = math.log10(high / low)
    return lambda value: start + (end - start) * math.log10(value / low) / span


def line(start: Point, end: Point, colour: str = FAINT) -> str:
    """Return a line: of the grid by default, or of a series in its colour."""
    width = 1 if colour == FAINT else 2
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
        f' stroke="{colour}" stroke-width="{width}"/>'
    )


def grid(
    counts: Sequence[int], values: Sequence[float], corner: Point, size: Point
) -> tuple[Callable[[Point], Point], list[str]]:
    """Return the scale of a panel (from a number of maps and a figure to a point) and its grid.

    Args:
        counts: the numbers of maps, ascending.
        values: all figures.
        corner: the upper left corner.
        size: the width and the height.
    """
    (left, top), (width, height) = corner, size
    right, bottom = left + width, top + height
    low, high = decades(values)
    across = logarithmic(counts[0] / 1.6, counts[-1] * 1.6, left, right)
    up = logarithmic(low, high, bottom, top)
    drawn = []
    for tick in ticks(low, high):
        drawn.append(line((left, up(tick)), (right, up(tick))))
        drawn.append(text(left - 6, up(tick) + 4, f"{tick:,g}", "end"))
    for maps in counts:
        drawn.append(line((across(maps), top), (across(maps), bottom)))
        drawn.append(text(across(maps), bottom + 18, f"{maps:,}", "middle"))
    drawn.append(text(left + width / 2, bottom + 36, "maps", "middle"))
    return lambda point: (across(point[0]), up(point[1])), drawn


def lines(points: Iterable[tuple[Point, str]], colour: str) -> Iterator[str]:
    """Yield lines between neighbours measured on the same day; others are not comparable."""
    for (start, day), (end, other) in pairwise(points):
        if day == other:
            yield line(start, end, colour)


def text(x: float, y: float, words: str, anchor: str, *, bold: bool = False) -> str:
    """Return a line of text; ``anchor`` is ``start``, ``middle`` or ``end``."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}"{weight}>'
        f"{escape(words)}</text>"
    )


def marker(number: int, x: float, y: float) -> str:
    """Return the marker of a series; each number has its own shape and colour."""
    colour = COLOURS[number]
    style = f'fill="{colour}" stroke="#ffffff" stroke-width="1"'
    match number:
        case 0:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" {style}/>'
        case 1:
            return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
        case 2:
            return f'<path d="M{x:.1f} {y - 7:.1f}l6.5 12h-13z" {style}/>'
        case 3:
            return f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z" {style}/>'
        case 4:
            return f'<path d="M{x:.1f} {y + 7:.1f}l6.5 -12h-13z" {style}/>'
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#ffffff" stroke="{colour}"'
        ' stroke-width="2"/>'
    )


def legend(names: Iterable[tuple[int, str]], x: float, y: float) -> Iterator[str]:
    """Yield the legend; ``names`` are the number and the name of each series."""
    for number, name in names:
        yield marker(number, x + 6, y - 4)
        yield text(x + 18, y, name, "start")
        x += 46 + 7 * len(name)
