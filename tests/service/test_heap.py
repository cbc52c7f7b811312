"""Freed memory is returned to the system from time to time."""

import time

from mapshelf.service.heap import HeapTrimmer


def test_memory_is_returned_once_a_minute() -> None:
    """The builder asks all the time, and memory is returned once a minute."""
    done: list[int] = []

    def trim(kept: int) -> int:
        done.append(kept)
        return 1

    trimmer = HeapTrimmer(_trim=trim)
    for _ in range(3):
        trimmer.trim_due()
    assert done == [0]
    trimmer.next_return = time.monotonic()
    trimmer.trim_due()
    assert done == [0, 0]


def test_systems_without_the_function_are_left_alone() -> None:
    trimmer = HeapTrimmer(_trim=None)
    trimmer.trim_due()
    assert trimmer.next_return == 0
