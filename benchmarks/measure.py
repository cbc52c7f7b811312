"""Timing calls, and telling what the times say."""

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
        calls: how many there were.
        p50: median by the clock.
        p99: 99 of 100 took no longer.
        max: the longest.
        cpu_p50: median of the processor time used, which other programs do not lengthen much.
        cpu_p99: the same for 99 of 100.
    """

    calls: int
    p50: float
    p99: float
    max: float
    cpu_p50: float | None = None
    cpu_p99: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it for a results file."""
        return asdict(self)


def times_of(seconds: Iterable[float], used: Iterable[float] = ()) -> Times:
    """Return what there is to say of so many durations, and of the processor time in them."""
    taken, cpu = list(seconds), list(used)
    p50, p99 = _percentiles(taken)
    cpu_p50, cpu_p99 = _percentiles(cpu) if cpu else (None, None)
    return Times(len(taken), p50, p99, round(max(taken) * 1000, 4), cpu_p50, cpu_p99)


def timed(call: Callable[[T], object], arguments: Iterable[T]) -> Times:
    """Call ``call`` with each argument."""
    return times_of(*_each(call, arguments))


def best_of(calls: Iterable[Callable[[T], object]], arguments: Sequence[T]) -> Times:
    """Call all of ``calls`` with each argument; the shortest time of each argument counts.

    Where calls do the same work, pauses of the machine do not count in this way.
    """
    rounds = [np.array(_each(call, arguments)) for call in calls]
    taken, used = np.minimum.reduce(rounds).tolist()
    return times_of(taken, used)


def _each(call: Callable[[T], object], arguments: Iterable[T]) -> tuple[list[float], list[float]]:
    """Return the seconds that each call took, and the processor time in them."""
    clock, processor = time.perf_counter, time.thread_time
    taken, used = [], []
    gc.collect()
    gc.freeze()  # as in a worker; what a benchmark holds besides would be looked through, too
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
