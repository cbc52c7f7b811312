"""Timing of calls, and statistics of the times."""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Times:
    """How long calls took, in milliseconds.

    Attributes:
        calls: number of calls.
        p50: median of the elapsed time.
        p99: 99th percentile of the elapsed time.
        max: the longest elapsed time.
        cpu_p50: median of the processor time, which other programs hardly affect.
        cpu_p99: 99th percentile of the processor time.
    """

    calls: int
    p50: float
    p99: float
    max: float
    cpu_p50: float | None = None
    cpu_p99: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the figures for a results file."""
        return asdict(self)


def times_of(seconds: Iterable[float], used: Iterable[float] = ()) -> Times:
    """Return the statistics of durations, and of the processor time ``used`` in them."""
    taken, cpu = list(seconds), list(used)
    p50, p99 = _percentiles(taken)
    cpu_p50, cpu_p99 = _percentiles(cpu) if cpu else (None, None)
    return Times(len(taken), p50, p99, round(max(taken) * 1000, 4), cpu_p50, cpu_p99)


def timed(call: Callable[[T], object], arguments: Iterable[T]) -> Times:
    """Call ``call`` with each argument; return the times."""
    return times_of(*_each(call, arguments))


def best_of(calls: Iterable[Callable[[T], object]], arguments: Sequence[T]) -> Times:
    """Call all of ``calls`` with each argument; the shortest time of each argument counts.

    If all do the same work, this leaves out pauses of the machine.
    """
    rounds = [np.array(_each(call, arguments)) for call in calls]
    taken, used = np.minimum.reduce(rounds).tolist()
    return times_of(taken, used)


def _each(call: Callable[[T], object], arguments: Iterable[T]) -> tuple[list[float], list[float]]:
    """Return the seconds that each call took, and the processor time in them."""
    clock, processor = time.perf_counter, time.thread_time
    taken, used = [], []
    gc.collect()
    gc.freeze()  # as in a worker; otherwise each collection scans the objects of the benchmark
    for argument in arguments:
        before = processor()
        began = clock()
        call(argument)
        ended = clock()
        used.append(processor() - before)
        taken.append(ended - began)
    return taken, used


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    p50, p99 = (np.percentile(seconds, (50, 99)) * 1000).round(4).tolist()
    return p50, p99
