"""The access and refresh tokens that OAuth 2 programs get, and their lifetimes."""

from dataclasses import dataclass
from typing import Final

from mapshelf.model import DAY, HOUR, NewTokens
from mapshelf.tokens import ACCESS_PREFIX, REFRESH_PREFIX, new_token, token_digest

ACCESS_LIFETIME: Final = HOUR
REFRESH_LIFETIME: Final = 90 * DAY
"""In milliseconds. A program stays authorized while it refreshes within ``REFRESH_LIFETIME``."""


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens issued to a program.

    Attributes:
        access: the access token.
        refresh: the refresh token.
        scopes: the scopes of the access token; empty for all scopes of the grant.
        issued: the time of issue, in milliseconds since 1970-01-01 UTC.
    """

    access: str
    refresh: str
    scopes: str
    issued: int

    def digests(self) -> NewTokens:
        """Return the digests to store."""
        return NewTokens(
            token_digest(self.access),
            self.issued + ACCESS_LIFETIME,
            token_digest(self.refresh),
            self.issued + REFRESH_LIFETIME,
            self.scopes,
        )


def new_tokens(now: int, scopes: str = "") -> IssuedTokens:
    """Return new tokens, which become valid once their digests are stored."""
    return IssuedTokens(new_token(ACCESS_PREFIX), new_token(REFRESH_PREFIX), scopes, now)
