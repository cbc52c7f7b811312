"""Tasks of a worker wait for changes of files without polling, and can be cancelled."""

import asyncio
import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.api.waiting import FileChanges, aligned_deadline
from tests.harness import PATIENCE

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes")


@pytest.mark.parametrize(
    ("now", "seconds", "end"),
    [
        (10.0, 1.0, 11.0),
        (10.4, 1.0, 11.0),
        (10.4, 2.0, 12.0),
        (10.4, 0.7, 11.1),  # not a second apart
        (10.995, 1.0, 12.0),  # the timer of 11 was early
        (10.985, 1.0, 11.0),
    ],
)
def test_tasks_that_wait_for_a_second_wake_up_together(
    now: float, seconds: float, end: float
) -> None:
    assert aligned_deadline(now, seconds) == pytest.approx(end)


@linux
def test_a_change_ends_the_wait(tmp_path: Path) -> None:
    async def run() -> None:
        with closing(FileChanges(tmp_path)) as changes:
            assert not await changes.wait(0.0)
            asyncio.get_running_loop().call_soon(os.utime, tmp_path)
            assert await changes.wait(PATIENCE)
            assert not await changes.wait(0.0), "each change is reported once"
            os.utime(tmp_path)
            assert await changes.wait(PATIENCE), "also one from before the wait"

    asyncio.run(run())


def test_a_missing_folder_is_waited_for(tmp_path: Path) -> None:
    async def run() -> None:
        with closing(FileChanges(tmp_path / "later")) as changes:
            assert await changes.wait(0.0), "it cannot know"
            (tmp_path / "later").mkdir()
            await changes.wait(0.0)
            os.utime(tmp_path / "later")
            assert await changes.wait(PATIENCE)

    asyncio.run(run())


def test_a_waiting_task_can_be_cancelled(tmp_path: Path) -> None:
    async def run() -> None:
        with closing(FileChanges(tmp_path)) as changes:
            task = asyncio.create_task(changes.wait(PATIENCE))
            await asyncio.sleep(0)
            os.utime(tmp_path)
            task.cancel()  # at the same moment as the change
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
