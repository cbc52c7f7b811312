"""The tokens that a program gets, and how long they are good."""

from dataclasses import dataclass
from typing import Final

from mapshelf.model import DAY, HOUR, NewTokens
from mapshelf.tokens import ACCESS_PREFIX, REFRESH_PREFIX, new_token, token_digest

ACCESS_LIFETIME: Final = HOUR
REFRESH_LIFETIME: Final = 90 * DAY
"""In milliseconds. A program that refreshes at least once within the second stays let in."""


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """Tokens as a program gets them.

    Attributes:
        access: the access token.
        refresh: the refresh token.
        scopes: what the access token allows; empty for all that the grant allows.
        issued: when, in milliseconds since 1970-01-01 UTC.
    """

    access: str
    refresh: str
    scopes: str
    issued: int

    def digests(self) -> NewTokens:
        """Return what the store keeps of them."""
        return NewTokens(
            token_digest(self.access),
            self.issued + ACCESS_LIFETIME,
            token_digest(self.refresh),
            self.issued + REFRESH_LIFETIME,
            self.scopes,
        )


def new_tokens(now: int, scopes: str = "") -> IssuedTokens:
    """Return new tokens, which are good once the store has kept their digests."""
    return IssuedTokens(new_token(ACCESS_PREFIX), new_token(REFRESH_PREFIX), scopes, now)
