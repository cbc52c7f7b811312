"""Clients that read at a steady rate, like a load balancer, and skip a node that fails.

They use plain sockets: at 300 requests a second, an HTTP library would need a whole processor that
the measured nodes need.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

CLIENTS: Final = 20
PATIENCE: Final = 10.0
"""Seconds until a client gives up."""

PATHS: Final = ("/maps?limit=20", "/maps?limit=20&order_by=views&offset=40", "/users/me")


@dataclass(slots=True)
class Tally:
    """Counts of the results of requests."""

    asked: int = 0
    failed: list[str] = field(default_factory=list)
    slowest: float = 0.0


class Load:
    """Clients that read from nodes at ``ports``, ``rate`` requests a second in all.

    They use the ``tokens`` in turn.
    """

    def __init__(self, ports: Sequence[int], tokens: Sequence[str], rate: int) -> None:
        self._ports = list(ports)
        self._tokens = tokens
        self._pause = CLIENTS / rate
        self._tally = Tally()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def take(self) -> Tally:
        """Return the results of the requests since the last call."""
        taken, self._tally = self._tally, Tally()
        return taken

    async def _run(self) -> None:
        await asyncio.gather(*(self._read(number) for number in range(CLIENTS)))

    async def _read(self, number: int) -> None:
        ports = self._ports[number % len(self._ports) :] + self._ports[: number % len(self._ports)]
        client = _Client(self._tokens[number % len(self._tokens)])
        due = time.monotonic() + self._pause * number / CLIENTS
        turn = number
        while not self._stop.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due = max(due + self._pause, time.monotonic() - 1)
            began = time.monotonic()
            reasons: list[str] = []
            for port in ports:
                reason = await client.get(port, PATHS[turn % len(PATHS)])
                if not reason:
                    break
                reasons.append(reason)
            turn += 1
            tally = self._tally
            tally.asked += 1
            tally.slowest = max(tally.slowest, time.monotonic() - began)
            if len(reasons) == len(ports):
                tally.failed.append("; ".join(reasons))
        client.close()


class _Client:
    def __init__(self, token: str) -> None:
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        self._open: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}

    async def get(self, port: int, path: str) -> str:
        """Send a request to a node; return the error, empty if there was none."""
        try:
            async with asyncio.timeout(PATIENCE):
                status = await self._status(port, path)
        except (OSError, TimeoutError, EOFError) as error:
            self._drop(port)
            return f"{port}: {error!r}"
        return "" if status == b"200" else f"{port}: {status.decode()}"

    async def _status(self, port: int, path: str) -> bytes:
        if port in self._open and self._open[port][0].at_eof():
            self._drop(port)  # nodes close connections that were not used for ten seconds
        if port not in self._open:
            self._open[port] = await asyncio.open_connection("127.0.0.1", port)
        reader, writer = self._open[port]
        writer.write(b"GET %s HTTP/1.1\r\n%s" % (path.encode(), self._head))
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        return head.split(b" ", 2)[1]

    def _drop(self, port: int) -> None:
        if port in self._open:
            self._open.pop(port)[1].close()

    def close(self) -> None:
        """Close the connections."""
        for port in list(self._open):
            self._drop(port)
