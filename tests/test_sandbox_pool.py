"""Child processes have a lower priority than the service, and closing them ends all waits."""

import errno
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import SpawnContext
from pathlib import Path

import pytest
from pebble import ProcessExpired

from mapshelf.errors import StoreUnavailable
from mapshelf.sandbox.pool import ConfinedChild, ConfinedPool

PATIENCE = 30.0
"""Seconds to wait for a child before a test fails."""

pytestmark = pytest.mark.process


@pytest.fixture(scope="module", autouse=True)
def lending() -> None:
    """Give each test its own child processes."""


def test_a_child_has_a_lower_priority_than_its_parent() -> None:
    child = ConfinedChild(1 << 30, 64)
    try:
        priority = child.call(os.getpriority, (os.PRIO_PROCESS, 0), 30.0)
    finally:
        child.close()
    assert priority == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


def _complain() -> int:
    return os.write(2, b"memory allocation of 9 bytes failed\nstack backtrace:\n")


def test_nothing_that_a_child_prints_gets_into_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    child = ConfinedChild(1 << 30, 64)
    try:
        assert child.call(_complain, (), 30.0) > 0
    finally:
        child.close()
    assert "backtrace" not in "".join(capfd.readouterr())


_used: list[int] = []


def _use_memory(most: int, note: str, failure: str) -> int:
    """Stand for code that keeps memory, and fails when it gets no more."""
    with open(note, "a") as file:
        file.write(".")
    _used.append(1)
    if len(_used) > most:
        if failure == "abort":
            os.abort()
        raise MemoryError
    return os.getpid()


@pytest.mark.parametrize("failure", ["abort", "error"])
def test_a_task_does_not_fail_for_what_earlier_ones_have_used(tmp_path: Path, failure: str) -> None:
    child, note = ConfinedChild(1 << 30, 64, 1 << 20), tmp_path / "tasks"
    try:
        found = [child.call(_use_memory, (2, str(note), failure), 30.0) for _ in range(5)]
        assert found[0] == found[1] != found[2] == found[3] != found[4]
        assert note.stat().st_size == 5 + 2
    finally:
        child.close()


@pytest.mark.parametrize("failure", ["abort", "error"])
def test_a_task_that_needs_too_much_is_tried_in_one_new_child(tmp_path: Path, failure: str) -> None:
    child, note = ConfinedChild(1 << 30, 64, 1 << 20), tmp_path / "tasks"
    error = ProcessExpired if failure == "abort" else MemoryError
    try:
        with pytest.raises(error):
            child.call(_use_memory, (0, str(note), failure), 30.0)
        assert note.stat().st_size == 1
        child.call(os.getpid, (), 30.0)
        with pytest.raises(error):
            child.call(_use_memory, (0, str(note), failure), 30.0)
        assert note.stat().st_size == 3
    finally:
        child.close()


def _never_ends() -> None:
    time.sleep(600)


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.3])
def test_closing_a_child_ends_all_waits_with_an_error(pause: float) -> None:
    child = ConfinedChild(1 << 30, 64)
    child.call(os.getpid, (), 30.0)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(child.call, _never_ends, (), 600.0)
        time.sleep(pause)
        child.close()
        with pytest.raises(StoreUnavailable):
            waiting.result(60)


def test_tasks_of_a_pool_that_is_closed_are_given_up() -> None:
    pool = ConfinedPool(2, 1 << 30, 64)
    assert pool.result(pool.submit(os.getpid, (), 30.0)) != os.getpid()
    tasks = [pool.submit(_never_ends, (), 600.0) for _ in range(20)]
    pool.close()
    for task in tasks:
        with pytest.raises(BrokenProcessPool):
            pool.result(task)
    with pytest.raises(BrokenProcessPool):
        pool.result(pool.submit(os.getpid, (), 30.0))


def test_there_are_as_many_children_as_tasks_are_expected() -> None:
    pool = ConfinedPool(2, 1 << 30, 64)
    try:
        for tasks, children in ((1, 1), (3, 2), (1, 2)):
            pool.expect(tasks)
            waiting = [pool.submit(_waits, (), PATIENCE) for _ in range(4)]
            assert len({one.result(PATIENCE) for one in waiting}) <= children
            assert len(pool._children._made) == children
    finally:
        pool.close()


def _waits() -> int:
    time.sleep(0.01)
    return os.getpid()


class Deadly:
    """A result that kills the child that sends it."""

    def __reduce__(self) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""


def test_a_child_that_is_killed_while_it_sends_its_result_blocks_no_other() -> None:
    """For two minutes, its successors waited for a lock that it had held."""
    pool = ConfinedPool(2, memory=256 << 20, descriptors=64)
    try:
        with pytest.raises(ProcessExpired):
            pool.result(pool.submit(Deadly, (), PATIENCE))
        following = [pool.submit(len, ("abc",), PATIENCE) for _ in range(3)]
        assert [one.result(PATIENCE) for one in following] == [3] * 3
    finally:
        pool.close()


def test_children_without_tasks_end_and_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.sandbox.pool.IDLE_SECONDS", 0.2)
    child = ConfinedChild(1 << 30, 64)
    try:
        first = child.call(os.getpid, (), 30.0)
        until = time.monotonic() + 60
        while _is_running(first) and time.monotonic() < until:
            time.sleep(0.05)
        assert child.call(os.getpid, (), 30.0) != first
    finally:
        child.close()


def test_children_with_a_task_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.sandbox.pool.IDLE_SECONDS", 0.1)
    child = ConfinedChild(1 << 30, 64)
    try:
        assert child.call(_sleeps, (0.5,), 30.0) == 0.5
    finally:
        child.close()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_a_child_that_the_system_cannot_start_is_started_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its locks are files in ``/dev/shm``, which anybody may fill."""

    def full(self: SpawnContext) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    child = ConfinedChild(1 << 30, 64)
    with monkeypatch.context() as patched:
        patched.setattr(SpawnContext, "RLock", full)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match=r"No space left on device \(is /dev/shm"):
                child.call(abs, (-1,), 30.0)
    assert child.call(abs, (-1,), 30.0) == 1
    child.close()
