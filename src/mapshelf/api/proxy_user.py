"""Reads the username that a trusted reverse proxy sends in a header.

Anybody can send the header, so it counts only if the peer itself is a trusted proxy. The proxy must
be configured to overwrite the header of its clients (``docs/operating.md``).
"""

from collections.abc import Sequence

from mapshelf.client_address import Network, Sender, is_trusted
from mapshelf.model import is_user_name
from mapshelf.settings import ProxyUserSettings


class ProxyUser:
    """Reads the header."""

    def __init__(self, settings: ProxyUserSettings | None, trusted: Sequence[Network]) -> None:
        """Accept it from peers in ``trusted`` networks; without ``settings``, from no peer."""
        self._settings = settings
        self._trusted = trusted

    @property
    def auto_create(self) -> bool:
        """Whether to create an account for an unknown name."""
        return self._settings is not None and self._settings.auto_create

    def name(self, sender: Sender) -> str:
        """Return the username from a trusted proxy, empty if there is none."""
        if self._settings is None or not is_trusted(sender.address(), self._trusted):
            return ""
        try:
            # Granian drops header values that are not ASCII; do the same with every server.
            name = sender.header(self._settings.header).decode("ascii").strip()
        except UnicodeDecodeError:
            return ""
        # A comma joins repeated headers: then one of them came from a client.
        return name if is_user_name(name) and "," not in name else ""
