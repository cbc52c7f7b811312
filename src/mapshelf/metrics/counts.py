"""What workers count, and how the counts of several are added up.

Names of operations, errors and queues are all from our own tables: nothing that a client sends
becomes one, so there is a bounded number of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

BOUNDS: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Upper bounds of the buckets of durations, in seconds: two for each power of ten. A cached list
takes less than the first; clients are refused before the last."""

Numbers = dict[str, dict[str, list[float]]]
"""Numbers of a kind, by its name and by what they are about."""


class OperationCounts:
    """The requests for one operation in one worker.

    Attributes:
        name: method and route, as ``GET /maps/{id}``.
        statuses: how many got each status.
        buckets: how many took at most each of ``BOUNDS``, and longer than the one before; the last
            is of those that took longer than all.
        seconds: how long all of them took.
    """

    __slots__ = ("buckets", "name", "seconds", "statuses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.statuses: dict[int, int] = {}
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


@dataclass(slots=True)
class TaskCounts:
    """The tasks of one queue in one worker, or of whatever else takes time.

    Attributes:
        done: tasks that were done, or failed.
        refused: tasks that were refused because the queue was full.
        late: tasks that were given up because they did not begin in time.
        waited: seconds that the done ones waited for their turn.
        worked: seconds that these took.
    """

    done: int = 0
    refused: int = 0
    late: int = 0
    waited: float = 0.0
    worked: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """What a worker, or all of a node, counted.

    Attributes:
        totals: what only grows: of workers that have died, too.
        gauges: what is so at the moment.
        workers: how many workers there are.
    """

    totals: Numbers = field(default_factory=dict)
    gauges: Numbers = field(default_factory=dict)
    workers: int = 0

    def total(self, kind: str, about: str = "") -> list[float]:
        """Return what was counted about something, nothing if that is unknown."""
        return self.totals.get(kind, {}).get(about, [])


def add_numbers(summands: Iterable[Mapping[str, Any]]) -> Numbers:
    """Return the sums of numbers of the same kind about the same."""
    sums: Numbers = {}
    for numbers in summands:
        for kind, by_subject in numbers.items():
            kept = sums.setdefault(kind, {})
            for about, values in by_subject.items():
                known = kept.get(about, [0.0] * len(values))
                kept[about] = [one + other for one, other in zip(known, values, strict=True)]
    return sums


def numbers_of_operations(operations: Iterable[OperationCounts]) -> Numbers:
    """Return what was counted about operations, those that nobody asked for left out."""
    requests: dict[str, list[float]] = {}
    durations: dict[str, list[float]] = {}
    for one in operations:
        for status, count in one.statuses.items():
            requests[f"{one.name}\t{status}"] = [count]
        if one.statuses:
            durations[one.name] = [*one.buckets, one.seconds]
    return {"requests": requests, "durations": durations}
