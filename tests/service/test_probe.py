"""The readiness probe, which must not fill the accept queue or the request counters."""

import socket
from collections.abc import Iterator

import pytest

from mapshelf.service import probe
from mapshelf.service.probe import Probe

HOST = "127.0.0.1"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as made:
        made.settimeout(0)
        yield made


@pytest.fixture
def asked(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> Iterator[Probe]:
    monkeypatch.setattr(probe, "WAIT", 0.05)
    made = Probe(listener.getsockname())
    yield made
    made.close()


def answer(listener: socket.socket, status: str) -> bytes:
    """Answer the next request; return its first line."""
    connection, _ = listener.accept()
    with connection:
        line = connection.recv(1000).partition(b"\r\n")[0]
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
    return line


def test_one_request_waits_however_late_the_answer_is(
    listener: socket.socket, asked: Probe
) -> None:
    assert [asked.is_answered() for _ in range(3)] == [False] * 3
    assert answer(listener, "200 OK") == b"GET /healthz HTTP/1.1"
    assert asked.is_answered()
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_another_probe_is_sent_after_a_refusal(listener: socket.socket, asked: Probe) -> None:
    assert not asked.is_answered()
    answer(listener, "503 Service Unavailable")
    assert not asked.is_answered()
    assert not asked.is_answered()
    answer(listener, "200 OK")
    assert asked.is_answered()


def test_another_probe_is_sent_if_a_worker_hangs_or_dies(
    listener: socket.socket, asked: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as impatient:
        impatient.setattr(probe, "PATIENCE", 0)
        assert not asked.is_answered()
    hanging, _ = listener.accept()
    with hanging:
        assert not asked.is_answered()
        dying, _ = listener.accept()
        dying.close()
        assert not asked.is_answered()
        assert not asked.is_answered()
        answer(listener, "200 OK")
        assert asked.is_answered()


def test_a_probe_fails_if_nothing_listens(listener: socket.socket) -> None:
    address = listener.getsockname()
    listener.close()
    assert not Probe(address).is_answered()
