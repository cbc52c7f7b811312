"""Notify systemd when the service is ready, and when it begins to stop.

With ``Type=notify``, systemd waits for readiness before it starts units that depend on Mapshelf.
The ``sd_notify(3)`` protocol is a datagram with one line per fact, so no library is needed.
"""

import socket
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Final, Self

VARIABLE: Final = "NOTIFY_SOCKET"


class ServiceManager:
    """The service manager that started the service, if it accepts notifications."""

    def __init__(self, address: str) -> None:
        """Send notifications to ``address``, or nowhere if it is empty.

        The address is the path of a socket, or starts with ``@`` for an abstract socket.
        """
        # Other address families (vsock) are for virtual machines that notify their host.
        self._address = address if address.startswith(("/", "@")) else ""

    @classmethod
    def named_in(cls, environment: MutableMapping[str, str]) -> Self:
        """Return the service manager named in the environment, and remove it from there.

        Children must not use it: systemd only accepts notifications from the main process.
        """
        return cls(environment.pop(VARIABLE, ""))

    def ready(self) -> None:
        """Notify that the service is ready."""
        self._tell("READY=1")

    def stopping(self) -> None:
        """Notify that the service is stopping."""
        self._tell("STOPPING=1")

    def _tell(self, fact: str) -> None:
        if not self._address:
            return
        name = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.sendto(fact.encode(), name)
