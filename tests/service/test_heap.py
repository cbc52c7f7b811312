"""Memory that was freed goes back to the system, now and then."""

import time

from mapshelf.service.heap import HeapTrimmer


def test_memory_is_returned_now_and_then() -> None:
    """Asked all the time, as the builder does, it happens once a minute."""
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
