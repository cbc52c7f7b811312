"""An attempt to sign in by an OpenID provider: the state that survives the redirects.

The browser has one secret in a cookie. Everything that the protocol needs is derived from it: the
state, which the provider returns in the address; the nonce, which it puts into the ID token; and
the PKCE verifier. So a response meant for another browser or another attempt matches none of them,
and the server stores nothing. The state also covers the purpose of the attempt and the session of
a user who links an account.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mapshelf.model import CLOCK_TOLERANCE, MINUTE

LIFETIME: Final = 10 * MINUTE
"""Milliseconds within which the user must sign in at the provider."""

_SEPARATOR: Final = "."


class Purpose(StrEnum):
    """The purpose of an attempt: to sign in, or to link an identity to the signed-in user."""

    SIGN_IN = "signin"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt, as stored in the cookie.

    Attributes:
        secret: random.
        began: milliseconds since 1970-01-01 UTC.
        purpose: what it is for.
        returning: the address of ours to go to afterwards; not validated.
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
        """Return the state; ``session`` is the secret of the session that links an account.

        It is empty for signing in.
        """
        bound = session if self.purpose is Purpose.LINK else ""
        return self._derived("state", f"{self.cookie()}\0{bound}")

    def nonce(self) -> str:
        """Return the nonce."""
        return self._derived("nonce", "")

    def verifier(self) -> str:
        """Return the PKCE verifier (RFC 7636)."""
        return self._derived("verifier", "")

    def challenge(self) -> str:
        """Return the PKCE challenge, by the method S256."""
        return _encoded(hashlib.sha256(self.verifier().encode()).digest())

    def is_answered_by(self, state: str, session: str, now: int) -> bool:
        """Return whether ``state`` belongs to this attempt, which has not expired at ``now``.

        It may have begun at another node, whose clock is a little ahead.
        """
        right = hmac.compare_digest(self.state(session).encode(), state.encode())
        return right and -CLOCK_TOLERANCE <= now - self.began < LIFETIME

    def _derived(self, what: str, of: str) -> str:
        return _encoded(hmac.digest(self.secret.encode(), f"{what}\0{of}".encode(), "sha256"))


def new_attempt(purpose: Purpose, returning: str, now: int) -> Attempt:
    """Return an attempt that begins at ``now``."""
    return Attempt(secrets.token_urlsafe(32), now, purpose, returning)


def read_attempt(cookie: str) -> Attempt | None:
    """Return the attempt in a cookie, ``None`` if there is none."""
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
