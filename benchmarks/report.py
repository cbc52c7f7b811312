"""``python -m benchmarks.report``: write the figures of results files into the documentation.

All tables go into Markdown files in ``benchmarks/results``, named after the day of the measurement.
The main tables go between marks in ``docs/benchmarks.md``; the rest of that page is written by
hand. Figures of the peers have their own marks and their own file, because they may come from
another run. Figures of excess also go into ``docs/reliability.md``.
"""

import argparse
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from benchmarks import PARTS, plots
from benchmarks.all_tables import all_tables
from benchmarks.machine import ROOT
from benchmarks.main_tables import main_tables
from benchmarks.overload.excess_table import excess_table
from benchmarks.peers.report import compared, summarized
from benchmarks.tables import Sizes, count, having

DOCUMENT: Final = ROOT / "docs" / "benchmarks.md"
FOLDER: Final = ROOT / "benchmarks" / "results"
PEERS: Final = "peers"
EXCESS: Final = "excess"

Results = dict[str, Any]


class Run(NamedTuple):
    """The part of a results file about one size.

    Attributes:
        date: date and time of the start.
        seed: seed of the catalogue.
        machine: the machine and the software.
        size: number of maps.
        loads: load averages before and after.
        parts: the measured parts.
    """

    date: str
    seed: int
    machine: dict[str, Any]
    size: str
    loads: tuple[list[float], list[float]]
    parts: tuple[str, ...]

    @property
    def day(self) -> str:
        """The day of the start."""
        return self.date[:10]


def main() -> None:
    """Rewrite the generated files, and the generated parts of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", help="parts in later files win")
    given = parser.parse_args()
    write([orjson.loads(path.read_bytes()) for path in given.results], DOCUMENT, FOLDER)


def write(files: list[Results], document: Path, folder: Path) -> None:
    """Write all tables into ``folder``, and the main ones between the marks in ``document``.

    Args:
        files: results files; parts in later ones win.
        document: the page. The plots and the page about excess are in the same folder.
        folder: the folder of the tables.
    """
    sizes, runs = _merged(files), list(_runs(files))
    ours = _with_parts(runs, set(PARTS) - {PEERS})
    if ours:
        file = folder / f"{ours[-1].day}-figures.md"
        _write_tables(file, "Benchmark figures", ours, all_tables(sizes))
        main = _with_parts(ours, set(PARTS) - {PEERS, EXCESS})
        if main:
            _fill(document, "figures", main, main_tables(sizes), file)
        excess = having(sizes, EXCESS)
        if excess:
            page = document.with_name("reliability.md")
            _fill(page, EXCESS, _with_parts(ours, {EXCESS}), excess_table(excess), file)
    theirs, peers = _with_parts(runs, {PEERS}), having(sizes, PEERS)
    if theirs:
        picture = document.with_name("search.svg")
        file = folder / f"{theirs[-1].day}-search-comparison.md"
        tables = compared(peers, _address(picture, folder))
        _write_tables(file, "Search compared with other systems", theirs, tables)
        _fill(document, "peers", theirs, summarized(peers, picture.name), file)
    plots.write(folder, document.parent)


def _merged(files: Iterable[Results]) -> Sizes:
    """Return the figures of each size, the smallest first."""
    sizes: Sizes = {}
    for file in files:
        for size, parts in file["sizes"].items():
            sizes[size] = sizes.get(size, {}) | parts
    return {size: sizes[size] for size in sorted(sizes, key=int)}


def _runs(files: Iterable[Results]) -> Iterator[Run]:
    for file in files:
        for size, parts in file["sizes"].items():
            loads = (parts["load_before"], parts["load_after"])
            names = tuple(name for name in PARTS if name in parts)
            yield Run(file["date"], file["seed"], file["machine"], size, loads, names)


def _with_parts(runs: Iterable[Run], parts: Collection[str]) -> list[Run]:
    return [run for run in runs if not set(parts).isdisjoint(run.parts)]


def _write_tables(path: Path, title: str, runs: list[Run], tables: Iterable[str]) -> None:
    lines = (f"# {title}, {runs[-1].day}", "", *_about(runs), *tables)
    path.write_text("\n".join(lines).rstrip("\n") + "\n", "utf-8")


def _fill(
    document: Path, mark: str, runs: list[Run], tables: Iterable[str], complete: Path
) -> None:
    """Replace the lines between the marks of this name."""
    link = f"All tables: [{complete.name}]({_address(complete, document.parent)})."
    lines = (*_measured(runs), *tables, link, "")
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, _, rest = document.read_text("utf-8").partition(begin)
    text = "\n".join((f"{before}{begin}", "", *lines, end)) + rest.partition(end)[2]
    document.write_text(text, "utf-8")


def _address(path: Path, folder: Path) -> str:
    """Return the relative address of a file, for a page in ``folder``."""
    return Path(os.path.relpath(path, folder)).as_posix()


def _measured(runs: list[Run]) -> Iterator[str]:
    """Yield the date, the machine and the load of the runs, in a few sentences."""
    machine, loads = runs[-1].machine, [run.loads[0][0] for run in runs]
    days = " and ".join(dict.fromkeys(run.day for run in runs))
    commits = list(dict.fromkeys(run.machine["commit"] for run in runs))
    code = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
    yield f"Measured on {days} ({code}) on {machine['cpu']}, {machine['cores']} cores,"
    yield f"{machine['memory_gib']} GiB; {machine['system']}, Python {machine['python']}."
    yield f"Load average before each run: {min(loads)} to {max(loads)}."
    yield ""


def _about(runs: list[Run]) -> Iterator[str]:
    """Yield the machine, all versions, and the load averages of each run."""
    machine = runs[-1].machine
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    yield "Generated by `python -m benchmarks.report`. [How to read the tables](../README.md)."
    yield ""
    yield f"* Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
    yield f"* System: {machine['system']}, Linux {machine['kernel']}"
    yield f"* Software: Python {machine['python']}, SQLite {machine['sqlite']}, {packages}"
    yield f"* Load generator and yardstick: {machine['wrk'].split(' [')[0]}, {machine['nginx']}"
    yield f"* Seed of the catalogues: {runs[-1].seed}"
    yield ""
    yield "Runs, with the load averages before and after each:"
    yield ""
    for run in runs:
        before, after = run.loads
        details = f"{count(run.size)} maps: {before} and {after} ({', '.join(run.parts)})"
        yield f"* {run.date}, commit {run.machine['commit']}, {details}"
    yield ""


if __name__ == "__main__":
    main()
