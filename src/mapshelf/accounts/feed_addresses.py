"""The secret address of somebody's own feeds: feed readers cannot sign in, so the address lets in.

The secret in it counts as a token with a prefix and a scope of its own: it opens feeds and nothing
else, and no token opens feeds. Each user has one at most, until it is withdrawn or replaced.
"""

from typing import Final

from mapshelf.accounts.audit import about_token, done_by
from mapshelf.model import AuditEvent, Token, User
from mapshelf.store import Store
from mapshelf.store.contract import Accounts
from mapshelf.tokens import FEED_PREFIX, FEEDS, new_token, token_digest

LABEL: Final = "feeds"
"""What the audit log calls it."""


def feed_address(base_url: str, secret: str, of: str = "") -> str:
    """Return the address of a feed.

    Args:
        base_url: where clients reach the service.
        secret: lets in whoever has the address.
        of: the path of what the feed is of, such as ``/collected/ID``; by default of all maps.
    """
    return f"{base_url}/feeds/{secret}{of}.atom"


def feed_token(store: Accounts, user: User) -> Token | None:
    """Return what is kept of the address of a user, ``None`` if there is none.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    return next(iter(_present(store, user)), None)


def new_feed_secret(store: Store, user: User, address: str) -> str:
    """Return the secret of a new address, which is kept nowhere in clear; one before it ends.

    Args:
        store: keeps its digest.
        user: whose it is.
        address: of the client.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    before = _present(store, user)
    secret = new_token(FEED_PREFIX)
    with store.auditing(done_by(user, address, AuditEvent.TOKEN_MADE, about_token(LABEL))):
        store.add_token(user.name, token_digest(secret), label="", scopes=FEEDS, expires=None)
    _revoke(store, user, before, address)
    return secret


def withdraw_feed_address(store: Store, user: User, address: str) -> None:
    """End the address of a user, who asks for it from ``address``, if there is one.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    _revoke(store, user, _present(store, user), address)


def opens_feeds(token: Token) -> bool:
    """Tell whether a token is the secret of an address."""
    return token.scopes == FEEDS


def _present(store: Accounts, user: User) -> list[Token]:
    tokens = reversed(store.tokens(user.name))
    return [token for token in tokens if opens_feeds(token) and token.revoked is None]


def _revoke(store: Store, user: User, tokens: list[Token], address: str) -> None:
    for token in tokens:
        with store.auditing(done_by(user, address, AuditEvent.TOKEN_REVOKED, about_token(LABEL))):
            store.revoke_token(token.id)
