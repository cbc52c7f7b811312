"""The cookies of the service (RFC 6265): their names, attributes, and parsing.

Each has a secret for this service only: scripts cannot read it (``HttpOnly``), and other sites
cannot cause it to be sent except by a link that the user follows (``SameSite=Lax``). With HTTPS,
cookies are ``Secure``, and the prefix ``__Host-`` stops other hosts of the same domain from setting
them. Below a path, where that prefix is not allowed, ``__Secure-`` at least stops attackers who
can only forge our plain HTTP responses.
"""

import re
from typing import Final
from urllib.parse import urlsplit

SESSION: Final = "mapshelf_session"
"""The cookie with the secret of a session."""

FORM: Final = "mapshelf_form"
"""The cookie with the CSRF secret of a browser without a session."""

PROVIDER: Final = "mapshelf_provider"
"""The cookie with the state of a sign-in at an OpenID provider."""


class Cookie:
    """One cookie of the service at a base URL.

    Attributes:
        name: its name.
    """

    def __init__(self, name: str, base_url: str) -> None:
        """Describe the cookie ``name``."""
        parts = urlsplit(base_url)
        secure = parts.scheme.lower() == "https"
        # A semicolon would end the attribute, so such a path is omitted.
        path = parts.path if parts.path and ";" not in parts.path else "/"
        prefix = "" if not secure else "__Host-" if path == "/" else "__Secure-"
        self.name = prefix + name
        self._pair = re.compile(rb"(?:^|;)[ \t]*%s=([^;]*)" % self.name.encode())
        attributes = (*(("Secure",) if secure else ()), f"Path={path}", "HttpOnly", "SameSite=Lax")
        self._attributes = "; ".join(attributes)

    def set(self, value: str, seconds: int | None = None) -> tuple[bytes, bytes]:
        """Return the header that sets the cookie.

        Args:
            value: letters, digits and any of ``!#$%&'*+-.^_`|~``.
            seconds: its lifetime; by default, until the browser is closed.
        """
        age = "" if seconds is None else f"; Max-Age={seconds}"
        return b"set-cookie", f"{self.name}={value}; {self._attributes}{age}".encode("ascii")

    def clear(self) -> tuple[bytes, bytes]:
        """Return the header that deletes the cookie."""
        return self.set("", 0)

    def read(self, header: bytes) -> str:
        """Return its value in a Cookie header, empty if it is missing.

        Browsers send the cookie with the longest path first, so the first one is ours.
        """
        found = self._pair.search(header)
        return found[1].strip(b" \t").decode("latin-1") if found else ""
