"""Those who would stop the service for others, each a coroutine that goes on until told to end.

They come from addresses of their own (127.0.0.2 and up), which tells their connections from others
and gives each as many ports as there are.
"""

import asyncio
import itertools
import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.http1 import Connection, connected_socket, get_request, upload_request
from benchmarks.overload.load import offer
from mapshelf.tokens import new_token

SOURCE: Final = "127.0.0.2"
"""Where attackers come from."""

SOURCES: Final = tuple(f"127.0.0.{number}" for number in range(2, 10))
"""The same for those who need more ports than one address has."""

NARROW: Final = 4096
"""Bytes that a slow reader takes before it reads them."""

SPARED: Final = 2 << 30
"""Bytes of memory that must stay available: an attack that takes more of the machine is ended."""

HANDSHAKES: Final = 100
"""Connections opened at a time."""

HELD: Final = 0.05
"""Seconds after which clients hang up that do not mean to wait."""

CRAWLED: Final = 1 << 20
"""Bytes of a file that is never sent to its end."""

AGAIN_AFTER: Final = 0.1
"""Seconds until a client connects again whose connection broke."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is attacked.

    Attributes:
        port: where the service listens.
        token: what lets one in.
        paths: what is asked for.
        count: how many clients there are, or requests a second.
        seconds: for how long that many are sent.
        pause: seconds between an answer, or a burst, and the next request.
    """

    port: int
    token: str = ""
    paths: tuple[str, ...] = ()
    count: int = 0
    seconds: float = 0.0
    pause: float = 0.0


async def half_sent(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Keep connections open that have sent half of a request; open others for those cut off."""
    told: Counter[str] = Counter()
    gate = asyncio.Semaphore(HANDSHAKES)
    half = get_request("/maps", aim.token)[:-20]
    tried = asyncio.Event()

    async def waiting() -> None:
        while not (ended.is_set() and tried.is_set()):
            try:
                async with gate:
                    connection = await Connection.opened(aim.port, SOURCE)
            except OSError:
                told["refused"] += 1
                tried.set()
                await asyncio.sleep(1)
                continue
            told["opened"] += 1
            tried.set()
            connection.send(half)
            with suppress(OSError, EOFError):
                await connection.reply()
            connection.close()
            told["cut"] += 1

    # On a busy machine, the others may be done before one connection is open.
    await _until(ended, [waiting() for _ in range(aim.count)], tried)
    return dict(told)


async def slow_readers(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Ask for large answers; half read nothing of them, half a kilobyte a second.

    The paths in turn, with the token where it is the API's.
    """
    told: Counter[str] = Counter()
    gate, loop = asyncio.Semaphore(HANDSHAKES), asyncio.get_running_loop()
    readers: list[socket.socket] = []

    async def reading(number: int) -> None:
        path = aim.paths[number % len(aim.paths)]
        token = aim.token if path.startswith("/maps/") else ""
        async with gate:
            reader = await connected_socket(aim.port, SOURCE, NARROW)
        readers.append(reader)
        await loop.sock_sendall(reader, get_request(path, token))
        trickling = number % 4 >= 2
        while trickling and await loop.sock_recv(reader, 1024):
            await asyncio.sleep(1)

    watching = asyncio.create_task(_spare_memory(ended, told))
    await _until(ended, [_told_broken(reading(number), told) for number in range(aim.count)])
    watching.cancel()
    for reader in readers:
        told[_first_word(reader)] += 1
        reader.close()
    return dict(told)


async def crawling_uploads(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Send uploads a byte at a time; begin others for those that are answered or cut off."""
    told: Counter[str] = Counter()
    head, dot, body = upload_request("x" * CRAWLED, aim.token).partition(b"\r\n\r\n")

    async def crawling(connection: Connection) -> None:
        connection.send(head + dot)
        for place in range(len(body)):
            connection.send(body[place : place + 1])
            await asyncio.sleep(aim.pause)
            if not connection.is_usable:
                return

    async def uploading() -> None:
        connection = await Connection.opened(aim.port, SOURCE)
        told["begun"] += 1
        sending = asyncio.create_task(crawling(connection))
        try:
            told[f"answered {(await connection.reply()).status}"] += 1
        finally:
            sending.cancel()
            connection.close()

    await _until(ended, [_again(uploading, ended, told) for _ in range(aim.count)])
    return dict(told)


async def hang_ups(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Ask for one path after the other, each time waiting 50 ms, then hanging up.

    Every other time there is something at the end of the address that makes it another one.
    """
    told: Counter[str] = Counter()
    numbers = itertools.count()

    async def asking() -> None:
        while not ended.is_set():
            number = next(numbers)
            path = aim.paths[number // 2 % len(aim.paths)]
            if number % 2:
                path += f"{'&' if '?' in path else '?'}n={number}"
            await _hung_up_on(aim.port, SOURCES[number % len(SOURCES)], path, told)

    await _until(ended, [_again(asking, ended, told) for _ in range(aim.count)])
    return dict(told)


async def invented_tokens(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Come with another invented token each time."""
    told: Counter[str] = Counter()

    async def inventing() -> None:
        connection = None
        while not ended.is_set():
            if connection is None or not connection.is_usable:
                connection = await Connection.opened(aim.port, SOURCE)
            reply = await connection.ask(get_request("/maps?limit=1", new_token()))
            told[str(reply.status)] += 1
            await asyncio.sleep(aim.pause)

    await _until(ended, [_again(inventing, ended, told) for _ in range(aim.count)])
    return dict(told)


async def page_flood(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Ask for so many different pages a second, however long they take."""
    del ended  # its time is set: all answers are waited for
    requests = [get_request(path) for path in aim.paths]
    outcomes = await offer(aim.port, requests, aim.count, aim.seconds, SOURCE)
    served = outcomes.times(200)
    refused = outcomes.times(503)
    return {"outcomes": outcomes.counts(), "served": served, "refused with 503": refused}


async def equal_requests(aim: Aim, ended: asyncio.Event) -> dict[str, Any]:
    """Ask for each path by so many clients at the same time, one path after the other."""
    del ended
    told: Counter[str] = Counter()
    connections = [await Connection.opened(aim.port, SOURCE) for _ in range(aim.count)]

    async def asking(number: int, request: bytes) -> None:
        if not connections[number].is_usable:
            connections[number] = await Connection.opened(aim.port, SOURCE)
        reply = await connections[number].ask(request)
        told[str(reply.status)] += 1

    for path in aim.paths:
        request = get_request(path)
        asked = (_told_broken(asking(number, request), told) for number in range(aim.count))
        await asyncio.gather(*asked)
        await asyncio.sleep(aim.pause)
    for connection in connections:
        connection.close()
    return dict(told)


async def _until(ended: asyncio.Event, work: list[Any], begun: asyncio.Event | None = None) -> None:
    """Do all of it until told to end, and until it has ``begun``."""
    tasks = [asyncio.create_task(one) for one in work]
    await ended.wait()
    if begun is not None:
        await begun.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _told_broken(work: Any, told: Counter[str]) -> None:
    try:
        await work
    except (OSError, EOFError) as error:
        told[f"broken: {type(error).__name__}"] += 1


async def _again(work: Any, ended: asyncio.Event, told: Counter[str]) -> None:
    """Do it again when a connection breaks."""
    while not ended.is_set():
        await _told_broken(work(), told)
        await asyncio.sleep(AGAIN_AFTER)


async def _hung_up_on(port: int, source: str, path: str, told: Counter[str]) -> None:
    """Ask, and hang up when its time is over; who is answered before waits for the rest of it."""
    leaving = asyncio.get_running_loop().time() + HELD
    connection = None
    try:
        async with asyncio.timeout_at(leaving):
            connection = await Connection.opened(port, source)
            reply = await connection.ask(get_request(path))
            told[f"answered {reply.status}"] += 1
            await asyncio.sleep(HELD)
    except TimeoutError:
        told["ended"] += 1
    finally:
        if connection:
            connection.close()


def _first_word(reader: socket.socket) -> str:
    """Return what a connection was answered, as far as it has not been read."""
    try:
        waiting = reader.recv(12, socket.MSG_PEEK)
    except BlockingIOError:
        return "unread: nothing"
    except OSError as error:
        return f"unread: {type(error).__name__}"
    status = waiting.decode("latin-1").removeprefix("HTTP/1.1 ")
    return f"unread: {status}" if status.isdigit() else "read in part" if waiting else "closed"


async def _spare_memory(ended: asyncio.Event, told: Counter[str]) -> None:
    """End an attack before it takes the machine's memory from everything else on it."""
    while not ended.is_set():
        if _available() < SPARED:
            told["ended early: too little memory was left"] += 1
            ended.set()
        await asyncio.sleep(0.1)


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) << 10


def library_paths(
    words: list[str], owners: list[str], pages: list[str], seed: str
) -> Iterator[str]:
    """Yield addresses of pages without end, each another one: lists, searches, owners, maps."""
    chance = random.Random(seed)
    for number in itertools.count():
        kinds = (
            f"/?order_by=alpha&offset={20 * number}",
            f"/?query={chance.choice(words)}+{chance.choice(words)}&n={number}",
            f"/owners/{chance.choice(owners)}?n={number}",
            f"/?category={chance.randrange(1, 20)}&order_by=views&n={number}",
            f"{chance.choice(pages)}?n={number}",
        )
        yield kinds[number % len(kinds)]
