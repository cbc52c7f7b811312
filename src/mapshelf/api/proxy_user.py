"""The user whom a trusted proxy names in a header.

Anybody can send the header, so it counts only if the peer itself is a trusted proxy: what passed
through such a proxy unchanged is the fault of its configuration (``docs/operating.md``).
"""

from collections.abc import Sequence

from mapshelf.client_address import Network, Sender, is_trusted
from mapshelf.model import is_user_name
from mapshelf.settings import ProxyUserSettings


class ProxyUser:
    """Reads the header."""

    def __init__(self, settings: ProxyUserSettings | None, trusted: Sequence[Network]) -> None:
        """Read it from peers in the networks ``trusted``; without ``settings``, from nobody."""
        self._settings = settings
        self._trusted = trusted

    @property
    def auto_create(self) -> bool:
        """Whether an unknown name gets an account."""
        return self._settings is not None and self._settings.auto_create

    def name(self, sender: Sender) -> str:
        """Return the username that a trusted proxy gives to a sender, empty if there is none."""
        if self._settings is None or not is_trusted(sender.address(), self._trusted):
            return ""
        try:
            # Granian leaves out headers with other letters; so do we, whatever the server.
            name = sender.header(self._settings.header).decode("ascii").strip()
        except UnicodeDecodeError:
            return ""
        # A comma joins headers that were sent twice: then a client has sent one, too.
        return name if is_user_name(name) and "," not in name else ""
