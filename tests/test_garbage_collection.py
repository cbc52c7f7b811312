"""Garbage collections of a worker depend on the time, and long searches run without them."""

import gc
import subprocess
import sys
from functools import partial

import pytest

from mapshelf.garbage_collection import CollectionPause

PROGRAM = """
import gc, time, weakref
from mapshelf.garbage_collection import collect_by_time

class Cycle:
    def __init__(self):
        self.itself = self

def full_collections():
    return gc.get_stats()[2]["collections"]

collect_by_time({every})
cycle = weakref.ref(one := Cycle())
gc.collect(1), gc.collect(1)
del one
before = full_collections()
many = [[] for _ in range(300_000)]
print(full_collections() - before, cycle() is None)
end = time.monotonic() + 60
while {every} < 10 and cycle() is not None and time.monotonic() < end:
    time.sleep(0.05)
print(cycle() is None)
"""


@pytest.mark.process
@pytest.mark.parametrize(("every", "printed"), [(100, "0 False\nFalse\n"), (5, "0 False\nTrue\n")])
def test_full_collections_depend_on_the_time(every: int, printed: str) -> None:
    program = [sys.executable, "-c", PROGRAM.format(every=every)]
    done = subprocess.run(program, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == printed


def test_collections_pause_as_long_as_any_thread_needs() -> None:
    pause = CollectionPause()
    assert gc.isenabled()
    first, second = pause(), pause()
    for step, enabled in (
        (first.__enter__, False),
        (second.__enter__, False),
        (partial(first.__exit__, None, None, None), False),
        (partial(second.__exit__, None, None, None), True),
    ):
        step()
        assert gc.isenabled() is enabled
    gc.disable()
    try:
        with pause():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
