"""The counters of a worker, and how those of several workers are added up.

All names of operations, errors and queues come from our own tables, never from clients, so their
number is bounded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

BOUNDS: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Upper bounds of the duration buckets in seconds: two for each power of ten. A cached list takes
less than the first; requests are refused before the last."""

Numbers = dict[str, dict[str, list[float]]]
"""Numbers by kind, and by the name of the subject."""


class OperationCounts:
    """The requests for one operation in one worker.

    Attributes:
        name: method and route, as ``GET /maps/{id}``.
        statuses: number of responses by status.
        buckets: number of requests by duration: one bucket for each of ``BOUNDS``, not cumulative,
            and a last one for longer durations.
        seconds: total duration.
    """

    __slots__ = ("buckets", "name", "seconds", "statuses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.statuses: dict[int, int] = {}
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


@dataclass(slots=True)
class TaskCounts:
    """The tasks of one queue, or of another source of work, in one worker.

    Attributes:
        done: tasks that finished or failed.
        refused: tasks that were refused because the queue was full.
        late: tasks that were dropped because they did not start in time.
        waited: seconds that the done tasks waited in the queue.
        worked: seconds that the done tasks ran.
    """

    done: int = 0
    refused: int = 0
    late: int = 0
    waited: float = 0.0
    worked: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a worker, or of all workers of a node.

    Attributes:
        totals: counters that only grow, including those of dead workers.
        gauges: current values.
        workers: the number of workers.
    """

    totals: Numbers = field(default_factory=dict)
    gauges: Numbers = field(default_factory=dict)
    workers: int = 0

    def total(self, kind: str, about: str = "") -> list[float]:
        """Return the counter of a subject, empty if it is unknown."""
        return self.totals.get(kind, {}).get(about, [])


def add_numbers(summands: Iterable[Mapping[str, Any]]) -> Numbers:
    """Return the sums by kind and subject."""
    sums: Numbers = {}
    for numbers in summands:
        for kind, by_subject in numbers.items():
            kept = sums.setdefault(kind, {})
            for about, values in by_subject.items():
                known = kept.get(about, [0.0] * len(values))
                kept[about] = [one + other for one, other in zip(known, values, strict=True)]
    return sums


def numbers_of_operations(operations: Iterable[OperationCounts]) -> Numbers:
    """Return the counters of operations that had requests."""
    requests: dict[str, list[float]] = {}
    durations: dict[str, list[float]] = {}
    for one in operations:
        for status, count in one.statuses.items():
            requests[f"{one.name}\t{status}"] = [count]
        if one.statuses:
            durations[one.name] = [*one.buckets, one.seconds]
    return {"requests": requests, "durations": durations}
