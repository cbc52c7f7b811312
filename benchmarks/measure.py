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
    """How long calls took, in milliseconds."""

    calls: int
    p50: float
    p99: float
    max: float

    def as_json(self) -> dict[str, Any]:
        """Return it for a results file."""
        return asdict(self)


def times_of(seconds: Iterable[float]) -> Times:
    """Return what there is to say of so many durations."""
    taken = np.array(list(seconds)) * 1000
    p50, p99 = np.percentile(taken, (50, 99)).tolist()
    return Times(len(taken), round(p50, 4), round(p99, 4), round(float(taken.max()), 4))


def timed(call: Callable[[T], object], arguments: Iterable[T]) -> Times:
    """Call ``call`` with each argument."""
    clock = time.perf_counter
    taken = []
    gc.collect()
    for argument in arguments:
        began = clock()
        call(argument)
        taken.append(clock() - began)
    return times_of(taken)
