"""Denial-of-service attacks. Each is a coroutine that runs until its event ``ended`` is set.

Attackers connect from other addresses than clients (127.0.0.2 and up). This distinguishes their
connections, and each address has its own range of ports.
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

from benchmarks.http1 import ADDRESS, Connection, connected_socket, get_request, upload_request
from benchmarks.overload.load import offer
from mapshelf.tokens import new_token

SOURCE: Final = "127.0.0.2"
"""Source address of attackers."""

SOURCES: Final = tuple(f"127.0.0.{number}" for number in range(2, 10))
"""Source addresses of attacks that need more ports than one address has."""

RECEIVE_BUFFER: Final = 4096
"""Receive buffer of a slow reader, in bytes."""

MEMORY_RESERVE: Final = 2 << 30
"""Bytes of memory that must stay available; otherwise the attack ends."""

HANDSHAKES: Final = 100
"""Connections to open at the same time."""

HANG_UP_AFTER: Final = 0.05
"""Seconds after which impatient clients close the connection."""

UPLOAD_SIZE: Final = 1 << 20
"""Bytes of a file that is never sent completely."""

RECONNECT_AFTER: Final = 0.1
"""Seconds until a client reconnects after its connection broke."""


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """The target and the size of an attack.

    Attributes:
        port: the port of the service.
        token: the access token.
        paths: the URL paths to request.
        count: number of clients, or of requests per second.
        seconds: how long to send requests at a fixed rate.
        pause: seconds between a response, or a burst, and the next request.
    """

    port: int
    token: str = ""
    paths: tuple[str, ...] = ()
    count: int = 0
    seconds: float = 0.0
    pause: float = 0.0


async def half_sent(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Keep connections with half a request open; replace those that the server closes."""
    counts: Counter[str] = Counter()
    gate = asyncio.Semaphore(HANDSHAKES)
    half = get_request("/maps", options.token)[:-20]
    tried = asyncio.Event()

    async def waiting() -> None:
        while not (ended.is_set() and tried.is_set()):
            try:
                async with gate:
                    connection = await Connection.opened(options.port, SOURCE)
            except OSError:
                counts["refused"] += 1
                tried.set()
                await asyncio.sleep(1)
                continue
            counts["opened"] += 1
            tried.set()
            connection.send(half)
            with suppress(OSError, EOFError):
                await connection.reply()
            connection.close()
            counts["cut"] += 1

    # On a busy machine, the clients may finish before a connection is open.
    await _until(ended, [waiting() for _ in range(options.count)], tried)
    return dict(counts)


async def slow_readers(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Request large responses; half of the clients read nothing, half 1 KB per second.

    The paths alternate. Those of the API are requested with the token.
    """
    counts: Counter[str] = Counter()
    gate, loop = asyncio.Semaphore(HANDSHAKES), asyncio.get_running_loop()
    readers: list[socket.socket] = []

    async def reading(number: int) -> None:
        path = options.paths[number % len(options.paths)]
        token = options.token if path.startswith("/maps/") else ""
        async with gate:
            reader = await connected_socket(options.port, SOURCE, RECEIVE_BUFFER)
        readers.append(reader)
        await loop.sock_sendall(reader, get_request(path, token))
        trickling = number % 4 >= 2
        while trickling and await loop.sock_recv(reader, 1024):
            await asyncio.sleep(1)

    watching = asyncio.create_task(_watch_memory(ended, counts))
    await _until(ended, [_count_broken(reading(number), counts) for number in range(options.count)])
    watching.cancel()
    for reader in readers:
        counts[_state(reader)] += 1
        reader.close()
    return dict(counts)


async def crawling_uploads(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Send uploads byte by byte; start a new one when one gets a response or is closed."""
    counts: Counter[str] = Counter()
    head, dot, body = upload_request("x" * UPLOAD_SIZE, options.token).partition(b"\r\n\r\n")

    async def crawling(connection: Connection) -> None:
        connection.send(head + dot)
        for place in range(len(body)):
            connection.send(body[place : place + 1])
            await asyncio.sleep(options.pause)
            if not connection.is_usable:
                return

    async def uploading() -> None:
        connection = await Connection.opened(options.port, SOURCE)
        counts["begun"] += 1
        sending = asyncio.create_task(crawling(connection))
        try:
            counts[f"answered {(await connection.reply()).status}"] += 1
        finally:
            sending.cancel()
            connection.close()

    await _until(ended, [_repeat(uploading, ended, counts) for _ in range(options.count)])
    return dict(counts)


async def hang_ups(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Request one path after the other, and close the connection after 50 ms.

    Every second request has a number in its query, which makes its URL different.
    """
    counts: Counter[str] = Counter()
    numbers = itertools.count()

    async def asking() -> None:
        while not ended.is_set():
            number = next(numbers)
            path = options.paths[number // 2 % len(options.paths)]
            if number % 2:
                path += f"{'&' if '?' in path else '?'}n={number}"
            await _request_briefly(options.port, SOURCES[number % len(SOURCES)], path, counts)

    await _until(ended, [_repeat(asking, ended, counts) for _ in range(options.count)])
    return dict(counts)


async def invented_tokens(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Send requests with a different invalid token each time."""
    counts: Counter[str] = Counter()

    async def inventing() -> None:
        connection = None
        while not ended.is_set():
            if connection is None or not connection.is_usable:
                connection = await Connection.opened(options.port, SOURCE)
            reply = await connection.ask(get_request("/maps?limit=1", new_token()))
            counts[str(reply.status)] += 1
            await asyncio.sleep(options.pause)

    await _until(ended, [_repeat(inventing, ended, counts) for _ in range(options.count)])
    return dict(counts)


async def cut_bodies(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Begin to send forms, as many as possible, and hang up in the middle of their bodies."""
    counts: Counter[str] = Counter()
    form = (
        f"POST /signin HTTP/1.1\r\nHost: {ADDRESS}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nname="
    ).encode()

    def cut_one() -> None:
        try:
            with socket.create_connection((ADDRESS, options.port), 5.0, (SOURCE, 0)) as client:
                client.sendall(form)
            counts["cut"] += 1
        except OSError as error:
            counts[f"broken: {type(error).__name__}"] += 1

    def cut_many() -> None:
        while not ended.is_set():
            cut_one()

    await asyncio.to_thread(cut_many)
    return dict(counts)


async def page_flood(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Request different pages at a fixed rate, independent of the responses."""
    del ended  # its duration is fixed, and it waits for all responses
    requests = [get_request(path) for path in options.paths]
    outcomes = await offer(options.port, requests, options.count, options.seconds, SOURCE)
    served = outcomes.times(200)
    refused = outcomes.times(503)
    return {"outcomes": outcomes.counts(), "served": served, "refused with 503": refused}


async def equal_requests(options: AttackOptions, ended: asyncio.Event) -> dict[str, Any]:
    """Request one path after the other, each with all clients at the same time."""
    del ended
    counts: Counter[str] = Counter()
    connections = [await Connection.opened(options.port, SOURCE) for _ in range(options.count)]

    async def asking(number: int, request: bytes) -> None:
        if not connections[number].is_usable:
            connections[number] = await Connection.opened(options.port, SOURCE)
        reply = await connections[number].ask(request)
        counts[str(reply.status)] += 1

    for path in options.paths:
        request = get_request(path)
        pending = (
            _count_broken(asking(number, request), counts) for number in range(options.count)
        )
        await asyncio.gather(*pending)
        await asyncio.sleep(options.pause)
    for connection in connections:
        connection.close()
    return dict(counts)


async def _until(ended: asyncio.Event, work: list[Any], begun: asyncio.Event | None = None) -> None:
    """Run all of ``work`` until ``ended`` is set, and ``begun`` if there is one."""
    tasks = [asyncio.create_task(one) for one in work]
    await ended.wait()
    if begun is not None:
        await begun.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _count_broken(work: Any, counts: Counter[str]) -> None:
    try:
        await work
    except (OSError, EOFError) as error:
        counts[f"broken: {type(error).__name__}"] += 1


async def _repeat(work: Any, ended: asyncio.Event, counts: Counter[str]) -> None:
    """Repeat ``work`` after it ends or its connection breaks."""
    while not ended.is_set():
        await _count_broken(work(), counts)
        await asyncio.sleep(RECONNECT_AFTER)


async def _request_briefly(port: int, source: str, path: str, counts: Counter[str]) -> None:
    """Send a request; close the connection after a fixed time, even if the response is earlier."""
    leaving = asyncio.get_running_loop().time() + HANG_UP_AFTER
    connection = None
    try:
        async with asyncio.timeout_at(leaving):
            connection = await Connection.opened(port, source)
            reply = await connection.ask(get_request(path))
            counts[f"answered {reply.status}"] += 1
            await asyncio.sleep(HANG_UP_AFTER)
    except TimeoutError:
        counts["ended"] += 1
    finally:
        if connection:
            connection.close()


def _state(reader: socket.socket) -> str:
    """Return the state of a connection: the status of an unread response, or an error."""
    try:
        waiting = reader.recv(12, socket.MSG_PEEK)
    except BlockingIOError:
        return "unread: nothing"
    except OSError as error:
        return f"unread: {type(error).__name__}"
    status = waiting.decode("latin-1").removeprefix("HTTP/1.1 ")
    return f"unread: {status}" if status.isdigit() else "read in part" if waiting else "closed"


async def _watch_memory(ended: asyncio.Event, counts: Counter[str]) -> None:
    """End the attack before the machine runs out of memory."""
    while not ended.is_set():
        if _available() < MEMORY_RESERVE:
            counts["ended early: too little memory was left"] += 1
            ended.set()
        await asyncio.sleep(0.1)


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) << 10


def library_paths(
    words: list[str], owners: list[str], pages: list[str], seed: str
) -> Iterator[str]:
    """Yield an endless series of different pages: lists, searches, owners and maps."""
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
