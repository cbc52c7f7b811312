"""Equal work is done once, within limits, and not for clients that have left."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.api import work_queue
from mapshelf.api.one_per_owner_queue import OnePerOwnerQueue
from mapshelf.api.read_queue import ReadQueue
from mapshelf.api.turns import SHORT
from mapshelf.api.waiting_requests import WaitingLimit
from mapshelf.api.work_queue import LONGEST_RETRY, WorkQueue
from mapshelf.errors import ClientDisconnected, Ending, NotFound, Overloaded
from tests.examples import examples

SOON = 5.0
"""Seconds after which something does not happen any more."""


class Work:
    """Work that runs until the test releases it, and counts how often it was started."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = threading.Event()

    def make(self, name: str) -> str:
        self.begun.append(name)
        assert self.may_end.wait(SOON)
        return f"{name} made"


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.may_end.set()


async def never() -> None:
    await asyncio.Event().wait()


async def at_once() -> None:
    """Hang up."""


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 4 * SOON))


async def until(condition: Any) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.001)


def test_owners_of_work_take_turns(work: Work) -> None:
    """Nobody waits for all the earlier work of another owner."""

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=20)
        order = ["a1", "a2", "a3", "b1", "b2", "a4", "c1", "c2"]
        asked = [
            asyncio.create_task(
                queue.result(name, partial(work.make, name), owner=partial(str, name[0]))
            )
            for name in order
        ]
        await until(lambda: work.begun)
        asked.append(asyncio.create_task(queue.result("nobody's", lambda: work.make("nobody's"))))
        await asyncio.sleep(0.01)
        work.may_end.set()
        await asyncio.gather(*asked)

    run(test())
    first, *others = work.begun
    assert first == "a1"
    assert others == ["b1", "c1", "nobody's", "a2", "b2", "c2", "a3", "a4"]


def test_an_owner_takes_only_one_thread_of_several(work: Work) -> None:
    """Its other work waits, within the limit of the queue, while others find a free thread."""

    async def test() -> None:
        queue = OnePerOwnerQueue("test", threads=3, waiting=2)

        def ask(name: str) -> "asyncio.Task[str]":
            make = partial(work.make, name)
            return asyncio.create_task(queue.result(name, make, owner=partial(str, name[0])))

        asked = [ask(name) for name in ("a1", "a2", "a3", "a4", "b1", "b2")]
        await until(lambda: len(work.begun) == 2 and asked[2].done() and asked[3].done())
        assert set(work.begun) == {"a1", "b1"}
        assert queue.waiting == 2
        work.may_end.set()
        done = await asyncio.gather(*asked, return_exceptions=True)
        assert [isinstance(one, Overloaded) for one in done] == [0, 0, 1, 1, 0, 0]

    run(test())
    assert set(work.begun) == {"a1", "a2", "b1", "b2"}


def test_long_work_costs_turns_of_whoever_had_the_turn(work: Work) -> None:
    """Not of who asked first, and has left."""

    async def test() -> None:
        queue, done = WorkQueue("test", threads=1, waiting=20), list[str]()

        def make(name: str) -> None:
            time.sleep(2.5 * SHORT if name == "shared" else 0)
            done.append(name)

        def ask(name: str, owner: str) -> "asyncio.Task[None]":
            return asyncio.create_task(
                queue.result(name, partial(make, name), never, partial(str, owner))
            )

        running = asyncio.create_task(queue.result("first", partial(work.make, "first")))
        await until(lambda: work.begun)
        leaving = ask("shared", "a")
        await asyncio.sleep(0)
        others = [ask("shared", "b"), *(ask(name, name[0]) for name in ("b2", "c1", "c2", "c3"))]
        await until(lambda: queue.waiting == 5)
        leaving.cancel()
        work.may_end.set()
        await asyncio.gather(running, *others)
        assert done == ["shared", "c1", "c2", "c3", "b2"]
        await queue.close()

    run(test())


def test_a_full_queue_makes_room_for_whoever_has_less_waiting(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=3)
        asked = {
            name: asyncio.create_task(
                queue.result(name, partial(work.make, name), owner=partial(str, name[0]))
            )
            for name in ("a1", "a2", "a3", "a4")
        }
        await until(lambda: work.begun)
        for name in ("b1", "c1"):
            queue.check_room(partial(str, name[0]))
            asked[name] = asyncio.create_task(
                queue.result(name, partial(work.make, name), owner=partial(str, name[0]))
            )
            await asyncio.sleep(0)
        for name in ("d1", "b2", "a5"):  # all have one waiting now
            with pytest.raises(Overloaded):
                queue.check_room(partial(str, name[0]))
            with pytest.raises(Overloaded):
                await queue.result(name, partial(work.make, name), owner=partial(str, name[0]))
        for name in ("a4", "a3"):
            with pytest.raises(Overloaded) as refused:
                await asked.pop(name)
            assert refused.value.retry_after > 0
        assert queue.counts.refused == 2 + 2 * 3
        work.may_end.set()
        await asyncio.gather(*asked.values())
        assert work.begun == ["a1", "b1", "c1", "a2"]
        await queue.close()

    run(test())


def test_work_that_others_wait_for_is_not_refused_with_that_of_its_first_owner(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=2)
        asked = [
            asyncio.create_task(
                queue.result(name, partial(work.make, name), owner=partial(str, "a"))
            )
            for name in ("a1", "a2", "a3")
        ]
        await until(lambda: work.begun)
        also = asyncio.create_task(queue.result("a3", lambda: "unused", owner=partial(str, "b")))
        await asyncio.sleep(0)
        third = asyncio.create_task(
            queue.result("c1", partial(work.make, "c1"), owner=partial(str, "c"))
        )
        await asyncio.sleep(0)
        work.may_end.set()
        with pytest.raises(Overloaded):
            await asked[1]
        assert [await also, await third] == ["a3 made", "c1 made"]
        assert await asked[2] == "a3 made"
        await queue.close()

    run(test())


class Later(asyncio.SelectorEventLoop):
    """An event loop in which time passes faster when a test says so."""

    passed = 0.0

    def time(self) -> float:
        return super().time() + self.passed


def test_whoever_joins_work_has_a_time_limit_of_its_own(work: Work) -> None:
    loop = Later()

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=2, longest=8.0)
        first = asyncio.create_task(queue.result("a", partial(work.make, "a")))
        await until(lambda: work.begun)
        make = partial(work.make, "b")
        earlier = asyncio.create_task(queue.result("b", make, owner=partial(str, "a")))
        await asyncio.sleep(0)
        loop.passed += 6.0
        later = asyncio.create_task(queue.result("b", make, owner=partial(str, "b")))
        await asyncio.sleep(0)
        loop.passed += 6.0
        with pytest.raises(Overloaded):
            await earlier
        assert not later.done()
        work.may_end.set()
        assert await first == "a made"
        assert await later == "b made"
        await queue.close()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(asyncio.wait_for(test(), 4 * SOON))


THREADS: Final = 2

STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(("ask", "ask", "watch", "cancel", "hang up", "turn of the loop", "finish")),
        st.integers(0, 11),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=examples(200))
@given(STEPS)
def test_no_thread_is_lost_whenever_clients_leave(steps: list[tuple[str, int]]) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=THREADS, waiting=3)
        gate = threading.Semaphore(0)
        asked: list[asyncio.Task[bool]] = []
        hang_ups: list[asyncio.Event] = []
        for kind, number in steps:
            if kind in ("ask", "watch"):
                hang_ups.append(asyncio.Event())
                watched = hang_ups[-1].wait if kind == "watch" else None
                make = partial(gate.acquire, timeout=SOON)
                task = queue.result(number % 4, make, watched, partial(int, number // 4))  # type: ignore[arg-type]
                asked.append(asyncio.create_task(task))
            elif kind == "cancel" and asked:
                asked[number % len(asked)].cancel()
            elif kind == "hang up" and hang_ups:
                hang_ups[number % len(hang_ups)].set()
            elif kind == "finish":
                gate.release()
            await asyncio.sleep(0)
        gate.release(len(steps))
        for ended in await asyncio.gather(*asked, return_exceptions=True):
            assert ended is True or isinstance(
                ended, Overloaded | ClientDisconnected | asyncio.CancelledError
            )
        await until(lambda: not queue.running)
        assert not queue.waiting
        together = threading.Barrier(THREADS)
        wait = partial(together.wait, SOON)
        await asyncio.gather(*(queue.result(object(), wait) for _ in range(THREADS)))
        await queue.close()

    run(test())


def test_no_thread_is_lost_if_the_system_permits_no_more(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", fail)
            asked = (queue.result("a", lambda: work.make("a")) for _ in range(2))
            for ended in await asyncio.gather(*asked, return_exceptions=True):
                assert isinstance(ended, Overloaded)
        work.may_end.set()
        assert await queue.result("a", lambda: work.make("a")) == "a made"
        await queue.close()
        assert work.begun == ["a"], "what was refused is not done later"

    run(test())


def test_equal_work_is_done_once_for_all_who_ask(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=2, waiting=2)
        asked = [
            asyncio.create_task(queue.result("a", lambda: work.make("a"), never)) for _ in range(32)
        ]
        await until(lambda: work.begun)
        work.may_end.set()
        assert set(await asyncio.gather(*asked)) == {"a made"}
        assert work.begun == ["a"]
        await queue.result("a", lambda: work.make("a"))  # results are not cached
        assert work.begun == ["a", "a"]
        await queue.close()

    run(test())


def test_a_full_queue_refuses_new_work_and_accepts_equal_work(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=2)
        names = ("a", "b", "c")
        asked = [
            asyncio.create_task(queue.result(name, lambda name=name: work.make(name)))  # type: ignore[misc]
            for name in names
        ]
        await until(lambda: work.begun)
        with pytest.raises(Overloaded):
            await queue.result("d", lambda: work.make("d"))
        again = asyncio.create_task(queue.result("c", lambda: work.make("c")))
        await asyncio.sleep(0)
        work.may_end.set()
        assert await asyncio.gather(*asked, again) == [
            "a made",
            "b made",
            "c made",
            "c made",
        ]
        assert work.begun == ["a", "b", "c"]
        assert await queue.result("d", lambda: work.make("d")) == "d made"
        await queue.close()

    run(test())


def test_waiting_work_is_dropped_when_its_last_client_hangs_up(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        first = asyncio.create_task(queue.result("a", lambda: work.make("a")))
        await until(lambda: work.begun)
        waiting = asyncio.create_task(queue.result("b", lambda: work.make("b"), never))
        await asyncio.sleep(0)
        with pytest.raises(ClientDisconnected):  # another client of the same work
            await queue.result("b", lambda: work.make("b"), at_once)
        with pytest.raises(Overloaded):  # it still waits
            await queue.result("c", lambda: work.make("c"))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        with pytest.raises(ClientDisconnected):  # there is room again
            await queue.result("c", lambda: work.make("c"), at_once)
        work.may_end.set()
        assert await first == "a made"
        await queue.close()
        assert work.begun == ["a"]

    run(test())


def test_a_client_may_leave_shared_work(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        first = asyncio.create_task(queue.result("a", lambda: work.make("a"), never))
        await until(lambda: work.begun)
        for _ in range(3):
            with pytest.raises(ClientDisconnected):  # although the work has started
                await queue.result("a", lambda: work.make("a"), at_once)
        work.may_end.set()
        assert await first == "a made"
        await queue.close()

    run(test())


def test_only_so_many_clients_wait_in_all_queues_together(work: Work) -> None:
    """Also for work that is running: it is not always noticed that clients have left."""

    async def test() -> None:
        queues = [WorkQueue("test", threads=1, waiting=20) for _ in range(2)]
        queues[0].limit = queues[1].limit = WaitingLimit(4)

        def ask(name: str, owner: str) -> "asyncio.Task[str]":
            make, queue = partial(work.make, name), queues[name == "other"]
            return asyncio.create_task(queue.result(name, make, never, partial(str, owner)))

        running = ask("shared", "greedy")
        await until(lambda: work.begun)
        other = asyncio.create_task(queues[1].result("running", partial(work.make, "running")))
        await until(lambda: len(work.begun) == 2)
        waiting = [ask("shared", "greedy") for _ in range(3)] + [ask("other", "greedy")]
        await asyncio.sleep(0)
        too_many, fair = ask("shared", "greedy"), ask("other", "one who waits for nothing else")
        await until(lambda: too_many.done() and waiting[3].done())
        work.may_end.set()
        done = await asyncio.gather(running, *waiting, too_many, fair, return_exceptions=True)
        assert [isinstance(one, Overloaded) for one in done] == [0, 0, 0, 0, 1, 1, 0]
        assert done[-1] == "other made"
        await other

    run(test())


def test_a_client_at_the_limit_displaces_no_work_of_others(work: Work) -> None:
    """It would be refused after that work made room for it."""

    async def test() -> None:
        queues = [WorkQueue("test", threads=1, waiting=waiting) for waiting in (9, 2)]
        queues[0].limit = queues[1].limit = WaitingLimit(5)
        running = [
            asyncio.create_task(queue.result("running", partial(work.make, "running")))
            for queue in queues
        ]
        await until(lambda: len(work.begun) == 2)

        def ask(queue: int, name: str) -> "asyncio.Task[str]":
            make = partial(work.make, name)
            owner = partial(str, name[0])
            return asyncio.create_task(queues[queue].result(name, make, never, owner))

        waiting = [ask(0, "a1"), ask(0, "a2"), ask(0, "a3"), ask(1, "b1"), ask(1, "b2")]
        await asyncio.sleep(0)
        refused = ask(1, "a4")
        await until(refused.done)
        work.may_end.set()
        await asyncio.gather(*running, *waiting)
        with pytest.raises(Overloaded):
            await refused

    run(test())


def test_what_refused_requests_were_made_with_is_not_kept(work: Work) -> None:
    """Neither that of one at the limit nor that of one that makes room."""
    kept = weakref.WeakSet[Work]()

    async def ask(queue: WorkQueue, name: str) -> None:
        large = Work()
        kept.add(large)
        with suppress(Overloaded):
            await queue.result(name, partial(large.make, name), never, partial(str, name[0]))

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=9)
        queue.limit = WaitingLimit(2)
        running = asyncio.create_task(queue.result("running", partial(work.make, "running")))
        await until(lambda: work.begun)
        asked = [asyncio.create_task(ask(queue, name)) for name in ("a1", "a2", "a3", "b1")]
        await until(lambda: asked[1].done() and asked[2].done())
        assert len(kept) == 2, "refused requests are still in memory"
        for task in asked:
            task.cancel()
        work.may_end.set()
        await asyncio.gather(running, *asked, return_exceptions=True)

    gc.disable()
    try:
        run(test())
    finally:
        gc.enable()


def test_running_work_is_finished_for_the_next_client(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        left = asyncio.create_task(queue.result("a", lambda: work.make("a"), never))
        await until(lambda: work.begun)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        next_one = asyncio.create_task(queue.result("a", lambda: work.make("a")))
        await asyncio.sleep(0)
        work.may_end.set()
        assert await next_one == "a made"
        assert work.begun == ["a"]
        await queue.close()

    run(test())


def test_whoever_comes_after_reading_began_gets_a_result_that_was_read_later(work: Work) -> None:
    """Or the reader of a map might get it as it was before a change that was acknowledged."""

    async def test() -> None:
        queue, state = ReadQueue("test", threads=1, waiting=2), ["before"]

        def read() -> str:
            found = state[0]
            work.make("read")
            return found

        early = asyncio.create_task(queue.result("a", read))
        await until(lambda: work.begun)
        state[0] = "after"
        late = [asyncio.create_task(queue.result("a", read)) for _ in range(3)]
        await asyncio.sleep(0)
        work.may_end.set()
        assert [await early, *await asyncio.gather(*late)] == ["before", *["after"] * 3]
        assert work.begun == ["read"] * 2
        await queue.close()

    run(test())


def test_a_failure_reaches_all_clients_and_frees_the_thread() -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)

        def fail() -> None:
            raise ValueError("no")

        told = await asyncio.gather(
            *(queue.result("a", fail) for _ in range(3)), return_exceptions=True
        )
        assert [str(error) for error in told] == ["no"] * 3
        assert await queue.result("a", lambda: 1) == 1
        await queue.close()

    run(test())


def test_what_a_failure_was_made_with_is_not_kept() -> None:
    """No garbage collection is needed to free it: the next full one may come late."""
    kept = weakref.WeakSet[Work]()

    def fail(_: Work) -> None:
        large = Work()
        kept.add(large)
        raise NotFound("There is no such map.")

    async def ask(queue: WorkQueue, make: Callable[[], None]) -> None:
        with suppress(NotFound):
            await queue.result("a", make, never)

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        work = Work()
        kept.add(work)
        make = partial(fail, work)
        await asyncio.gather(ask(queue, make), ask(queue, make))
        await queue.close()

    gc.disable()
    try:
        run(test())
        assert not kept
    finally:
        gc.enable()


def test_work_that_waits_too_long_is_given_up(work: Work) -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=2, longest=0.05)
        first = asyncio.create_task(queue.result("a", lambda: work.make("a")))
        await until(lambda: work.begun)
        with pytest.raises(Overloaded):
            await queue.result("b", lambda: work.make("b"), never)
        work.may_end.set()
        assert await first == "a made"  # running work goes on
        assert await queue.result("b", lambda: work.make("b")) == "b made"
        await queue.close()
        assert work.begun == ["a", "b"]

    run(test())


def test_a_closed_queue_refuses_work_and_ends_all_waiting() -> None:
    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=1)
        await queue.close()
        for _ in range(2):
            with pytest.raises(Ending):
                await queue.result("a", lambda: 1, never)

    run(test())


def test_a_full_queue_says_when_it_will_have_room(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(work_queue, "monotonic", lambda: clock[0])

    async def test() -> None:
        queue = WorkQueue("test", threads=1, waiting=3)

        def lasting(seconds: float) -> None:
            clock[0] += seconds

        await queue.result("first", lambda: lasting(5.0))
        asked = [
            asyncio.create_task(queue.result(name, partial(work.make, name))) for name in "abcd"
        ]
        await until(lambda: work.begun == ["a"])
        with pytest.raises(Overloaded) as full:
            await queue.result("e", lambda: work.make("e"))
        assert full.value.retry_after == 4 * 5
        clock[0] += 1000
        with pytest.raises(Overloaded) as stuck:
            await queue.result("e", lambda: work.make("e"))
        assert stuck.value.retry_after == LONGEST_RETRY
        work.may_end.set()
        await asyncio.gather(*asked)
        await queue.close()

    run(test())
