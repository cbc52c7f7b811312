"""The picture of the peers: written as SVG by hand, for a plotting library is a large dependency.

A panel for each size shows the median answer to each kind of question, and a last one how the
throughput on the mixed load falls with the size. All scales are logarithmic. Peers differ in shape
as well as in colour.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any, Final

from benchmarks.peers.questions import WEIGHTS
from benchmarks.peers.report import NAMES, TITLES
from benchmarks.tables import Sizes, count, label

COLOURS: Final = {
    "Mapshelf": "#d55e00",
    "SQLite FTS5": "#0072b2",
    "PostgreSQL": "#009e73",
    "Datasette": "#b0609a",
    "Tantivy": "#555555",
}
"""Told apart by colour-blind people too (after Okabe and Ito)."""

ROWS: Final = (*WEIGHTS, "mixed")
WIDTH: Final = 260
ROW: Final = 26
LEFT: Final = 100
GAP: Final = 48
TOP: Final = 78
HEIGHT: Final = ROW * len(ROWS)
INK: Final = "#333333"
FAINT: Final = "#e2e2e2"

Scale = Callable[[float], float]
Point = tuple[float, float]


def drawn(sizes: Sizes) -> str:
    """Return the picture."""
    panels = len(sizes) + 1
    # The scale of the last panel is written into the gap before it.
    width = LEFT + panels * (WIDTH + GAP) + GAP
    height = TOP + HEIGHT + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        "<title>Search in each system: median latency, and throughput on the mixed load</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(sizes),
        *_kinds(),
        *_latencies(sizes),
        *_throughput(sizes, LEFT + len(sizes) * (WIDTH + GAP) + GAP),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend(sizes: Sizes) -> Iterator[str]:
    x = float(LEFT)
    for name in _named(sizes):
        title = TITLES.get(name, name)
        yield _mark(name, x + 6, 20)
        yield _text(x + 18, 24, title, "start")
        x += 46 + 7 * len(title)


def _kinds() -> Iterator[str]:
    for number, kind in enumerate(ROWS):
        yield _text(LEFT - 10, _row(number) + 4, label(kind), "end")


def _latencies(sizes: Sizes) -> Iterator[str]:
    """Yield a panel for each size: a row for each kind of question, a mark for each peer."""
    values = [p50 for results in sizes.values() for _, _, p50 in _medians(results)]
    low, high = _decades(values)
    for column, (size, results) in enumerate(sizes.items()):
        left = LEFT + column * (WIDTH + GAP)
        scale = _scale(low, high, left, left + WIDTH)
        yield _text(left, TOP - 24, f"{count(size)} maps: median latency, ms", "start", bold=True)
        for tick in _ticks(low, high):
            yield _line((scale(tick), TOP), (scale(tick), TOP + HEIGHT))
            yield _text(scale(tick), TOP + HEIGHT + 18, f"{tick:g}", "middle")
        for number in range(len(ROWS)):
            yield _line((left, _row(number)), (left + WIDTH, _row(number)))
        # Ours last, so that no other mark hides it.
        for name, number, p50 in reversed(list(_medians(results))):
            yield _mark(name, scale(p50), _row(number))


def _medians(results: dict[str, Any]) -> Iterator[tuple[str, int, float]]:
    for name in NAMES:
        for number, kind in enumerate(ROWS):
            case = results.get(name, {}).get("cases", {}).get(kind, {})
            # Who finds nothing where there is something has not answered.
            if "p50" in case and not (kind == "typo" and not case["maps"]):
                yield name, number, case["p50"]


def _throughput(sizes: Sizes, left: float) -> Iterator[str]:
    """Yield the panel of throughput against size."""
    series = {name: list(_mixed(sizes, name)) for name in _named(sizes)}
    values = [value for points in series.values() for _, value in points]
    if not values:
        return
    low, high = _decades(values)
    counts = [int(size) for size in sizes]
    across = _scale(min(counts) / 1.6, max(counts) * 1.6, left, left + WIDTH)
    up = _scale(low, high, TOP + HEIGHT, TOP)
    yield _text(left, TOP - 24, "mixed load: searches per second", "start", bold=True)
    for tick in _ticks(low, high):
        yield _line((left, up(tick)), (left + WIDTH, up(tick)))
        yield _text(left - 6, up(tick) + 4, f"{tick:,g}", "end")
    for maps in counts:
        yield _line((across(maps), TOP), (across(maps), TOP + HEIGHT))
        yield _text(across(maps), TOP + HEIGHT + 18, f"{maps:,}", "middle")
    yield _text(left + WIDTH / 2, TOP + HEIGHT + 36, "maps", "middle")
    for name in reversed(series):
        places = [(across(maps), up(value)) for maps, value in series[name]]
        yield from (_line(*ends, COLOURS[name]) for ends in pairwise(places))
        yield from (_mark(name, *place) for place in places)


def _mixed(sizes: Sizes, name: str) -> Iterator[tuple[int, float]]:
    for size, results in sizes.items():
        found = results.get(name, {}).get("cases", {}).get("mixed", {})
        if found.get("requests_per_second"):
            yield int(size), found["requests_per_second"]


def _named(sizes: Sizes) -> list[str]:
    return [name for name in NAMES if any(name in results for results in sizes.values())]


def _row(number: int) -> float:
    return TOP + (number + 0.5) * ROW


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten that the values lie between."""
    logarithms = [math.log10(value) for value in values if value > 0] or [0.0]
    low, high = math.floor(min(logarithms)), math.ceil(max(logarithms))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _ticks(low: float, high: float) -> Iterable[float]:
    first, last = round(math.log10(low)), round(math.log10(high))
    return (10.0**power for power in range(first, last + 1))


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return where a value lies between two ends, by its logarithm."""
    span = math.log10(high / low)
    return lambda value: start + (end - start) * math.log10(value / low) / span


def _mark(name: str, x: float, y: float) -> str:
    """Return the mark of a peer: a shape of its own, the engine's hollow."""
    colour = COLOURS[name]
    style = f'fill="{colour}" stroke="#ffffff" stroke-width="1"'
    match name:
        case "Mapshelf":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" {style}/>'
        case "SQLite FTS5":
            return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
        case "PostgreSQL":
            return f'<path d="M{x:.1f} {y - 7:.1f}l6.5 12h-13z" {style}/>'
        case "Datasette":
            return f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z" {style}/>'
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#ffffff" stroke="{colour}"'
        ' stroke-width="2"/>'
    )


def _line(start: Point, end: Point, colour: str = FAINT) -> str:
    width = 1 if colour == FAINT else 2
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
        f' stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}"{weight}>'
        f"{escape(text)}</text>"
    )
