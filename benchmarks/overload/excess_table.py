"""The table of the part ``excess``, for ``docs/reliability.md``."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchmarks.tables import header, number, row

COLUMNS: Final = (
    "What",
    "Peak a second",
    "Asked a second",
    "Served, of the peak",
    "p50; p99 of these",
    "Refused",
    "p50; p99 of these",
    "Without an answer",
    "Sent late, p99",
    "Half of the peak, afterwards",
)


def excess_table(sizes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines: a table for each size of a catalogue."""
    for size, kinds in sizes.items():
        yield f"{int(size):,} maps, times in ms:"
        yield ""
        yield from header(*COLUMNS)
        for name, found in kinds.items():
            yield _line(name, found)
        yield ""


def _line(name: str, found: Mapping[str, Any]) -> str:
    if "failed" in found:
        return row(name, f"failed: {found['failed']}", *("" for _ in COLUMNS[2:]))
    asked, served = found["afterwards asked a second"], found["afterwards served a second"]
    share = served / asked if asked else 0.0
    return row(
        name,
        number(found["peak a second"]),
        number(found["asked a second"]),
        f"{found['of the peak']:.0%}",
        _times(found, "served"),
        f"{found['refused count']:,}",
        _times(found, "refused"),
        _unanswered(found["outcomes"]),
        number(found["sent late p99"]),
        f"{share:.0%} served, p99 {number(found.get('afterwards served p99'))}",
    )


def _times(found: Mapping[str, Any], what: str) -> str:
    if not found[f"{what} count"]:
        return ""
    return f"{number(found[f'{what} p50'])}; {number(found[f'{what} p99'])}"


def _unanswered(outcomes: str) -> str:
    """Return how many requests failed without a status, which would be a number."""
    counted = (one.rpartition("=")[::2] for one in _parts(outcomes))
    return f"{sum(int(many) for name, many in counted if not name.isdigit()):,}"


def _parts(outcomes: str) -> Iterator[str]:
    """Yield each ``name=count``; names may contain spaces."""
    words: list[str] = []
    for word in outcomes.split():
        words.append(word)
        if "=" in word:
            yield " ".join(words)
            words.clear()
