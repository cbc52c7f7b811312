"""Open-loop load: requests at a fixed rate, whether or not earlier ones have been answered.

Clients that wait for each response send fewer requests to a slow server, and so miss most of the
slow periods (coordinated omission). Here each request is due at a fixed time, and its latency
counts from that time, even if it was sent late.
"""

import asyncio
import itertools
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.http1 import ADDRESS, Connection
from benchmarks.measure import times_of

PATIENCE: Final = 30.0
"""Timeout in seconds; the latency of a request without a response counts as this."""

REQUESTS_PER_CONNECTION: Final = 10
"""Requests per connection; then the client opens a new one, as new visitors do."""

MOST_OPEN: Final = 4000

NO_ANSWER: Final = 0
"""The status of a request without a response."""


@dataclass(slots=True)
class Outcomes:
    """The outcomes of requests.

    Attributes:
        taken: seconds until each response, or ``PATIENCE`` without one, by status.
        broken: number of requests without a response, by reason.
    """

    taken: dict[int, list[float]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)

    def note(self, status: int, seconds: float) -> None:
        """Record an outcome."""
        self.taken.setdefault(status, []).append(seconds)

    def times(self, *statuses: int) -> dict[str, Any]:
        """Return the latencies in milliseconds of requests with these statuses, by default all."""
        chosen = [self.taken.get(status, []) for status in statuses or self.taken]
        seconds = list(itertools.chain(*chosen))
        if not seconds:
            return {"calls": 0}
        times = times_of(seconds).as_json()
        return {name: times[name] for name in ("calls", "p50", "p99", "max")}

    def counts(self) -> dict[str, int]:
        """Return the number of responses by status, and of requests without one by reason."""
        counted = {str(status): len(times) for status, times in sorted(self.taken.items())}
        counted.pop(str(NO_ANSWER), None)
        return counted | dict(self.broken)


class Clients:
    """Clients that share a pool of connections, which they renew regularly."""

    def __init__(self, port: int, source: str = ADDRESS) -> None:
        self._port = port
        self._source = source
        self._idle: deque[Connection] = deque()
        self._open = 0

    async def ask(self, request: bytes, due: float, outcomes: Outcomes) -> None:
        """Send a request that was due at ``due`` (``time.perf_counter``); record the outcome."""
        left = due + PATIENCE - time.perf_counter()
        status, taken = NO_ANSWER, PATIENCE
        try:
            async with asyncio.timeout(left):
                status = await self._status(request)
                taken = time.perf_counter() - due
        except TimeoutError:
            outcomes.broken[f"none within {PATIENCE:.0f} s"] += 1
        except ConnectionRefusedError:
            outcomes.broken["refused"] += 1
        except (OSError, EOFError, ValueError) as error:
            outcomes.broken[f"broken: {type(error).__name__}"] += 1
        outcomes.note(status, taken)

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.popleft().close()

    async def _status(self, request: bytes) -> int:
        connection = self._idle_connection()
        if connection is None:
            if self._open >= MOST_OPEN:
                raise OSError("too many connections are open")
            connection = await Connection.opened(self._port, self._source)
        self._open += 1
        try:
            reply = await connection.ask(request)
        except BaseException:
            connection.close()
            raise
        finally:
            self._open -= 1
        if connection.is_usable and connection.requests < REQUESTS_PER_CONNECTION:
            self._idle.append(connection)
        else:
            connection.close()
        return reply.status

    def _idle_connection(self) -> Connection | None:
        while self._idle:
            connection = self._idle.popleft()
            if connection.is_usable:
                return connection
            connection.close()
        return None


async def offer(
    port: int, requests: Iterable[bytes], rate: float, seconds: float, source: str = ADDRESS
) -> Outcomes:
    """Send ``rate`` requests per second for ``seconds``; return the outcomes of all."""
    clients, outcomes = Clients(port, source), Outcomes()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for due, request in zip(_due_times(began, rate, seconds), itertools.cycle(requests)):
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(clients.ask(request, due, outcomes))
    clients.close()
    return outcomes


def _due_times(began: float, rate: float, seconds: float) -> Iterator[float]:
    return (began + number / rate for number in range(round(rate * seconds)))


async def calm_clients(
    port: int,
    streams: dict[str, tuple[list[bytes], float]],
    seconds: float,
    ended: asyncio.Event,
) -> dict[str, Any]:
    """Send several streams of requests at the same time; each has a name, requests and a rate."""
    del ended  # their duration is fixed
    every = await asyncio.gather(
        *(offer(port, requests, rate, seconds) for requests, rate in streams.values())
    )
    return {
        name: {**outcomes.times(), "outcomes": outcomes.counts()}
        for name, outcomes in zip(streams, every, strict=True)
    }
