"""The one socket on which the service listens.

The process over all others makes it and keeps it; workers inherit it. So a connection waits in the
kernel, for whichever worker is free, while one of them dies and is replaced, or all of them are: no
client is refused for that, and a port that was claimed once stays ours. Sockets of their own would
share out connections more evenly where many come at once, but what waits at one whose worker is
away would wait for the next worker while others have nothing to do.
"""

import socket
import sys
from typing import Final

from mapshelf.errors import CannotListen

BACKLOG: Final = 16_384
"""Connections that may wait to be accepted."""

SILENCE: Final = 30_000
"""Milliseconds for which a client may take nothing of what is sent to it. The kernel cuts it then:
whoever reads slowly goes on, whoever has stopped does not hold a worker's memory for hours."""


def bound_socket(name: str, hosts: list[str], port: int) -> socket.socket:
    """Return a socket at ``port`` of the first of ``hosts`` where it is free; it listens later.

    Args:
        name: what the operator calls the host.
        hosts: its IP addresses.
        port: the port.

    Raises:
        CannotListen: it is free at none.
    """
    refused = OSError()
    for host in hosts:
        made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, port))
        except OSError as error:
            made.close()
            refused = error
        else:
            return made
    raise CannotListen(f"cannot listen on {name} port {port}: {refused.strerror}") from refused


def listen(bound: socket.socket) -> None:
    """Let clients connect.

    Raises:
        CannotListen: somebody else listens there since it was bound.
    """
    if sys.platform == "linux":  # connections inherit it there
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE)
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        host, port = bound.getsockname()[:2]
        raise CannotListen(f"cannot listen on {host} port {port}: {error.strerror}") from error
