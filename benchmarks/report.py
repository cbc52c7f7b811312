"""``python -m benchmarks.report``: put the figures of a results file into the documentation.

What stands between marks in ``docs/benchmarks.md`` is written here; the rest by people. Figures
of the peers have marks of their own, for they may come from another run than the others. Those of
excess stand in ``docs/reliability.md``.
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import PARTS
from benchmarks.machine import ROOT
from benchmarks.overload.excess_table import excess_table
from benchmarks.peers import plot
from benchmarks.peers.report import compared
from benchmarks.tables import header, megabytes, number, row

DOCUMENT: Final = ROOT / "docs" / "benchmarks.md"
RELIABILITY: Final = DOCUMENT.with_name("reliability.md")
ELSEWHERE: Final = frozenset({"excess", "peers"})
"""Parts that do not stand with the others."""

PLOT: Final = DOCUMENT.with_name("search.svg")

Results = dict[str, Any]

TITLES: Final = {
    "listing": "Lists, in process (milliseconds)",
    "searching": "Searches with their page, in process (milliseconds)",
    "library": "Folders, tags and maps like one, in process (milliseconds)",
    "building": "Keeping up, in process (milliseconds)",
}
COLUMNS: Final = {"p50": "p50", "p99": "p99", "max": "max", "p99 of processor": "cpu_p99"}
SERVED: Final = ("one page", "nginx", "users/me", "many listings", "many searches", "a mixture")


def main() -> None:
    """Rewrite the generated part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("results", type=Path, nargs="*", help="parts in later files win")
    given = parser.parse_args()
    results = _merged([orjson.loads(path.read_bytes()) for path in given.results])
    text = DOCUMENT.read_text("utf-8")
    sizes: dict[str, Results] = results["sizes"]
    if any((set(PARTS) - ELSEWHERE) & set(parts) for parts in sizes.values()):
        text = _filled(text, "figures", _report(results))
    peers = {size: parts["peers"] for size, parts in sizes.items() if "peers" in parts}
    if peers:
        text = _filled(text, "peers", [*_machine(results), *compared(peers, PLOT.name)])
        PLOT.write_text(plot.drawn(peers), "utf-8")
    DOCUMENT.write_text(text, "utf-8")
    excess = {size: parts["excess"] for size, parts in sizes.items() if "excess" in parts}
    if excess:
        lines = [*_machine(results), *excess_table(excess)]
        RELIABILITY.write_text(_filled(RELIABILITY.read_text("utf-8"), "excess", lines), "utf-8")


def _filled(text: str, mark: str, lines: Iterable[str]) -> str:
    """Return ``text`` with other lines between the marks of this name."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, _, rest = text.partition(begin)
    return "\n".join((f"{before}{begin}", "", *lines, end)) + rest.partition(end)[2]


def _merged(files: list[Results]) -> Results:
    """Return one set of results; the machine is that of the last file."""
    merged = dict(files[-1])
    sizes: dict[str, Results] = {}
    for file in files:
        for size, parts in file["sizes"].items():
            sizes[size] = sizes.get(size, {}) | parts
    merged["loads"] = [_loads(file) for file in files]
    merged["sizes"] = {size: sizes[size] for size in sorted(sizes, key=int)}
    return merged


def _report(results: Results) -> Iterator[str]:
    yield from _machine(results)
    sizes: dict[str, Results] = results["sizes"]
    yield from _building(sizes)
    for part, title in TITLES.items():
        measured = {size: figures[part] for size, figures in sizes.items() if part in figures}
        yield from _times(title, measured)
    library = {size: figures["library"] for size, figures in sizes.items() if "library" in figures}
    if library:
        yield from _library(library)
    served = {size: figures["serving"] for size, figures in sizes.items() if "serving" in figures}
    yield from _serving(served)
    yield from _memory(served)
    costs = {size: part["costs"] for size, part in sizes.items() if "costs" in part}
    if costs:
        yield from _costs(costs)
    fresh = {size: part["freshness"] for size, part in sizes.items() if "freshness" in part}
    yield from _freshness(fresh)
    changing = {size: part["changing"] for size, part in sizes.items() if "changing" in part}
    if changing:
        yield from _changing(changing)
    ageing = {size: part["ageing"] for size, part in sizes.items() if "ageing" in part}
    if ageing:
        yield from _ageing(ageing)
    hostile = {size: part["hostile"] for size, part in sizes.items() if "hostile" in part}
    if hostile:
        yield from _hostile(hostile)
    overload = {size: part["overload"] for size, part in sizes.items() if "overload" in part}
    if overload:
        yield from _overload(overload)
    fuzzing = {size: part["fuzzing"] for size, part in sizes.items() if "fuzzing" in part}
    if fuzzing:
        yield from _fuzzing(fuzzing)
    nodes = {size: part["nodes"] for size, part in sizes.items() if "nodes" in part}
    if nodes:
        yield from _nodes(nodes)


def _machine(results: Results) -> Iterator[str]:
    machine = results["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    yield f"Measured with seed {results['seed']} on"
    yield f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB;"
    yield f"{machine['system']}, Linux {machine['kernel']}; Python {machine['python']}, {packages},"
    yield f"SQLite {machine['sqlite']}, {machine['wrk'].split(' [')[0]}, {machine['nginx']}."
    yield "Load averages before and after each run:"
    yield ""
    yield from results["loads"]
    yield ""


def _loads(file: Results) -> str:
    """Return how busy the machine was during one run."""
    loads = (
        f"{int(size):,} maps {part['load_before']} and {part['load_after']}"
        f" ({', '.join(name for name in PARTS if name in part)})"
        for size, part in file["sizes"].items()
    )
    return f"* {file['date']}, commit {file['machine']['commit']}: {'; '.join(loads)}"


def _building(sizes: dict[str, Results]) -> Iterator[str]:
    yield "### Building"
    yield ""
    yield from header("maps", "put into the store (s)", "store", "snapshot (s)", "of processor")
    for size, part in sizes.items():
        build = part["full_build"]
        yield row(
            f"{int(size):,}",
            f"{part['store']['seconds']:.1f}",
            megabytes(part["store"]["store_bytes"]),
            f"{build['seconds']:.1f}, {megabytes(build['snapshot_bytes'])}",
            f"{build['cpu_seconds']:.1f} s",
        )
    yield ""


def _times(title: str, measured: dict[str, Results]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    columns = (f"{int(size):,}: {name}" for size in measured for name in COLUMNS)
    yield from header("", *columns)
    questions = dict.fromkeys(name for part in measured.values() for name in part)
    for question in questions:
        cells: list[str] = []
        for part in measured.values():
            answer = part.get(question, {})
            cells += [number(answer.get(key)) for key in COLUMNS.values()]
        if any(cells):
            yield row(question, *cells)
    yield ""


def _library(measured: dict[str, Results]) -> Iterator[str]:
    yield "### What folders, tags and twins cost"
    yield ""
    yield from header(
        "maps",
        "building, µs a map",
        "without folders, tags and twins",
        "slower",
        "all twins (s)",
        "worker, own memory (MB)",
    )
    for size, part in measured.items():
        build = part["building"]
        yield row(
            f"{int(size):,}",
            str(build["with_us_a_map"]),
            str(build["without_us_a_map"]),
            f"{build['slower_per_cent']} %",
            str(part["all twins"]["seconds"]),
            str(part["memory of a worker"]["own_mb"]),
        )
    yield ""


def _serving(served: dict[str, Results]) -> Iterator[str]:
    yield "### Over HTTP: one worker on one core, 32 connections"
    yield ""
    yield from header(
        "maps", "asked", "requests/s", "per second of processor", "p50 ms", "p99 ms", "failed"
    )
    for size, part in served.items():
        for name in (name for name in SERVED if name in part):
            answer = part[name]
            yield row(
                f"{int(size):,}",
                name,
                f"{answer['requests_per_second']:,.0f}",
                f"{answer['requests_per_cpu_second']:,.0f}",
                number(answer["p50_ms"]),
                number(answer["p99_ms"]),
                str(answer["failed"]),
            )
    yield ""
    for size, part in served.items():
        yield (
            f"At {int(size):,} maps *one page* reaches {part['share_of_nginx']:.0%} of nginx by "
            f"the clock and {part['share_of_nginx_by_cpu']:.0%} by processor time "
            f"({part['nginx']['body_bytes']:,} bytes a page, the same body: "
            f"{part['nginx']['same_body']}, headers only one of them has: "
            f"{', '.join(part['nginx']['other_headers']) or 'none'})."
        )
    yield ""


def _costs(measured: dict[str, Results]) -> Iterator[str]:
    yield "### What a request costs (microseconds of processor)"
    yield ""
    columns = (f"{int(size):,}: {name}" for size in measured for name in ("in process", "HTTP"))
    yield from header("", *columns)
    questions = dict.fromkeys(name for part in measured.values() for name in part)
    for question in questions:
        rows = [part.get(question, {}) for part in measured.values()]
        told = (one.get(name, "") for one in rows for name in ("in_process", "over_http"))
        if not any("share" in one for one in rows):
            yield row(question, *map(str, told))
    shares = (part["page again, share of the floor"]["share"] for part in measured.values())
    yield ""
    yield f"The same page again has {', '.join(map(str, shares))} of the floor's requests a second."
    yield ""


def _memory(served: dict[str, Results]) -> Iterator[str]:
    yield "### Memory of a worker (MB) and start"
    yield ""
    yield from header(
        "maps", "ready (s)", "own at rest", "own after load", "USS after load", "USS, two workers"
    )
    for size, part in served.items():
        yield row(
            f"{int(size):,}",
            f"{part['ready_seconds']:.2f}",
            str(part["memory_at_rest"]["own_mb"]),
            str(part["memory_after_load"]["own_mb"]),
            str(part["memory_after_load"]["uss_mb"]),
            " and ".join(str(worker["uss_mb"]) for worker in part["memory_of_two_workers"]),
        )
    yield ""


def _freshness(fresh: dict[str, Results]) -> Iterator[str]:
    yield "### From the store to HTTP (milliseconds)"
    yield ""
    yield from header("maps", "idle: p50", "max", "under load: p50", "max", "requests", "failed")
    for size, part in fresh.items():
        calm, busy, clients = part["without load"], part["under load"], part["clients"]
        times = (calm["p50"], calm["max"], busy["p50"], busy["max"])
        requests = f"{clients['requests']:,}"
        yield row(f"{int(size):,}", *map(number, times), requests, str(clients["failed"]))
    yield ""


def _changing(changing: dict[str, Results]) -> Iterator[str]:
    yield "### While the catalogue changes (milliseconds for readers)"
    yield ""
    names = ("changes a minute", "p50 without", "p50 with", "p99 without", "p99 with", "failed")
    yield from header("maps", *names, "slowest change shown (s)")
    for size, part in changing.items():
        calm, busy = part["without changes"], part["with changes"]
        times = (calm["p50_ms"], busy["p50_ms"], calm["p99_ms"], busy["p99_ms"])
        shown = number(part["seconds until one showed"]["worst"])
        changes, failed = str(part["changes"]["per_minute"]), str(busy["failed"])
        yield row(f"{int(size):,}", changes, *map(number, times), failed, shown)
    yield ""


def _ageing(ageing: dict[str, Results]) -> Iterator[str]:
    yield "### A snapshot after many changes, and one built anew from the same store"
    yield ""
    searches = ("rare word", "common word", "two words")
    yield from header(
        "maps",
        "",
        "index MB",
        "segments",
        "records MB",
        *(f"{name}: p50 (ms)" for name in searches),
    )
    for size, part in ageing.items():
        changes = part["changes"]
        after = f"after {changes['made']:,} changes (up to {changes['most segments']} segments)"
        for when in ("before", "after", "built anew"):
            state, told = part[when], after if when == "after" else when
            times = (part.get(f"{name}, {when}", {}).get("p50") for name in searches)
            figures = (state["index MB"], state["segments"], state["records MB"])
            yield row(f"{int(size):,}", told, *map(str, figures), *map(number, times))
    yield ""


def _nodes(nodes: dict[str, Results]) -> Iterator[str]:
    yield "### Two nodes over one database, a worker and a core each"
    yield ""
    names = ("first", "second", "first, both at once", "second, both at once")
    yield from header("maps", *(f"{name}: per second of processor" for name in names), "two to one")
    for size, part in nodes.items():
        runs = ("first alone", "second alone", "first of both", "second of both")
        figures = (f"{part[name]['requests_per_cpu_second']:,.0f}" for name in runs)
        ratio = part.get("two_to_one_by_the_clock", part["two_to_one_by_cpu"])
        yield row(f"{int(size):,}", *figures, number(ratio))
    yield ""


def _hostile(hostile: dict[str, Results]) -> Iterator[str]:
    yield "### Any text at all as a query, over HTTP (milliseconds)"
    yield ""
    yield from header("maps", "texts", "asked", "p50", "p99", "max", "not answered with 200")
    for size, kinds in hostile.items():
        for kind, part in kinds.items():
            times = (part["p50"], part["p99"], part["max"])
            cells = (f"{part['calls']:,}", *map(number, times), str(part["not_200"]))
            yield row(f"{int(size):,}", kind, *cells)
    yield ""


def _overload(overload: dict[str, Results]) -> Iterator[str]:
    yield "### Calm clients without and with an attack (milliseconds)"
    yield ""
    names = ("p50 without", "p50 with", "p99 without", "p99 with", "max with", "times", "failed")
    yield from header("maps", "attack: asked", *names)
    figures = ("calm p50", "p50", "calm p99", "p99", "max", "p99 ratio")
    beside: list[str] = []
    for size, part in overload.items():
        for name, answer in part.items():
            if isinstance(answer, dict) and "p99 ratio" in answer:
                cells = [number(answer[figure]) for figure in figures]
                failed = f"{answer['failed']} of {answer['asked']}"
                yield row(f"{int(size):,}", name, *cells, failed)
            elif ": " in name:
                told = answer if isinstance(answer, dict) else {"": answer}
                listed = ", ".join(f"{key} {value}".strip() for key, value in told.items())
                beside.append(f"* {int(size):,} maps, {name}: {listed}")
    yield ""
    yield from beside
    yield ""


def _fuzzing(fuzzing: dict[str, Results]) -> Iterator[str]:
    yield "### Requests of any kind while the catalogue changes"
    yield ""
    yield from header("maps", "requests", "changes meanwhile", "with 5xx", "statuses")
    for size, part in fuzzing.items():
        counts = {name: many for name, many in part["requests"].items() if name[0].isdigit()}
        faults = sum(many for name, many in counts.items() if name.startswith("5"))
        listed = ", ".join(f"{name}: {many:,}" for name, many in counts.items())
        requests = f"{sum(counts.values()):,}"
        yield row(f"{int(size):,}", requests, str(part["changes"]["made"]), str(faults), listed)
    yield ""


if __name__ == "__main__":
    main()
