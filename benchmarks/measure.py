"""Timing calls, and telling what the times say."""

import gc
import time
from collections.abc import Callable, Iterable
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
    clock, processor = time.perf_counter, time.thread_time
    taken, used = [], []
    gc.collect()
    for argument in arguments:
        before = processor()
        began = clock()
        call(argument)
        ended = clock()
        used.append(processor() - before)
        taken.append(ended - began)
    return times_of(taken, used)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    p50, p99 = (np.percentile(seconds, (50, 99)) * 1000).round(4).tolist()
    return p50, p99
