"""Convert a formula to a single SVG path, from the SVG that mathra typesets.

mathra defines each glyph once in its SVG and references it. This module merges every glyph, line
and rectangle into one path. The path gets the colour of the surrounding text, needs no ids, and
nothing else of the SVG is carried over. A formula with any other element is not drawn.

Coordinates are whole thousandths of a font size. They are relative to the end of the previous
segment, which makes the path a third shorter.
"""

import re
from collections.abc import Iterable, Iterator
from math import hypot, isfinite
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

import mathra

from mapshelf.errors import UnreadableFile
from mapshelf.panics import is_panic
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import parse_xml
from mapshelf.render.formula_drawing import UNITS, FormulaDrawing
from mapshelf.render.formula_source import plain_latex

LARGEST: Final = 200.0
"""Maximum width and height in font sizes: a larger formula is little more than empty space."""

_MOST_POINTS: Final = 50_000

_WORK_IN_VAIN: Final = 100_000
"""Work to count for a formula that turns out late not to be drawable: as much as for the path with
the most points."""

_UNSOUND: Final = re.compile(r"\\(?:chemfig|schemestart)(?![A-Za-z])")
"""Commands for chemical structures: mathra 1.5 panics on invalid ones, which would fill the log."""

_PART: Final = re.compile(r"([MLCZ])|(-?\d+(?:\.\d+)?)")
_PLACE: Final = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")
_POINTS: Final = {"M": 1, "L": 1, "C": 3, "Z": 0}
"""Number of points after each path command; mathra writes no other commands."""

Point = tuple[float, float]
Step = tuple[str, list[Point]]


class _NotDrawn(Exception):
    """The SVG cannot become one path: an element is not supported, or it is too large."""


class _Place(NamedTuple):
    """The position and scale of a glyph."""

    x: float
    y: float
    scale: float

    def of(self, point: Point) -> Point:
        return self.x + self.scale * point[0], self.y + self.scale * point[1]


def drawn(formula: str) -> tuple[FormulaDrawing | None, int]:
    """Return a formula as a path, and the work for it.

    The path is ``None`` if any part of the formula cannot be drawn. The work is in characters of
    the SVG and of the path.
    """
    source = plain_latex(formula)
    svg = "" if _UNSOUND.search(source) else _svg(source)
    if not svg:
        return None, 0
    try:
        drawing = _drawing(parse_xml(svg, Limits()))
    except (_NotDrawn, UnreadableFile, ValueError, LookupError):
        return None, len(svg) + _WORK_IN_VAIN
    return drawing, len(svg) + len(drawing.path)


def _svg(source: str) -> str:
    """Return the SVG from mathra, empty if it fails or does not know a command or a letter."""
    try:
        made = mathra.render(source)
    except ValueError:  # nested too deep, for instance
        return ""
    except BaseException as error:
        if not is_panic(error):
            raise
        return ""
    return "" if made["warnings"] else str(made["svg"])


def _drawing(root: Element) -> FormulaDrawing:
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    if not (0 < width <= LARGEST * UNITS and 0 < height <= LARGEST * UNITS):
        raise _NotDrawn
    path = _written(_steps(root), left, top)
    return FormulaDrawing(width / UNITS, height / UNITS, path)


def _steps(root: Element) -> Iterator[Step]:
    """Yield the segments of the path; here, y increases upwards."""
    glyphs = {glyph.attrib["id"]: [*_outline(glyph)] for glyph in root.findall("defs/path")}
    group = root.find("g")
    if group is None or group.get("transform") != "scale(1,-1)":
        raise _NotDrawn
    for part in group:
        yield from _part(part, glyphs)


def _part(part: Element, glyphs: dict[str, list[Step]]) -> Iterable[Step]:
    match part.tag:
        case "use":
            place = _place(part)
            glyph = glyphs[part.attrib["href"].removeprefix("#")]
            return [(command, [*map(place.of, points)]) for command, points in glyph]
        case "path":
            return _outline(part)
        case "rect":
            # A rectangle with a fill colour is a background, which is left out.
            return [] if "fill" in part.attrib else _rectangle(part)
        case "line":
            return _line(part)
        case _:
            raise _NotDrawn


def _outline(path: Element) -> Iterator[Step]:
    """Yield the segments of a path element from mathra."""
    if path.attrib.keys() - {"id", "d"}:
        raise _NotDrawn
    data = path.attrib["d"]
    if _PART.sub("", data).strip():
        raise _NotDrawn
    parts = iter(_PART.findall(data))
    for command, _ in parts:
        numbers = [float(next(parts)[1]) for _ in range(2 * _POINTS[command])]
        yield command, [*zip(numbers[::2], numbers[1::2], strict=True)]


def _place(use: Element) -> _Place:
    if "transform" in use.attrib:
        found = _PLACE.fullmatch(use.attrib["transform"])
        if not found:
            raise _NotDrawn
        return _Place(float(found[1]), float(found[2]), float(found[3]))
    return _Place(float(use.get("x", "0")), float(use.get("y", "0")), 1.0)


def _rectangle(rect: Element) -> Iterable[Step]:
    x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
    return _polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def _line(line: Element) -> Iterable[Step]:
    x1, y1, x2, y2 = (float(line.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
    half = float(line.attrib["stroke-width"]) / 2
    length = hypot(x2 - x1, y2 - y1) or 1.0
    across, up = half * (y1 - y2) / length, half * (x2 - x1) / length
    below = [(x1 - across, y1 - up), (x2 - across, y2 - up)]
    above = [(x2 + across, y2 + up), (x1 + across, y1 + up)]
    return _polygon(below + above)


def _polygon(corners: list[Point]) -> Iterable[Step]:
    """Return the segments of a polygon.

    Its winding direction is that of the glyphs; otherwise it would be cut out of them.
    """
    first, *others = corners
    return [("M", [first]), *(("L", [corner]) for corner in others), ("Z", [])]


def _written(steps: Iterable[Step], left: float, top: float) -> str:
    """Return SVG path data, relative to the upper left corner; y increases downwards.

    Raises:
        _NotDrawn: there are more than ``_MOST_POINTS``.
    """
    written: list[str] = []
    at = start = (0, 0)
    points_left = _MOST_POINTS
    for command, points in steps:
        points_left -= len(points)
        if points_left < 0:
            raise _NotDrawn
        whole = [_whole(x - left, -y - top) for x, y in points]
        written.append(command.lower() + " ".join(f"{x - at[0]} {y - at[1]}" for x, y in whole))
        at = whole[-1] if whole else start
        if command == "M":
            start = at
    return "".join(written).replace(" -", "-")


def _whole(x: float, y: float) -> tuple[int, int]:
    if not (isfinite(x) and isfinite(y)):
        raise _NotDrawn
    return round(x), round(y)
