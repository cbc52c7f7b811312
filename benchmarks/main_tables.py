"""The main tables, for ``docs/benchmarks.md``."""

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.all_tables import SERVED
from benchmarks.tables import Sizes, count, having, header, label, megabytes, number, row

PAGES: Final = (
    "library page again",
    "library page new",
    "page of a search, new",
    "map page new, 100 topics",
    "thumbnails again",
)
"""Requests that browsers send, of those in the part ``costs``."""

IN_PROCESS: Final = {
    "listing": (
        "list all",
        "list category + software",
        "list, everything mixed, fresh",
        "page, everything mixed",
    ),
    "searching": (
        "rare word",
        "middling word",
        "common word",
        "two words",
        "phrase",
        "beginning, three letters",
        "Chinese word",
        "suggestions for two letters",
        "suggestions for a word and three letters",
    ),
}


def main_tables(sizes: Sizes) -> Iterator[str]:
    """Yield three tables: over HTTP, in process, and the cost of building and serving."""
    yield from _over_http(sizes)
    yield from _in_process(sizes)
    yield from _needs(sizes)


def _over_http(sizes: Sizes) -> Iterator[str]:
    """Yield the throughput of one worker on one core: the API, and pages if measured."""
    served, costs = having(sizes, "serving"), having(sizes, "costs")
    if not served and not costs:
        return
    yield "### Over HTTP, one worker on one core"
    yield ""
    names = ("requests", "per second", "per second of processor time", "p50 ms", "p99 ms")
    yield from header("maps", *names)
    for size in sizes:
        for name, answer in served.get(size, {}).items():
            if name in SERVED:
                rates = (answer["requests_per_second"], answer["requests_per_cpu_second"])
                yield _answers(size, name, rates, answer)
        for name in PAGES:
            answer = costs.get(size, {}).get(name)
            if answer and "over_http" in answer:
                yield _answers(size, name, (None, 1e6 / answer["over_http"]), answer)
    yield ""


def _answers(
    size: str, name: str, rates: tuple[float | None, float], answer: dict[str, Any]
) -> str:
    clock, processor = rates
    per_second = "" if clock is None else f"{clock:,.0f}"
    times = (answer.get("p50_ms"), answer.get("p99_ms"))
    return row(count(size), label(name), per_second, f"{processor:,.0f}", *map(number, times))


def _in_process(sizes: Sizes) -> Iterator[str]:
    measured = {size: parts for size, parts in sizes.items() if set(IN_PROCESS) & set(parts)}
    if not measured:
        return
    yield "### In process: p50 (p99) in ms"
    yield ""
    yield from header("", *(f"{count(size)} maps" for size in measured))
    for part, questions in IN_PROCESS.items():
        for question in questions:
            answers = [parts.get(part, {}).get(question) for parts in measured.values()]
            if any(answers):
                yield row(label(question), *map(_times, answers))
    yield ""


def _times(answer: dict[str, Any] | None) -> str:
    return f"{number(answer['p50'])} ({number(answer['p99'])})" if answer else ""


def _needs(sizes: Sizes) -> Iterator[str]:
    """Yield the time, memory and disk space to build and serve a catalogue."""
    yield "### Building, memory and start-up"
    yield ""
    names = ("full build (s)", "index merged (s)", "its processor time (s)", "snapshot", "store")
    served = ("one change published (ms)", "memory of a worker (MB)", "ready after (s)")
    yield from header("maps", *names, *served)
    for size, parts in sizes.items():
        build, serving = parts["full_build"], parts.get("serving")
        change = parts.get("building", {}).get("publishing one change", {})
        yield row(
            count(size),
            f"{build['seconds']:,.1f}",
            f"{build.get('merged_seconds', build['seconds']):,.1f}",
            f"{build['cpu_seconds']:,.1f}",
            megabytes(build["snapshot_bytes"]),
            megabytes(parts["store"]["store_bytes"]),
            number(change.get("p50")),
            str(serving["memory_after_load"]["own_mb"]) if serving else "",
            f"{serving['ready_seconds']:.2f}" if serving else "",
        )
    yield ""
