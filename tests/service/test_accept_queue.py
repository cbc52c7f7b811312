"""Connections that wait too long to be accepted are refused; newer ones keep waiting."""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from select import select
from threading import Event

import pytest

from mapshelf.service import accept_queue
from mapshelf.service.accept_queue import AcceptQueue
from mapshelf.service.listening import ListenAddress, bind_socket, listen
from tests.cli.process import PATIENCE, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many wait")

HOST = "127.0.0.1"
REQUEST = b"GET /maps HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Clients:
    """Clients that have sent requests to a socket on which nothing accepts connections."""

    def __init__(self, listener: socket.socket, count: int) -> None:
        self._opened = ExitStack()
        address = listener.getsockname()
        self.all = [
            self._opened.enter_context(socket.create_connection(address)) for _ in range(count)
        ]
        for one in self.all:
            one.sendall(REQUEST)

    def answered(self) -> list[int]:
        """Return the numbers of the clients that have a response."""
        found, _, _ = select(self.all, [], [], 0)
        return [number for number, one in enumerate(self.all) if one in found]

    def close(self) -> None:
        self._opened.close()


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setattr(accept_queue, "MOST_WAITING", 20)
    with bind_socket(ListenAddress(HOST, (HOST,), 0)) as made:
        listen(made)
        yield made


def read_to_the_end(client: socket.socket) -> str:
    client.settimeout(30)
    pieces = []
    while piece := client.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces).decode()


def test_the_oldest_are_refused_until_few_wait(listener: socket.socket) -> None:
    counted: list[int] = []
    with closing(Clients(listener, 50)) as clients:
        queue = AcceptQueue(listener, lambda: True, lambda: False, counted.append)
        queue.watch()
        wait_for(lambda: len(clients.answered()) >= 40)
        queue.end()
        assert clients.answered() == list(range(40))
        assert sum(counted) == 40
        for refused in clients.all[:40]:
            head, _, body = read_to_the_end(refused).partition("\r\n\r\n")
            assert head.startswith("HTTP/1.1 503 ")
            assert "\r\nretry-after: 1\r\n" in head
            assert f"content-length: {len(body)}\r\n" in head
            assert '"temporarily_unavailable"' in body
        for _ in range(10):  # the others still wait for a worker
            listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.slow
def test_no_connection_is_refused_while_no_worker_could_accept(listener: socket.socket) -> None:
    looked: list[bool] = []

    def asked() -> bool:
        looked.append(True)
        return False

    with closing(Clients(listener, 50)) as clients:
        queue = AcceptQueue(listener, asked, lambda: True, lambda _: None)
        queue.watch()
        wait_for(lambda: len(looked) > 3)
        queue.end()
        assert clients.answered() == []


@pytest.mark.slow
def test_a_short_queue_is_refused_only_if_workers_are_full(
    listener: socket.socket,
) -> None:
    looked: list[bool] = []

    def are_full() -> bool:
        looked.append(len(looked) >= 3)
        return looked[-1]

    with closing(Clients(listener, 20)) as clients:
        queue = AcceptQueue(listener, lambda: not clients.answered(), are_full, lambda _: None)
        queue.watch()
        wait_for(lambda: len(clients.answered()) == 20)
        queue.end()
        assert looked == [False, False, False, True]
        assert " 503 " in read_to_the_end(clients.all[-1])


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Set when a queue begins to wait for connections."""
    event, wait = Event(), AcceptQueue._wait_for_connections

    def waiting(queue: AcceptQueue) -> None:
        event.set()
        wait(queue)

    monkeypatch.setattr(AcceptQueue, "_wait_for_connections", waiting)
    return event


def test_connections_after_a_quiet_time_are_noticed(listener: socket.socket, quiet: Event) -> None:
    queue = AcceptQueue(listener, lambda: True, lambda: False, lambda _: None)
    queue.watch()
    assert quiet.wait(PATIENCE)
    with closing(Clients(listener, 50)) as clients:
        wait_for(lambda: len(clients.answered()) >= 40)
    queue.end()


@pytest.mark.timeout(PATIENCE)
def test_a_queue_that_waits_for_connections_can_be_ended(
    listener: socket.socket, quiet: Event
) -> None:
    queue = AcceptQueue(listener, lambda: True, lambda: False, lambda _: None)
    queue.watch()
    assert quiet.wait(PATIENCE)
    queue.end()
