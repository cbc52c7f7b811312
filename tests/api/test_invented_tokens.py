"""Many clients send invented tokens to ``mapshelf serve``, and many requests meet the same fault.

Anybody can invent a token that only the store can tell from a valid one. This may delay clients
with valid tokens a little, must not refuse them, and must log no more than a few lines.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from mapshelf.tokens import new_token
from tests.api.test_real_server import free_port, wait_for
from tests.databases import break_tokens
from tests.harness import Shelf

pytestmark = pytest.mark.process

CROWD: Final = 300
FRESH: Final = 50
PATIENT: Final = 10.0
"""Seconds after which an answer counts as missing."""


@dataclass(frozen=True)
class Server:
    """A running ``mapshelf serve``, with tokens that nobody has used yet."""

    folder: Path
    port: int
    fresh: list[str]

    def log(self) -> str:
        """Return the text of its log."""
        return (self.folder / "log").read_text()

    async def status(self, token: str) -> int:
        """Send a request over a new connection; return the status of its response."""
        async with asyncio.timeout(PATIENT):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            lines = ("GET /maps HTTP/1.1", "Host: x", f"Authorization: Bearer {token}")
            try:
                writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode())
                answer = await reader.read()
            finally:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()
            return int(answer.split(b" ", 2)[1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A service with one worker and an empty catalogue."""
    shelf = Shelf(tmp_path)
    shelf.publish()
    token, fresh = shelf.token(), [shelf.token() for _ in range(FRESH)]
    database = shelf.settings.database
    shelf.close()
    port = free_port()
    command = [sys.executable, "-m", "mapshelf", "serve", "--data", str(tmp_path)]
    command += ["--database", database, "--port", str(port), "--workers", "1"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}", token, tmp_path / "log")
        yield Server(tmp_path, port, fresh)
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_invented_tokens_refuse_no_valid_ones_and_logs_stay_short(
    server: Server,
) -> None:
    crowded(server)
    assert " ERROR " not in server.log()
    faulty(server)
    assert 1 <= server.log().count("Traceback (") <= 150, "a traceback for every request"
    wait_until_counted(server)


def crowded(server: Server) -> None:
    """Use valid tokens for the first time, while many clients send invented ones."""
    strangers: Counter[int] = Counter()

    async def stranger() -> None:
        while True:
            strangers[await server.status(new_token())] += 1

    async def first_uses() -> list[int]:
        crowd = [asyncio.create_task(stranger()) for _ in range(CROWD)]
        await asyncio.sleep(1)
        statuses = [await server.status(token) for token in server.fresh]
        await asyncio.sleep(1)
        assert not any(one.done() for one in crowd)
        for one in crowd:
            one.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)
        return statuses

    assert asyncio.run(first_uses()) == [200] * FRESH
    assert set(strangers) == {401}


def faulty(server: Server) -> None:
    """Drop a table, and send tokens that only the store could know."""
    break_tokens(server.folder)

    async def ask() -> set[int]:
        return {await server.status(token) for token in (new_token() for _ in range(300))}

    assert asyncio.run(ask()) == {500}


def wait_until_counted(server: Server) -> None:
    async def counted() -> None:
        while "lines like this one were left out" not in server.log():
            await asyncio.sleep(0.1)

    asyncio.run(asyncio.wait_for(counted(), 30))
