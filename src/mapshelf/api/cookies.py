"""The cookies of the service (RFC 6265): how they are called, set, cleared and read.

All keep a secret that only this service may see: scripts cannot read it (``HttpOnly``), and other
sites cannot have it sent but by a link that somebody follows (``SameSite=Lax``). Behind https they
are sent over https only, and the prefix ``__Host-`` keeps other hosts of the same domain from
setting them. Below a path, where that prefix is not allowed, ``__Secure-`` at least keeps those
from it who can answer for us over http.
"""

from typing import Final
from urllib.parse import urlsplit

SESSION: Final = "mapshelf_session"
"""Keeps the secret of a session."""

FORM: Final = "mapshelf_form"
"""Keeps a random value of a browser in which nobody has signed in, for the forms it gets."""

PROVIDER: Final = "mapshelf_provider"
"""Keeps what a browser needs while somebody signs in at an OpenID provider."""

LONGEST: Final = 8192
"""Maximum of bytes of a Cookie header that is read."""


class Cookie:
    """One cookie of the service at a base URL.

    Attributes:
        name: its name.
    """

    def __init__(self, name: str, base_url: str) -> None:
        """Describe the cookie ``name``."""
        parts = urlsplit(base_url)
        secure = parts.scheme.lower() == "https"
        # A semicolon would end the attribute, so such a path is not named.
        path = parts.path if parts.path and ";" not in parts.path else "/"
        prefix = "" if not secure else "__Host-" if path == "/" else "__Secure-"
        self.name = prefix + name
        attributes = (*(("Secure",) if secure else ()), f"Path={path}", "HttpOnly", "SameSite=Lax")
        self._attributes = "; ".join(attributes)

    def set(self, value: str, seconds: int | None = None) -> tuple[bytes, bytes]:
        """Return the header that sets it.

        Args:
            value: letters, digits and any of ``!#$%&'*+-.^_`|~``.
            seconds: how long the browser keeps it; if not given, until the browser is closed.
        """
        age = "" if seconds is None else f"; Max-Age={seconds}"
        return b"set-cookie", f"{self.name}={value}; {self._attributes}{age}".encode("ascii")

    def clear(self) -> tuple[bytes, bytes]:
        """Return the header that makes the browser forget it."""
        return self.set("", 0)

    def read(self, header: bytes) -> str:
        """Return its value in a Cookie header, empty if it is not there.

        Browsers send the cookie of the longest path first, so the first is meant for us.
        """
        if len(header) > LONGEST:
            return ""
        for pair in header.decode("latin-1").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.name:
                return value
        return ""
