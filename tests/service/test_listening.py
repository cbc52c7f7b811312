"""The socket that all workers share."""

import socket
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from mapshelf.errors import CannotListen, InvalidSetting
from mapshelf.service.listening import (
    MOST_UNSENT,
    USER_TIMEOUT,
    ListenAddress,
    bind_socket,
    listen,
    local_address,
    resolve_address,
)

HOST = "127.0.0.1"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with bind_socket(ListenAddress(HOST, (HOST,), 0)) as made:
        listen(made)
        yield made


@pytest.mark.skipif(sys.platform != "linux", reason="connections inherit it on Linux alone")
def test_the_kernel_cuts_connections_whose_clients_take_nothing(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            found = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert found == USER_TIMEOUT


@pytest.mark.skipif(sys.platform != "linux", reason="connections inherit it on Linux alone")
def test_the_kernel_takes_little_for_slow_clients(listener: socket.socket) -> None:
    """So it takes some more every few seconds, and not megabytes at once."""
    with socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            connection.setblocking(False)
            taken = 0
            with suppress(BlockingIOError):
                while taken < 64 << 20:
                    taken += connection.send(bytes(1 << 16))
    assert taken < 4 * MOST_UNSENT


def test_the_port_is_not_shared(listener: socket.socket) -> None:
    with pytest.raises(CannotListen, match="Address already in use"):
        bind_socket(ListenAddress(HOST, (HOST,), listener.getsockname()[1]))


def test_of_two_that_bind_a_port_at_once_one_listens() -> None:
    with bind_socket(ListenAddress(HOST, (HOST,), 0)) as first:
        port = first.getsockname()[1]
        with bind_socket(ListenAddress(HOST, (HOST,), port)) as second:
            listen(first)
            with pytest.raises(CannotListen, match="Address already in use"):
                listen(second)


def test_the_first_address_where_the_port_is_free_is_taken(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with bind_socket(ListenAddress("localhost", (HOST, "::1"), port)) as other:
        assert other.getsockname()[:2] == ("::1", port)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("0.0.0.0", "http://localhost:8000"),
        ("::", "http://localhost:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_the_url_reaches_the_service_from_this_machine(host: str, url: str) -> None:
    assert resolve_address(host, 8000).url == url


@pytest.mark.parametrize("host", ["", "nowhere.invalid", "a" * 70, "fe80::1%lo"])
def test_a_host_without_an_address_to_listen_on_is_refused(host: str) -> None:
    with pytest.raises(InvalidSetting, match="listen") as refused:
        resolve_address(host, 8000)
    assert "Errno" not in str(refused.value)


@pytest.mark.parametrize(("host", "local"), [("0.0.0.0", "127.0.0.1"), (HOST, HOST)])
def test_a_bound_socket_has_an_address_on_this_machine(host: str, local: str) -> None:
    with bind_socket(ListenAddress(host, (host,), 0)) as bound:
        assert local_address(bound) == (local, bound.getsockname()[1])
