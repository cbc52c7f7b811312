"""An attempt to sign in by a provider: what a browser carries there and back.

The browser keeps one secret in a cookie. All that the protocol asks for follows from it: the state,
which the provider sends back in the address, the nonce, which it puts into the ID token, and the
verifier of PKCE. So an answer that was meant for another browser, or for another attempt, fits none
of the three, and nothing has to be kept here. What the attempt is for, and the session of who links
an account, go into the state, too.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LIFETIME: Final = 10 * 60 * 1000
"""Milliseconds in which somebody has to sign in at the provider."""

_SEPARATOR: Final = "."


class Purpose(StrEnum):
    """What an attempt is for: to sign in, or to link an account to who is signed in."""

    SIGN_IN = "signin"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt, as the cookie keeps it.

    Attributes:
        secret: random.
        began: milliseconds since 1970-01-01 UTC.
        purpose: what it is for.
        returning: one of our addresses, to go to afterwards; not checked.
    """

    secret: str
    began: int
    purpose: Purpose
    returning: str

    def cookie(self) -> str:
        """Return the value of the cookie."""
        returning = base64.urlsafe_b64encode(self.returning.encode()).decode().rstrip("=")
        return _SEPARATOR.join((self.secret, str(self.began), self.purpose, returning))

    def state(self, session: str) -> str:
        """Return the state; ``session`` is the secret of the session that an account is linked to.

        It is empty for who signs in.
        """
        bound = session if self.purpose is Purpose.LINK else ""
        return self._derived("state", f"{self.cookie()}\0{bound}")

    def nonce(self) -> str:
        """Return the nonce."""
        return self._derived("nonce", "")

    def verifier(self) -> str:
        """Return the verifier of PKCE (RFC 7636)."""
        return self._derived("verifier", "")

    def challenge(self) -> str:
        """Return the challenge of PKCE, by the method S256."""
        return _encoded(hashlib.sha256(self.verifier().encode()).digest())

    def is_answered_by(self, state: str, session: str, now: int) -> bool:
        """Tell whether ``state`` is of this attempt, and in time."""
        right = hmac.compare_digest(self.state(session).encode(), state.encode())
        return right and self.began <= now < self.began + LIFETIME

    def _derived(self, what: str, of: str) -> str:
        return _encoded(hmac.digest(self.secret.encode(), f"{what}\0{of}".encode(), "sha256"))


def new_attempt(purpose: Purpose, returning: str, now: int) -> Attempt:
    """Return an attempt that begins at ``now``."""
    return Attempt(secrets.token_urlsafe(32), now, purpose, returning)


def read_attempt(cookie: str) -> Attempt | None:
    """Return the attempt that a cookie keeps, ``None`` if it keeps none."""
    pieces = cookie.split(_SEPARATOR)
    if len(pieces) != 4 or not pieces[0]:
        return None
    secret, began, purpose, returning = pieces
    try:
        address = base64.urlsafe_b64decode(returning + "=" * (-len(returning) % 4)).decode()
        return Attempt(secret, int(began), Purpose(purpose), address)
    except (ValueError, binascii.Error):
        return None


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
