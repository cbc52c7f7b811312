"""Open-loop load: requests at a fixed rate, up to what one processor can send.

This is for rates that are too high for ``load.py``; it is a bare loop over sockets. The rules are
the same. Each request is due at a fixed time, whatever happened to earlier ones. Its latency counts
from that time, even if it was sent late. No request waits for the response to another, which avoids
coordinated omission: if all connections are busy, a new one is opened. The figures say how late
requests were sent, so you can see whether the client kept its schedule.

Without a rate (closed loop), each connection sends the next request after the response. Use this to
find the peak throughput of a server.
"""

import itertools
import resource
import select
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from benchmarks.http1 import ADDRESS, IP_BIND_ADDRESS_NO_PORT

SERVED: Final = (200, 201)
REFUSED: Final = (429, 503)

PATIENCE: Final = 15.0
"""Timeout of a request in seconds."""

CHECK_INTERVAL: Final = 0.5
"""Seconds between checks for requests that have timed out."""

MOST_OPEN: Final = 16_000
AT_ONCE: Final = 256
"""Most requests to send, and sockets to read, in one turn of the loop."""

RECEIVED: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Load:
    """The load on a server.

    Attributes:
        port: the port of the server.
        requests: the requests to send in this order; after the last, the first follows.
        rate: requests per second; ``None`` to send the next one after each response.
        seconds: how long to send requests.
        connections: number of connections without a rate.
    """

    port: int
    requests: Sequence[bytes]
    rate: float | None
    seconds: float
    connections: int = 1


@dataclass(slots=True)
class Outcomes:
    """The outcomes of requests.

    Attributes:
        taken: seconds from when each request was due until its response, by status.
        broken: number of requests without a response, by reason.
        late: seconds from when each request was due until it was sent.
        in_time: how many were served before the end of the load.
    """

    taken: dict[int, list[float]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    late: list[float] = field(default_factory=list)
    in_time: int = 0

    def milliseconds(self, statuses: Sequence[int]) -> dict[str, Any]:
        """Return the number and the latencies of responses with these statuses."""
        taken = [one for status in statuses for one in self.taken.get(status, [])]
        if not taken:
            return {"count": 0}
        p50, p99 = np.percentile(taken, (50, 99)).tolist()
        times = {"p50": p50, "p99": p99, "max": max(taken)}
        return {"count": len(taken)} | {name: round(1000 * one, 1) for name, one in times.items()}

    def counts(self) -> dict[str, int]:
        """Return the number of requests by status, or by the reason why there is none."""
        return {str(status): len(all_) for status, all_ in sorted(self.taken.items())} | dict(
            self.broken
        )


class _Connection:
    """A connection, and the state of its current request, if there is one."""

    __slots__ = ("due", "length", "received", "socket", "unsent")

    def __init__(self, opened: socket.socket) -> None:
        self.socket = opened
        self.due = 0.0
        self.unsent = b""
        self.received = bytearray()
        self.length = 0


class Sender:
    """Sends a load, and records the outcomes."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._requests = itertools.cycle(load.requests)
        self._epoll = select.epoll()
        self._busy: dict[int, _Connection] = {}
        self._idle: list[_Connection] = []
        self.outcomes = Outcomes()
        self._end = 0.0

    def send(self) -> Outcomes:
        """Send all requests, and wait for the responses."""
        began = checked = time.perf_counter()
        self._end = began + self._load.seconds
        due = self._schedule(began)
        next_due = next(due, None)
        while next_due is not None or self._busy:
            now = time.perf_counter()
            for _ in range(AT_ONCE):
                if next_due is None or next_due > now:
                    break
                self._start(next_due, now)
                next_due = next(due, None)
            wait = 0.01 if next_due is None else min(0.01, max(0.0, next_due - now))
            for number, events in self._epoll.poll(wait, AT_ONCE):
                self._handle(self._busy.get(number), events)
            if now - checked > CHECK_INTERVAL:
                checked = now
                self._give_up(now)
        for connection in self._idle:
            connection.socket.close()
        self._epoll.close()
        return self.outcomes

    def _schedule(self, began: float) -> Iterator[float]:
        """Return when requests are due; without a rate, only the first of each connection."""
        rate = self._load.rate
        if rate is None:
            return iter([began] * self._load.connections)
        return (began + number / rate for number in range(round(rate * self._load.seconds)))

    def _start(self, due: float, now: float) -> None:
        connection = self._idle.pop() if self._idle else self._opened()
        if connection is None:
            return
        connection.due, connection.length = due, 0
        connection.received.clear()
        connection.unsent = next(self._requests)
        self._busy[connection.socket.fileno()] = connection
        self.outcomes.late.append(now - due)
        self._write(connection)

    def _opened(self) -> _Connection | None:
        if len(self._busy) >= MOST_OPEN:
            self.outcomes.broken["too many connections were open"] += 1
            return None
        made = socket.socket()
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        made.bind((ADDRESS, 0))
        made.connect_ex((ADDRESS, self._load.port))
        self._epoll.register(made, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        return _Connection(made)

    def _write(self, connection: _Connection) -> None:
        """Send as much of the request as the socket accepts."""
        try:
            connection.unsent = connection.unsent[connection.socket.send(connection.unsent) :]
        except BlockingIOError:
            pass
        except OSError as error:
            self._break(connection, type(error).__name__)

    def _handle(self, connection: _Connection | None, events: int) -> None:
        if connection is None:
            return
        if connection.unsent and events & select.EPOLLOUT:
            self._write(connection)
        if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            self._receive(connection)

    def _receive(self, connection: _Connection) -> None:
        try:
            while piece := connection.socket.recv(RECEIVED):
                connection.received += piece
                if self._is_complete(connection):
                    self._done(connection)
                    return
                if len(piece) < RECEIVED:
                    return
            self._break(connection, "closed without an answer")
        except BlockingIOError:
            pass
        except OSError as error:
            self._break(connection, type(error).__name__)

    @staticmethod
    def _is_complete(connection: _Connection) -> bool:
        received = connection.received
        if not connection.length:
            head = received.find(b"\r\n\r\n")
            if head < 0:
                return False
            at = received.find(b"content-length: ", 0, head)
            if at < 0:
                return received.endswith(b"0\r\n\r\n") or b"chunked" not in received[:head]
            connection.length = head + 4 + int(received[at + 16 : received.find(b"\r", at)])
        return len(received) >= connection.length

    def _done(self, connection: _Connection) -> None:
        now, status = time.perf_counter(), int(connection.received[9:12])
        self.outcomes.taken.setdefault(status, []).append(now - connection.due)
        self.outcomes.in_time += status in SERVED and now <= self._end
        del self._busy[connection.socket.fileno()]
        if b"connection: close" in connection.received[:2000] or connection.unsent:
            connection.socket.close()
        else:
            self._idle.append(connection)
        self._start_next(now)

    def _start_next(self, now: float) -> None:
        if self._load.rate is None and now < self._end:
            self._start(now, now)

    def _break(self, connection: _Connection, reason: str) -> None:
        self._busy.pop(connection.socket.fileno(), None)
        connection.socket.close()
        self.outcomes.broken[reason] += 1
        self._start_next(time.perf_counter())

    def _give_up(self, now: float) -> None:
        for connection in [one for one in self._busy.values() if now - one.due > PATIENCE]:
            self._break(connection, f"no answer within {PATIENCE:.0f} s")


async def sent(load: Load, ended: object) -> dict[str, Any]:
    """Send a load; return its figures. Run it in a ``child.Child``."""
    del ended
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    outcomes = Sender(load).send()
    late = np.percentile(outcomes.late, 99).item() if outcomes.late else 0.0
    return {
        "served a second": round(outcomes.in_time / load.seconds, 1),
        "served": outcomes.milliseconds(SERVED),
        "refused": outcomes.milliseconds(REFUSED),
        "sent late p99": round(1000 * late, 1),
        "outcomes": outcomes.counts(),
    }
