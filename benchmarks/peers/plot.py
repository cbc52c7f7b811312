"""The plot of the peers: a panel for each size, and one for throughput against size.

The panel of a size shows the median latency of each kind of search. The last panel shows the
throughput on the mixed load, with lines between figures of the same day. All scales are
logarithmic. The markers of peers differ in shape as well as in colour.
"""

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.charts import (
    COLOURS,
    decades,
    grid,
    legend,
    line,
    lines,
    logarithmic,
    marker,
    picture,
    text,
    ticks,
)
from benchmarks.peers.questions import WEIGHTS
from benchmarks.peers.report import NAMES, TITLES
from benchmarks.tables import Sizes, count, label

ROWS: Final = (*WEIGHTS, "mixed")
COLUMNS: Final = 2
WIDTH: Final = 290
ROW: Final = 26
LEFT: Final = 100
GAP: Final = 62
TOP: Final = 78
HEIGHT: Final = ROW * len(ROWS)
BELOW: Final = 86
"""Vertical space between panels, for the numbers of one and the title of the next."""


def drawn(sizes: Sizes) -> str:
    """Return the plot; ``about`` of each size has the ``day`` of its measurement."""
    panels = len(sizes) + 1
    rows = -(-panels // COLUMNS)
    width = LEFT + COLUMNS * WIDTH + (COLUMNS - 1) * GAP + 30
    height = TOP + rows * HEIGHT + (rows - 1) * BELOW + 44
    named = [name for name in NAMES if any(name in results for results in sizes.values())]
    return picture(
        width,
        height,
        "Search in each system: median latency, and throughput on the mixed load",
        (
            *legend(((NAMES.index(name), TITLES.get(name, name)) for name in named), 20, 24),
            *_latencies(sizes),
            *_throughput(sizes, named, *_place(len(sizes))),
        ),
    )


def _place(panel: int) -> tuple[float, float]:
    """Return the left and upper edge of a panel."""
    row, column = divmod(panel, COLUMNS)
    return LEFT + column * (WIDTH + GAP), TOP + row * (HEIGHT + BELOW)


def _latencies(sizes: Sizes) -> Iterator[str]:
    """Yield a panel for each size, with a row for each kind of search and a marker per peer."""
    values = [p50 for results in sizes.values() for _, _, p50 in _medians(results)]
    low, high = decades(values)
    for panel, (size, results) in enumerate(sizes.items()):
        left, top = _place(panel)
        scale = logarithmic(low, high, left, left + WIDTH)
        yield text(left, top - 24, f"{count(size)} maps: median latency, ms", "start", bold=True)
        for tick in ticks(low, high):
            yield line((scale(tick), top), (scale(tick), top + HEIGHT))
            yield text(scale(tick), top + HEIGHT + 18, f"{tick:g}", "middle")
        for number, kind in enumerate(ROWS):
            y = top + (number + 0.5) * ROW
            yield line((left, y), (left + WIDTH, y))
            if panel % COLUMNS == 0:
                yield text(left - 10, y + 4, label(kind), "end")
        # Mapshelf last, so that no other marker hides it.
        for name, number, p50 in reversed(list(_medians(results))):
            yield marker(NAMES.index(name), scale(p50), top + (number + 0.5) * ROW)


def _medians(results: dict[str, Any]) -> Iterator[tuple[str, int, float]]:
    for name in NAMES:
        for number, kind in enumerate(ROWS):
            case = results.get(name, {}).get("cases", {}).get(kind, {})
            # A peer that finds nothing for a typo does not correct spelling.
            if "p50" in case and not (kind == "typo" and not case["maps"]):
                yield name, number, case["p50"]


def _throughput(sizes: Sizes, named: list[str], left: float, top: float) -> Iterator[str]:
    """Yield the panel of throughput against size."""
    series = {name: list(_mixed(sizes, name)) for name in named}
    values = [value for points in series.values() for _, value, _ in points]
    if not values:
        return
    counts = sorted(int(size) for size in sizes)
    place, drawn = grid(counts, values, (left, top), (WIDTH, HEIGHT))
    yield text(left, top - 24, "mixed load: searches per second", "start", bold=True)
    yield from drawn
    for name in reversed(series):
        number = NAMES.index(name)
        places = [(place((maps, value)), day) for maps, value, day in series[name]]
        yield from lines(places, COLOURS[number])
        yield from (marker(number, *point) for point, _ in places)


def _mixed(sizes: Sizes, name: str) -> Iterator[tuple[int, float, str]]:
    for size, results in sizes.items():
        found = results.get(name, {}).get("cases", {}).get("mixed", {})
        if found.get("requests_per_second"):
            yield int(size), found["requests_per_second"], results["about"]["day"]
