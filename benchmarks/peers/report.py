"""The tables of the peers, for ``benchmarks.report``."""

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.peers.questions import VARIANTS, WEIGHTS
from benchmarks.tables import Sizes, count, header, label, megabytes, number, row

Result = dict[str, Any]

NAMES: Final = ("Mapshelf", "SQLite FTS5", "PostgreSQL", "Datasette", "Groonga", "Tantivy")
"""The peers in the order of columns, the bare engine last."""

TITLES: Final = {"Tantivy": "bare Tantivy"}

ALTERNATIVE: Final = (
    "Each system as a mark: median latency of every kind of search, and searches per second by the"
    " number of maps; the tables have the figures"
)
"""Alternative text of the plot."""

NEAR: Final = 0.03
"""Relative difference in the number of matches above which the table shows it."""

CASES: Final = (
    "listing",
    *(f"{kind} {variant}".strip() for variant in VARIANTS for kind in WEIGHTS),
    "mixed",
)


def compared(sizes: Sizes, plot: str) -> Iterator[str]:
    """Yield the lines that compare the peers at each size; ``plot`` is the URL of the plot."""
    yield from _versions(sizes)
    yield from _picture(plot)
    for size, results in sizes.items():
        yield f"## {count(size)} maps"
        yield ""
        yield from _summary(results)
        yield from _latencies(results)
        yield from _throughputs(results)
        yield from _costs(results)


def summarized(sizes: Sizes, plot: str) -> Iterator[str]:
    """Yield the main results: throughput on the mixed load, and the plot."""
    *_, last = sizes.values()
    names = [name for name in NAMES if any(name in results for results in sizes.values())]
    clients = last["about"]["connections"]
    yield f"Mixed load, searches per second, {clients} clients (bare Tantivy: one):"
    yield ""
    yield from header("maps", *(TITLES.get(name, name) for name in names))
    for size, results in sizes.items():
        mixed = (results[name]["cases"].get("mixed") if name in results else None for name in names)
        yield row(count(size), *map(_throughput, mixed))
    yield ""
    yield from _picture(plot)


def _picture(plot: str) -> Iterator[str]:
    yield f"![{ALTERNATIVE}]({plot})"
    yield ""


def _versions(sizes: Sizes) -> Iterator[str]:
    *_, last = sizes.values()
    versions = ", ".join(f"{name} {number}" for name, number in last["about"]["versions"].items())
    yield f"Systems: {versions}. The first search of each kind:"
    examples = last["about"]["examples"].items()
    yield "; ".join(f"{label(kind)} `{texts[0]}`" for kind, texts in examples if texts) + "."
    yield ""


def _summary(results: Result) -> Iterator[str]:
    """Yield one sentence on the mixed load."""
    mixed = {name: results[name]["cases"].get("mixed", {}) for name in _present(results)}
    ours = mixed.get("Mapshelf", {}).get("requests_per_second")
    if not ours:
        return
    others = (
        f"{ours / case['requests_per_second']:.1f} times {name}"
        for name, case in mixed.items()
        if name not in ("Mapshelf", "Tantivy") and case.get("requests_per_second")
    )
    rate = f"{number(ours)} searches per second"
    yield f"On the mixed load Mapshelf answers {rate}: {', '.join(others)}."
    yield ""


def _latencies(results: Result) -> Iterator[str]:
    names = _present(results)
    titles = (TITLES.get(name, name) for name in names)
    yield "One client: p50 (p99) in ms."
    yield ""
    yield from header("search", "matches", *titles, "Mapshelf ÷ parts")
    for case in CASES:
        found = {name: results[name]["cases"].get(case) for name in names}
        maps = _maps(found)
        if any(found.values()):
            parts = results.get("Mapshelf ÷ parts", {}).get(case)
            cells = (_latency(found[name], maps) for name in names)
            yield row(label(case), number(maps), *cells, "" if parts is None else f"{parts:.2f}")
    yield ""


def _maps(found: dict[str, Result | None]) -> float | None:
    """Return the number of matches of a case, from the bare engine if possible."""
    for name in ("Tantivy", *NAMES):
        case = found.get(name)
        if case and "maps" in case:
            maps: float = case["maps"]
            return maps
    return None


def _latency(case: Result | None, maps: float | None) -> str:
    if case is None:
        return ""
    if "unanswered" in case:
        return "gave up"
    text = f"{number(case['p50'])} ({number(case['p99'])})"
    if maps is not None and abs(case["maps"] - maps) > max(1, NEAR * maps):
        text += f", finds {number(case['maps'])}"
    return text


def _throughputs(results: Result) -> Iterator[str]:
    names = _present(results)
    clients = results["about"]["connections"]
    yield f"{clients} clients at once (bare Tantivy: one): searches per second."
    yield ""
    yield from header("search", *(TITLES.get(name, name) for name in names))
    for case in CASES:
        found = [results[name]["cases"].get(case) for name in names]
        if any(found):
            yield row(label(case), *map(_throughput, found))
    yield ""


def _throughput(case: Result | None) -> str:
    if case is None:
        return ""
    failed = f", {case['failed']} failed" if case.get("failed") else ""
    return number(case.get("requests_per_second")) + failed


def _costs(results: Result) -> Iterator[str]:
    yield from header(
        "", "build (s)", "on disk", "index alone", "memory written", "file pages mapped", "RSS"
    )
    for name in _present(results):
        built, memory = results[name]["build"], results[name]["memory_after_load"]
        yield row(
            TITLES.get(name, name),
            number(built["seconds"]),
            megabytes(built["disk_bytes"]),
            megabytes(built["index_bytes"]),
            f"{memory['kept_mb']:,.0f} MB",
            f"{memory['mapped_mb']:,.0f} MB",
            f"{memory['rss_mb']:,.0f} MB",
        )
    yield ""


def _present(results: Result) -> list[str]:
    return [name for name in NAMES if name in results]
