"""Personal access tokens, which users create for programs by command or on the account page."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.feed_addresses import opens_feeds
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.model import DAY, AuditEvent, Token, User, about_token
from mapshelf.store import Store
from mapshelf.store.contract import Accounts
from mapshelf.tokens import SCOPES, new_token, token_digest

DEFAULT_LIFETIME: Final = 90
"""Default lifetime of a token in days."""

MAX_LIFETIME: Final = 36_500
"""Maximum lifetime of a token in days."""

LABEL_LENGTH: Final = 100
"""Maximum characters of a label."""

MOST_TOKENS: Final = 100
"""Maximum tokens that a user can create on the account page."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """The settings of a new token.

    Attributes:
        label: its purpose, for the owner.
        scopes: what it allows.
        days: its lifetime.
    """

    label: str
    scopes: Collection[str]
    days: int


def own_tokens(store: Accounts, user: User) -> list[Token]:
    """Return the tokens of a user that are not revoked, newest first.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    tokens = reversed(store.tokens(user.name))
    return [token for token in tokens if token.revoked is None and not opens_feeds(token)]


def add_own_token(store: Store, user: User, new: NewToken, now: int, address: str) -> str:
    """Create a token and return its secret, which is never stored in plain text.

    Args:
        store: stores the token.
        user: the owner.
        new: its settings.
        now: milliseconds since 1970-01-01 UTC.
        address: the address of the client.

    Raises:
        InvalidParameter: the label or the scopes are missing, or the lifetime is too long.
        TooManyTokens: the user has the maximum number of tokens.
        StoreUnavailable: the store cannot be reached.
    """
    label = new.label.strip()
    if not 0 < len(label) <= LABEL_LENGTH or not label.isprintable():
        raise InvalidParameter(f"A token needs a name of at most {LABEL_LENGTH} characters.")
    if not new.scopes or not set(new.scopes) <= set(SCOPES):
        raise InvalidParameter("A token needs at least one scope.")
    if not 0 < new.days <= MAX_LIFETIME:
        raise InvalidParameter(f"A token lasts from 1 to {MAX_LIFETIME} days.")
    named = NewToken(label, new.scopes, new.days)
    with store.auditing(done_by(user, address, AuditEvent.TOKEN_MADE, about_token(label))):
        return add_token(store, user.name, named, now, MOST_TOKENS)


def add_token(store: Accounts, name: str, new: NewToken, now: int, most: int | None = None) -> str:
    """Add a token for the user with this name; see ``add_own_token``.

    Raises:
        NotFound: no user has this name.
        TooManyTokens: the user has ``most`` tokens, if that is given.
    """
    secret = new_token()
    store.add_token(
        name,
        token_digest(secret),
        label=new.label,
        scopes=text_of_scopes(new.scopes),
        expires=now + new.days * DAY,
        most=most,
    )
    return secret


def revoke_own_token(store: Store, user: User, token_id: int, address: str) -> None:
    """Revoke a token of a user; ``address`` is that of the client.

    Raises:
        NotFound: the user has no such token.
        StoreUnavailable: the store cannot be reached.
    """
    found = next((one for one in store.tokens(user.name) if one.id == token_id), None)
    if found is None:
        raise NotFound("there is no such token")
    target = about_token(found.label)
    with store.auditing(done_by(user, address, AuditEvent.TOKEN_REVOKED, target)):
        store.revoke_token(token_id)


def text_of_scopes(scopes: Collection[str]) -> str:
    """Return scopes in the form that the store expects: each once, always in the same order."""
    return " ".join(scope for scope in SCOPES if scope in scopes)
