"""``python -m benchmarks.plots``: draw the committed tables of results for ``docs/benchmarks.md``.

The plots use the tables in ``benchmarks/results``, because results files are not committed. So you
can draw the plots again from the repository alone, and a test checks that they match the tables. If
several files have a figure for the same number of maps, the latest file wins.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

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
from benchmarks.machine import ROOT
from benchmarks.peers import plot
from benchmarks.peers.report import NAMES, TITLES
from benchmarks.tables import Sizes, label

RESULTS: Final = ROOT / "benchmarks" / "results"
DOCS: Final = ROOT / "docs"

LISTS: Final = {
    "no filters": "list, no filters",
    "all filters mixed": "list, all filters mixed, first request",
    "page of a list": "page of a list, all filters mixed",
}
SEARCHES: Final = {
    "rare word": "rare word",
    "common word": "common word",
    "phrase": "phrase",
    "prefix": "prefix, three letters",
    "Chinese word": "Chinese word",
}
BUILDING: Final = {
    "full build, processor (s)": "its processor time (s)",
    "snapshot (MB)": "snapshot",
    "store (MB)": "store",
}
"""The series of the growth panels: the name in the plot, and the name in the tables."""

COSTS: Final = (
    "thumbnails, repeated",
    "`/maps?limit=20`, repeated",
    "lists, all different",
    "searches, all different",
    "library page, repeated",
    "library page, first request",
    "map page, first request, 100 topics",
)
"""Requests in the plot of processor time."""

WIDTH: Final = 300
HEIGHT: Final = 220
LEFT: Final = 70
TOP: Final = 96
BELOW: Final = 140
GAP: Final = 80
BAR: Final = 26
IN_A_ROW: Final = 2
"""Names in a row of the legend."""

_NUMBER: Final = re.compile(r"[\d,]*\d(?:\.\d+)?")
_FINDS: Final = re.compile(r"finds ([\d,.]+)")
_KINDS: Final = {label(kind): kind for kind in plot.ROWS}
_PEERS: Final = {TITLES.get(name, name): name for name in NAMES}

Series = dict[str, dict[int, tuple[float, str]]]
"""Figures by the name of the series and the number of maps, each with its day."""


class Table(NamedTuple):
    """A table of a results file, with the day in its name and the heading above it."""

    day: str
    heading: str
    names: list[str]
    rows: list[list[str]]


def main() -> None:
    """Write all plots."""
    write(RESULTS, DOCS)


def write(results: Path, docs: Path) -> None:
    """Draw the tables in the folder ``results``; write the plots to the folder ``docs``."""
    for name, drawn in pictures(results).items():
        (docs / name).write_text(drawn, "utf-8")


def pictures(results: Path) -> dict[str, str]:
    """Return the plots for the tables in a folder, by file name."""
    figures = _tables(results, "*-figures.md")
    compared = _tables(results, "*-search-comparison.md")
    costs = _tables(results, "*-costs.md")
    found = {}
    if peers := _peers(compared):
        found["search.svg"] = plot.drawn(peers)
    panels = {
        "lists, in process: median, ms": _growth(figures, "Lists", LISTS),
        "searches, in process: median, ms": _growth(figures, "Searches", SEARCHES),
        "building: seconds, megabytes": _building(figures),
    }
    if shown := {title: series for title, series in panels.items() if series}:
        found["growth.svg"] = _grown(shown)
    if spent := _spent(costs):
        found["costs.svg"] = _costs_drawn(spent)
    return found


# -- reading ----------------------------------------------------------------------------------


def _tables(folder: Path, pattern: str) -> list[Table]:
    """Return the tables of all files of a kind, the oldest first."""
    return [
        table
        for path in sorted(folder.glob(pattern))
        for table in _tables_in(path.name[:10], path.read_text("utf-8").splitlines())
    ]


def _tables_in(day: str, page: Iterable[str]) -> Iterator[Table]:
    heading, rows = "", list[list[str]]()
    for row in (*page, ""):
        if row.startswith("|"):
            rows.append([cell.strip() for cell in row.strip("|").split("|")])
            continue
        if rows:
            yield Table(day, heading, rows[0], rows[2:])
        rows = []
        if row.startswith("#"):
            heading = row.lstrip("# ")


def _value(cell: str) -> float | None:
    """Return the first number in a cell, ``None`` if it has none."""
    found = _NUMBER.search(cell)
    return float(found[0].replace(",", "")) if found else None


def _maps(words: str) -> int:
    """Return a number of maps."""
    return int(words.removesuffix(" maps").replace(",", ""))


def _peers(tables: Sequence[Table]) -> Sizes:
    """Return medians and throughput of the peers in the structure of a results file."""
    sizes: Sizes = {}
    latest = {(table.heading, tuple(table.names[:2])): table for table in tables}
    for table in latest.values():
        if table.names[0] != "search":
            continue
        peers = sizes.setdefault(str(_maps(table.heading)), {})
        peers["about"] = {"day": table.day}
        for row in table.rows:
            kind = _KINDS.get(row[0])
            for title, cell in zip(table.names[1:], row[1:], strict=True):
                if kind and title in _PEERS and (value := _value(cell)) is not None:
                    peer = peers.setdefault(_PEERS[title], {"cases": {}})
                    peer["cases"].setdefault(kind, {}).update(_case(table, cell, value))
    return {size: sizes[size] for size in sorted(sizes, key=int)}


def _case(table: Table, cell: str, value: float) -> dict[str, Any]:
    if "matches" not in table.names:
        return {"requests_per_second": value}
    finds = _FINDS.search(cell)
    return {"p50": value, "maps": _value(finds[1]) if finds else 1}


def _growth(tables: Iterable[Table], heading: str, names: dict[str, str]) -> Series:
    series: Series = {}
    for table in tables:
        if not table.heading.startswith(heading):
            continue
        rows = {row[0]: row for row in table.rows}
        for title, name in names.items():
            for column, cell in zip(table.names, rows.get(name, ()), strict=False):
                value = _value(cell)
                if column.endswith(": p50") and value is not None:
                    series.setdefault(title, {})[_maps(column[:-5])] = value, table.day
    return series


def _building(tables: Iterable[Table]) -> Series:
    series: Series = {}
    for table in tables:
        if table.heading == "Building":
            for row in table.rows:
                for title, name in BUILDING.items():
                    value = _value(row[table.names.index(name)])
                    if value is not None:
                        series.setdefault(title, {})[_maps(row[0])] = value, table.day
    return series


def _spent(tables: Iterable[Table]) -> dict[str, float]:
    """Return the processor time of requests in microseconds."""
    found: dict[str, float] = {}
    for table in tables:
        if table.names[:3] == ["Request", "Before", "After"]:
            spent = {row[0]: _value(row[2]) for row in table.rows}
            found |= {name: value for name in COSTS if (value := spent.get(name)) is not None}
    return found


# -- drawing ----------------------------------------------------------------------------------


def _grown(panels: dict[str, Series]) -> str:
    """Return the plot of growth with the number of maps, two panels per row."""
    rows = -(-len(panels) // 2)
    width = LEFT + 2 * WIDTH + GAP + 30
    height = TOP + rows * HEIGHT + (rows - 1) * BELOW + 44
    drawn: list[str] = []
    for number, (title, series) in enumerate(panels.items()):
        row, column = divmod(number, 2)
        place = LEFT + column * (WIDTH + GAP), TOP + row * (HEIGHT + BELOW)
        drawn += _panel(title, series, *place)
    return picture(width, height, "Growth with the number of maps", drawn)


def _panel(title: str, series: Series, left: float, top: float) -> Iterator[str]:
    counts = sorted({maps for values in series.values() for maps in values})
    figures = [value for values in series.values() for value, _ in values.values()]
    place, drawn = grid(counts, figures, (left, top), (WIDTH, HEIGHT))
    yield text(left, top - 68, title, "start", bold=True)
    names = list(enumerate(series))
    for row in range(0, len(names), IN_A_ROW):
        yield from legend(names[row : row + IN_A_ROW], left, top - 46 + 9 * row)
    yield from drawn
    for number, values in reversed(list(enumerate(series.values()))):
        places = [(place((maps, value)), day) for maps, (value, day) in sorted(values.items())]
        yield from lines(places, COLOURS[number])
        yield from (marker(number, *point) for point, _ in places)


def _costs_drawn(spent: dict[str, float]) -> str:
    """Return the plot of the processor time of requests, with a marker for each."""
    left, top, width = 240, 50, 420
    height = BAR * len(spent)
    low, high = decades(list(spent.values()))
    scale = logarithmic(low, high, left, left + width)
    title = "processor time of a request, in process, µs (less is better)"
    drawn = [text(20, 26, title, "start", bold=True)]
    for tick in ticks(low, high):
        drawn.append(line((scale(tick), top), (scale(tick), top + height)))
        drawn.append(text(scale(tick), top + height + 18, f"{tick:,g}", "middle"))
    for number, (name, value) in enumerate(spent.items()):
        y = top + (number + 0.5) * BAR
        drawn.append(text(left - 10, y + 4, name.replace("`", ""), "end"))
        drawn.append(line((left, y), (left + width, y)))
        drawn.append(marker(0, scale(value), y))
        drawn.append(text(scale(value) + 12, y + 4, f"{value:,g}", "start"))
    return picture(left + width + 60, top + height + 34, "Processor time of requests", drawn)


if __name__ == "__main__":
    main()
