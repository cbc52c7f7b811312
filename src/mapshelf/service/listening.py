"""The single listening socket of the service.

The supervisor creates it and keeps it open; workers inherit it. While one or all workers are
restarted, connections wait in the kernel for the next free worker. No client is refused, and no
other process can take the port. A socket per worker would spread bursts of connections more evenly,
but those of a dead worker would wait for its successor while others are idle.
"""

import socket
import sys
from dataclasses import dataclass
from typing import Final

from mapshelf.errors import CannotListen, InvalidSetting

BACKLOG: Final = 16_384
"""Connections that may wait to be accepted."""

USER_TIMEOUT: Final = 30_000
"""Milliseconds after which the kernel closes a connection whose client accepts no data. A slow
client continues; one that has stopped does not hold a worker's memory for hours. Large bodies have
``STALLED_AFTER`` in ``api/streaming.py``, which is as long."""

MOST_UNSENT: Final = 262_144
"""Bytes of a response that the kernel takes beyond those on their way to the client. By default, it
takes megabytes for a slow client, and then nothing for longer than ``STALLED_AFTER``."""

_WILDCARDS: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where the service listens.

    Attributes:
        host: the name or address that the operator gave.
        addresses: its IP addresses, in the order in which they are tried.
        port: the port.
    """

    host: str
    addresses: tuple[str, ...]
    port: int

    @property
    def url(self) -> str:
        """A URL that reaches the service from this machine."""
        if self.addresses[0] in _WILDCARDS:
            return f"http://localhost:{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def resolve_address(host: str, port: int) -> ListenAddress:
    """Look up ``host``. IPv4 addresses come first because every client can reach them.

    Raises:
        InvalidSetting: the host has no address to listen on.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidSetting(f"{host!r} is not a host to listen on: {reason}") from error
    if any(len(address) == 4 and address[3] for *_, address in found):
        raise InvalidSetting(f"{host!r} has a zone, which cannot be listened on")
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return ListenAddress(host, tuple(str(address[0]) for *_, address in found), port)


def bind_socket(address: ListenAddress) -> socket.socket:
    """Return a socket bound to the first IP address where the port is free. Listen on it later.

    Raises:
        CannotListen: the port is free on none of them.
    """
    failure = OSError()
    for ip_address in address.addresses:
        bound = socket.socket(socket.AF_INET6 if ":" in ip_address else socket.AF_INET)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((ip_address, address.port))
        except OSError as error:
            bound.close()
            failure = error
        else:
            return bound
    raise CannotListen(
        f"cannot listen on {address.host} port {address.port}: {failure.strerror}"
    ) from failure


def listen(bound: socket.socket) -> None:
    """Let clients connect.

    Raises:
        CannotListen: another process has started to listen there since the socket was bound.
    """
    if sys.platform == "linux":  # where accepted connections inherit the options
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MOST_UNSENT)
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        host, port = bound.getsockname()[:2]
        raise CannotListen(f"cannot listen on {host} port {port}: {error.strerror}") from error


def local_address(bound: socket.socket) -> tuple[str, int]:
    """Return an IP address and port at which this machine reaches ``bound``."""
    loopback = dict(zip(_WILDCARDS, ("127.0.0.1", "::1"), strict=True))
    host, port = bound.getsockname()[:2]
    return loopback.get(host, host), port
