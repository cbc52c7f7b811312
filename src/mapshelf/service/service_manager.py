"""Tells systemd when the service answers, and when it begins to stop.

With ``Type=notify``, systemd waits for the first of these before it starts what needs Mapshelf. The
protocol of ``sd_notify(3)`` is a datagram with a line for each fact, so it takes no library.
"""

import socket
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Final, Self

VARIABLE: Final = "NOTIFY_SOCKET"


class ServiceManager:
    """Whoever started the service, if they want to be told."""

    def __init__(self, address: str) -> None:
        """Tell whoever listens at ``address``, nobody if it is empty.

        It is the path of a socket, or begins with ``@`` if the socket has no file.
        """
        # Other kinds (vsock) are of virtual machines, which tell those who run them.
        self._address = address if address.startswith(("/", "@")) else ""

    @classmethod
    def named_in(cls, environment: MutableMapping[str, str]) -> Self:
        """Return the one that the environment names, and remove it there.

        Children must not find it: systemd takes the word of the first process alone.
        """
        return cls(environment.pop(VARIABLE, ""))

    def ready(self) -> None:
        """Tell that the service answers."""
        self._tell("READY=1")

    def stopping(self) -> None:
        """Tell that the service was asked to stop, and does."""
        self._tell("STOPPING=1")

    def _tell(self, fact: str) -> None:
        if not self._address:
            return
        name = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.sendto(fact.encode(), name)
