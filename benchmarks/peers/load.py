"""A client for one or several concurrent searches that does not drop slow responses.

``wrk`` drops pending requests at its end. This loses the slowest responses, and nearly all of them
if each takes a second. So a single client is always measured here, with a bare socket; about 0.03
ms of each latency is the client's own. Eight clients are measured with wrk if responses are fast,
because this client would be the bottleneck, and here if they are slow.

Run it as ``python -m benchmarks.peers.load`` with a job as JSON, on another core than the servers.
"""

import gc
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import orjson

from benchmarks.measure import times_of

WARMING: Final = 10
"""Searches of the warm-up; their numbers of matches are recorded."""

FEWEST: Final = 5
MOST: Final = 2000
"""Least and most searches that are timed."""

LONGEST: Final = 4
"""Multiple of the duration after which a case ends, even with few responses."""

TIME_LIMIT: Final = 10.0
"""Timeout of a search in seconds; after a timeout, its case is not measured."""

CHUNK: Final = 1 << 18

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_TOTAL: Final = re.compile(
    rb'(?:\r\nx-total-count: *|"filtered_table_rows_count": *|"n_hits": *)(\d+)', re.I
)

Ask = Callable[[int], int]
"""Sends the search with this number; returns the number of matches."""


class Unanswered(Exception):
    """The server sent an error, or no response in time."""


def measured(ask: Ask, count: int, seconds: float) -> dict[str, Any]:
    """Send searches one after the other; return the latencies and the numbers of matches.

    Args:
        ask: sends a search.
        count: number of different searches.
        seconds: usual duration.
    """
    totals: list[int] = []
    taken: list[float] = []
    gc.collect()
    gc.disable()
    try:
        until = time.perf_counter() + LONGEST * seconds
        while len(totals) < WARMING and (len(totals) < FEWEST or time.perf_counter() < until):
            totals.append(ask(len(totals)))
        _time(ask, count, seconds, taken)
    except Unanswered as error:
        return {"totals": totals, "unanswered": str(error)}
    finally:
        gc.enable()
    each = sum(taken) / len(taken)
    return {
        **times_of(taken).as_json(),
        "mean": round(each * 1000, 4),
        "one_by_one": round(1 / each, 2),
        "totals": totals,
    }


def _time(ask: Ask, count: int, seconds: float, taken: list[float]) -> None:
    clock = time.perf_counter
    began = ended = clock()
    while len(taken) < MOST:
        if ended - began > (seconds if len(taken) >= FEWEST else LONGEST * seconds):
            return
        before = clock()
        ask((WARMING + len(taken)) % count)
        ended = clock()
        taken.append(ended - before)


def at_once(ask_by_client: Sequence[Ask], count: int, seconds: float) -> dict[str, Any]:
    """Run concurrent clients; return the responses per second.

    Each client finishes its last request; the duration includes all of them.
    """
    numbers = iter(range(1 << 60))
    lock = threading.Lock()
    answered, unanswered = [0] * len(ask_by_client), [0] * len(ask_by_client)
    began = time.perf_counter()

    def client(which: int, ask: Ask) -> None:
        while time.perf_counter() < began + seconds:
            with lock:
                number = next(numbers)
            try:
                ask(number % count)
                answered[which] += 1
            except Unanswered:
                unanswered[which] += 1

    threads = [
        threading.Thread(target=client, args=(which, ask))
        for which, ask in enumerate(ask_by_client)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - began
    return {
        "requests": sum(answered),
        "seconds": round(taken, 3),
        "requests_per_second": round(sum(answered) / taken, 2),
        "failed": sum(unanswered),
    }


class Client:
    """A client with one connection, which reconnects after an error."""

    def __init__(self, port: int, token: str, paths: Sequence[str]) -> None:
        head = f"HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
        self._requests = [f"GET {path} {head}".encode() for path in paths]
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, number: int) -> int:
        """Request one of the paths; return the number of matches.

        Raises:
            Unanswered: there was no successful response within the time limit.
        """
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), TIME_LIMIT + 2)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._socket.sendall(self._requests[number])
            answer = self._received(self._socket)
        except OSError as error:
            self._close()
            raise Unanswered(str(error) or type(error).__name__) from error
        if answer[9:12] != b"200":
            raise Unanswered(f"status {answer[9:12].decode()}")
        found = _TOTAL.search(answer)
        return int(found[1]) if found else -1

    def _received(self, connection: socket.socket) -> bytes:
        answer = b""
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self._more(connection)
        length = _LENGTH.search(answer, 0, end)
        if length is None:  # chunked; the last chunk is empty
            while not answer.endswith(b"0\r\n\r\n"):
                answer += self._more(connection)
            return answer
        missing = end + 4 + int(length[1]) - len(answer)
        while missing > 0:
            more = self._more(connection)
            missing -= len(more)
            answer += more
        return answer

    @staticmethod
    def _more(connection: socket.socket) -> bytes:
        received = connection.recv(CHUNK)
        if not received:
            raise ConnectionResetError("the server closed the connection")
        return received

    def _close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None


def main() -> None:
    """Read a job as JSON from standard input, run it, and write the figures as JSON."""
    job = orjson.loads(sys.stdin.buffer.read())
    paths = job["paths"]
    clients = [Client(job["port"], job["token"], paths) for _ in range(job["connections"])]
    if len(clients) == 1:
        figures = measured(clients[0].ask, len(paths), job["seconds"])
    else:
        figures = at_once([client.ask for client in clients], len(paths), job["seconds"])
    sys.stdout.buffer.write(orjson.dumps(figures))


if __name__ == "__main__":
    main()
