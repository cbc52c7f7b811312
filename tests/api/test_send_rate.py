"""Large responses of a worker share a send rate; other responses do not wait for them."""

import asyncio
import io
import time
from collections.abc import Coroutine, Hashable
from pathlib import Path
from typing import Any, Final

import pytest

from mapshelf.api.http import Response
from mapshelf.api.pipe import Pipe
from mapshelf.api.send_rate import PIECE, SendRate
from mapshelf.api.streaming import (
    Stream,
    Streams,
    send_body,
)

BODY: Final = bytes(10 * PIECE)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


class Noted(SendRate):
    """A send rate that records the sizes that would wait, and never waits."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def wait(self, size: int, owner: Hashable = None) -> None:
        self.sizes.append(size)


def test_bodies_are_sent_at_the_rate_after_a_short_beginning() -> None:
    async def test() -> None:
        rate, began = SendRate(rate=1000, ahead=100), time.monotonic()
        await asyncio.gather(*(rate.wait(50, number) for number in range(2)))
        await asyncio.gather(*(rate.wait(50, number % 3) for number in range(4)))
        assert time.monotonic() - began > 0.14

    run(test())


def test_the_rate_is_kept_if_the_event_loop_is_late() -> None:
    """Turns that are overdue are given together."""

    async def test() -> None:
        rate, given, late = SendRate(rate=64 * PIECE, ahead=8 * PIECE), [0], 16

        async def send() -> None:
            while True:
                await rate.wait(PIECE)
                given[0] += 1

        tasks = [asyncio.create_task(send()) for _ in range(32)]
        for _ in range(late):
            await asyncio.sleep(0)
            time.sleep(1 / 16)
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert given[0] >= 3 * late, "a second has room for 64"

    run(test())


def test_addresses_take_turns_and_whoever_leaves_takes_nothing() -> None:
    async def test() -> None:
        rate, order = SendRate(rate=1000, ahead=1), list[str]()

        async def send(name: str, size: int) -> None:
            await rate.wait(size, name[0])
            order.append(name)

        await rate.wait(200)
        leaving = [asyncio.create_task(send(f"a leaves {n}", 10**6)) for n in range(100)]
        tasks = [asyncio.create_task(send(name, 5)) for name in ("a1", "a2", "a3", "b1", "b2")]
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*tasks)
        assert order == ["a1", "b1", "a2", "b2", "a3"]

    run(test())


def test_each_chunk_takes_its_turn(tmp_path: Path) -> None:
    async def test() -> None:
        through_pipe, through_asgi = Noted(), Noted()
        with Pipe() as pipe, open(pipe.path, "rb", buffering=0) as server:
            stream = Stream("reader", rate=through_pipe)
            sending = asyncio.create_task(pipe.send(io.BytesIO(BODY), stream))
            taken = 0
            while taken < len(BODY):
                taken += len(await asyncio.to_thread(server.read, PIECE))
            assert await sending

        async def send(_: Any) -> None: ...

        await send_body(Response(200, (), BODY), send, Stream("reader", rate=through_asgi))
        assert through_pipe.sizes == through_asgi.sizes == [PIECE] * 10

    run(test())


def test_all_bodies_of_a_worker_have_the_same_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[SendRate] = []

    async def noted(rate: SendRate, *_: object) -> None:
        rates.append(rate)

    monkeypatch.setattr(SendRate, "wait", noted)
    streams = Streams()

    async def test() -> None:
        with streams.sending("one") as one, streams.sending("another") as another:
            await one.turn(1)
            await another.turn(1)
        assert rates[0] is rates[1]

    run(test())


def test_waiting_for_a_turn_does_not_make_a_client_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        stream = Stream("reader", rate=Noted())
        now = time.monotonic() + 60
        monkeypatch.setattr(time, "monotonic", lambda: now)
        assert stream.stalled() >= 60
        await stream.turn(PIECE)
        assert stream.stalled() == 0

    run(test())
