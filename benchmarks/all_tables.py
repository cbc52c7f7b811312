"""The tables of all figures, for ``benchmarks.report``."""

from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.overload.excess_table import excess_table
from benchmarks.tables import Sizes, count, having, header, label, megabytes, number, row

COLUMNS: Final = {"p50": "p50", "p99": "p99", "max": "max", "p99 of processor time": "cpu_p99"}
SERVED: Final = ("one page", "nginx", "users/me", "many listings", "many searches", "a mixture")


def all_tables(sizes: Sizes) -> Iterator[str]:
    """Yield a section for each part that was measured."""
    yield from _building(sizes)
    for part, section in SECTIONS.items():
        measured = having(sizes, part)
        if measured:
            yield from section(measured)


def _building(sizes: Sizes) -> Iterator[str]:
    yield "## Building"
    yield ""
    names = (
        "import into the store (s)",
        "store",
        "full build (s)",
        "index merged (s)",
        "its processor time (s)",
    )
    yield from header("maps", *names, "snapshot")
    for size, part in sizes.items():
        build = part["full_build"]
        yield row(
            count(size),
            f"{part['store']['seconds']:.1f}",
            megabytes(part["store"]["store_bytes"]),
            f"{build['seconds']:,.1f}",
            f"{build.get('merged_seconds', build['seconds']):,.1f}",
            f"{build['cpu_seconds']:,.1f}",
            megabytes(build["snapshot_bytes"]),
        )
    yield ""


def _listing(measured: Sizes) -> Iterator[str]:
    yield from _times("Lists, in process (ms)", measured)


def _searching(measured: Sizes) -> Iterator[str]:
    yield from _times("Searches with their page of results, in process (ms)", measured)


def _library(measured: Sizes) -> Iterator[str]:
    yield from _times("Folders, tags and similar maps, in process (ms)", measured)
    yield "## What folders, tags and duplicates cost"
    yield ""
    names = ("building, µs a map", "without folders, tags and duplicates", "slower")
    yield from header("maps", *names, "all duplicates (s)", "own memory of a worker (MB)")
    for size, part in measured.items():
        build = part["building"]
        yield row(
            count(size),
            str(build["with_us_a_map"]),
            str(build["without_us_a_map"]),
            f"{build['slower_per_cent']} %",
            str(part["all twins"]["seconds"]),
            str(part["memory of a worker"]["own_mb"]),
        )
    yield ""


def _publishing(measured: Sizes) -> Iterator[str]:
    yield from _times("Updating the snapshot, in process (ms)", measured)


def _times(title: str, measured: Sizes) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    columns = (f"{count(size)}: {name}" for size in measured for name in COLUMNS)
    yield from header("", *columns)
    questions = dict.fromkeys(name for part in measured.values() for name in part)
    for question in questions:
        cells: list[str] = []
        for part in measured.values():
            answer = part.get(question, {})
            cells += [number(answer.get(key)) for key in COLUMNS.values()]
        if any(cells):
            yield row(label(question), *cells)
    yield ""


def _serving(served: Sizes) -> Iterator[str]:
    yield "## Over HTTP: one worker on one core, 32 connections"
    yield ""
    names = ("requests", "per second", "per second of processor time", "p50 ms", "p99 ms")
    yield from header("maps", *names, "failed")
    for size, part in served.items():
        for name in (name for name in SERVED if name in part):
            answer = part[name]
            yield row(
                count(size),
                label(name),
                f"{answer['requests_per_second']:,.0f}",
                f"{answer['requests_per_cpu_second']:,.0f}",
                number(answer["p50_ms"]),
                number(answer["p99_ms"]),
                str(answer["failed"]),
            )
    yield ""
    for size, part in served.items():
        others = ", ".join(part["nginx"]["other_headers"]) or "none"
        yield (
            f"At {count(size)} maps *{label('one page')}* reaches {part['share_of_nginx']:.0%} of "
            f"nginx by the clock and {part['share_of_nginx_by_cpu']:.0%} by processor time "
            f"({part['nginx']['body_bytes']:,} bytes a page; same body: "
            f"{'yes' if part['nginx']['same_body'] else 'no'}; headers that differ: {others})."
        )
    yield ""


def _served(served: Sizes) -> Iterator[str]:
    yield from _serving(served)
    yield from _memory(served)


def _costs(measured: Sizes) -> Iterator[str]:
    yield "## Processor time of a request (µs)"
    yield ""
    columns = (f"{count(size)}: {name}" for size in measured for name in ("in process", "HTTP"))
    yield from header("", *columns)
    questions = dict.fromkeys(name for part in measured.values() for name in part)
    for question in questions:
        rows = [part.get(question, {}) for part in measured.values()]
        cells = (one.get(name, "") for one in rows for name in ("in_process", "over_http"))
        if not any("share" in one for one in rows):
            yield row(label(question), *map(str, cells))
    yield ""
    for size, part in measured.items():
        share = part["page again, share of the floor"]["share"]
        yield f"At {count(size)} maps, the empty application takes {share:.0%} of the time that"
        yield "Mapshelf takes for the same list, repeated."
        yield ""


def _memory(served: Sizes) -> Iterator[str]:
    yield "## Memory of a worker (MB) and start-up"
    yield ""
    yield from header(
        "maps",
        "ready (s)",
        "own, idle",
        "own, after load",
        "USS, after load",
        "USS of two workers",
        "all processes, idle (PSS)",
        "processor, idle (ms a second)",
    )
    for size, part in served.items():
        yield row(
            count(size),
            f"{part['ready_seconds']:.2f}",
            str(part["memory_at_rest"]["own_mb"]),
            str(part["memory_after_load"]["own_mb"]),
            str(part["memory_after_load"]["uss_mb"]),
            " and ".join(str(worker["uss_mb"]) for worker in part["memory_of_two_workers"]),
            str(part["idle"]["pss_mb"]),
            str(part["idle"]["cpu_ms_per_second"]),
        )
    yield ""


def _freshness(fresh: Sizes) -> Iterator[str]:
    yield "## Time until a change is visible over HTTP (ms)"
    yield ""
    yield from header("maps", "idle: p50", "max", "under load: p50", "max", "requests", "failed")
    for size, part in fresh.items():
        calm, busy, clients = part["without load"], part["under load"], part["clients"]
        times = (calm["p50"], calm["max"], busy["p50"], busy["max"])
        requests = f"{clients['requests']:,}"
        yield row(count(size), *map(number, times), requests, str(clients["failed"]))
    yield ""


def _changing(changing: Sizes) -> Iterator[str]:
    yield "## Response times while the catalogue changes (ms)"
    yield ""
    names = ("changes per minute", "p50 without", "p50 with", "p99 without", "p99 with", "failed")
    yield from header("maps", *names, "slowest change visible after (s)")
    for size, part in changing.items():
        calm, busy = part["without changes"], part["with changes"]
        times = (calm["p50_ms"], busy["p50_ms"], calm["p99_ms"], busy["p99_ms"])
        shown = number(part["seconds until one showed"]["worst"])
        changes, failed = str(part["changes"]["per_minute"]), str(busy["failed"])
        yield row(count(size), changes, *map(number, times), failed, shown)
    yield ""


def _ageing(ageing: Sizes) -> Iterator[str]:
    yield "## Ageing: a snapshot after many changes, and rebuilt from the same store"
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
            state, title = part[when], after if when == "after" else when
            times = (part.get(f"{name}, {when}", {}).get("p50") for name in searches)
            figures = (state["index MB"], state["segments"], state["records MB"])
            yield row(count(size), title, *map(str, figures), *map(number, times))
    yield ""


def _nodes(nodes: Sizes) -> Iterator[str]:
    yield "## Two nodes with one database, a worker and a core each"
    yield ""
    yield "Requests per second of processor time:"
    yield ""
    names = ("first alone", "second alone", "first of both", "second of both")
    yield from header("maps", *names, "two nodes to one")
    for size, part in nodes.items():
        figures = (f"{part[name]['requests_per_cpu_second']:,.0f}" for name in names)
        ratio = part.get("two_to_one_by_the_clock", part["two_to_one_by_cpu"])
        yield row(count(size), *figures, number(ratio))
    yield ""


def _hostile(hostile: Sizes) -> Iterator[str]:
    yield "## Arbitrary text as a query, over HTTP (ms)"
    yield ""
    yield from header("maps", "texts", "requests", "p50", "p99", "max", "not 200")
    for size, kinds in hostile.items():
        for kind, part in kinds.items():
            times = (part["p50"], part["p99"], part["max"])
            cells = (f"{part['calls']:,}", *map(number, times), str(part["not_200"]))
            yield row(count(size), kind, *cells)
    yield ""


def _overload(overload: Sizes) -> Iterator[str]:
    yield "## Normal clients without and with an attack (ms)"
    yield ""
    names = ("p50 without", "p50 with", "p99 without", "p99 with", "max with", "p99 ratio")
    yield from header("maps", "attack: request", *names, "failed")
    figures = ("calm p50", "p50", "calm p99", "p99", "max", "p99 ratio")
    notes: list[str] = []
    for size, part in overload.items():
        for name, answer in part.items():
            if isinstance(answer, dict) and "p99 ratio" in answer:
                cells = [number(answer[figure]) for figure in figures]
                failed = f"{answer['failed']} of {answer['asked']}"
                yield row(count(size), name, *cells, failed)
            elif ": " in name:
                shown = answer if isinstance(answer, dict) else {"": answer}
                listed = ", ".join(f"{key} {value}".strip() for key, value in shown.items())
                notes.append(f"* {int(size):,} maps, {name}: {listed}")
    yield ""
    yield from notes
    yield ""


def _fuzzing(fuzzing: Sizes) -> Iterator[str]:
    yield "## Generated requests while the catalogue changes"
    yield ""
    yield from header("maps", "requests", "changes", "5xx", "statuses")
    for size, part in fuzzing.items():
        counts = {name: many for name, many in part["requests"].items() if name[0].isdigit()}
        faults = sum(many for name, many in counts.items() if name.startswith("5"))
        listed = ", ".join(f"{name}: {many:,}" for name, many in counts.items())
        requests = f"{sum(counts.values()):,}"
        yield row(count(size), requests, str(part["changes"]["made"]), str(faults), listed)
    yield ""


def _excess(excess: Sizes) -> Iterator[str]:
    yield "## Three times the peak"
    yield ""
    yield from excess_table(excess)


SECTIONS: Final[dict[str, Callable[[Sizes], Iterator[str]]]] = {
    "listing": _listing,
    "searching": _searching,
    "library": _library,
    "building": _publishing,
    "serving": _served,
    "costs": _costs,
    "freshness": _freshness,
    "changing": _changing,
    "ageing": _ageing,
    "hostile": _hostile,
    "overload": _overload,
    "excess": _excess,
    "fuzzing": _fuzzing,
    "nodes": _nodes,
}
"""What yields the tables of each part, in the order of the report."""
