"""Work that takes long moves to another queue, with the further work of its owner, and no other."""

import asyncio
import threading
from functools import partial

from mapshelf.api.feedback_queue import (
    OwnerFeedbackQueue,
    TakesLong,
    WouldTakeLong,
    must_be_quick,
)
from mapshelf.api.work_queue import WorkQueue
from tests.harness import PATIENCE


def test_who_shares_work_with_an_owner_of_long_work_does_not_wait_for_that() -> None:
    going_on, ending = threading.Event(), threading.Event()

    def take_long() -> None:
        if must_be_quick():
            assert going_on.wait(PATIENCE)
            raise TakesLong
        assert ending.wait(PATIENCE)

    async def test() -> None:
        long_work = WorkQueue("long", 1, 8)
        queue = OwnerFeedbackQueue("quick", 1, 8, long_work)
        costly = asyncio.create_task(queue.result("x", take_long, owner=partial(str, "a")))
        await asyncio.sleep(0)
        first = asyncio.create_task(queue.result("p", must_be_quick, owner=partial(str, "a")))
        other = asyncio.create_task(queue.result("p", must_be_quick, owner=partial(str, "b")))
        await asyncio.sleep(0)
        assert queue.waiting == 1
        going_on.set()
        assert await asyncio.wait_for(other, PATIENCE)
        assert not first.done()
        ending.set()
        assert not await first
        await costly
        await queue.close()
        await long_work.close()

    asyncio.run(test())


def test_who_shows_work_of_others_that_would_take_long_is_not_taken_for_greedy() -> None:
    def known_to_take_long() -> bool:
        if must_be_quick():
            raise WouldTakeLong
        return True

    async def test() -> None:
        long_work = WorkQueue("long", 1, 8)
        queue = OwnerFeedbackQueue("quick", 1, 8, long_work)
        assert await queue.result("x", known_to_take_long, owner=partial(str, "a"))
        assert await queue.result("y", must_be_quick, owner=partial(str, "a"))
        await queue.close()
        await long_work.close()

    asyncio.run(test())
