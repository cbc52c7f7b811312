"""Secret feed addresses: they give feed readers, which cannot sign in, access to a user's feeds.

The secret is stored as a token with its own prefix and scope: it only opens feeds, and no other
token opens feeds. Each user has at most one, until it is revoked or replaced.
"""

from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.model import AuditEvent, Token, User, about_token
from mapshelf.store import Store
from mapshelf.store.contract import Accounts
from mapshelf.tokens import FEED_PREFIX, FEEDS, new_token, token_digest

LABEL: Final = "feeds"
"""The label of the secret in the audit log."""


def feed_address(base_url: str, secret: str, of: str = "") -> str:
    """Return the address of a feed.

    Args:
        base_url: the public address of the service.
        secret: grants access to everybody who has the address.
        of: the path of the page that the feed follows, such as ``/collected/ID``; by default, the
            feed has all maps.
    """
    return f"{base_url}/feeds/{secret}{of}.atom"


def feed_token(store: Accounts, user: User) -> Token | None:
    """Return the token record of a user's feed address, ``None`` if there is none.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    return next(iter(_present(store, user)), None)


def new_feed_secret(store: Store, user: User, address: str) -> str:
    """Create a feed address and return its secret; a previous address stops working.

    Args:
        store: stores the digest of the secret.
        user: the owner.
        address: the address of the client.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    secret = new_token(FEED_PREFIX)
    with store.auditing(done_by(user, address, AuditEvent.TOKEN_MADE, about_token(LABEL))):
        new = store.add_token(user.name, token_digest(secret), label="", scopes=FEEDS, expires=None)
    # Read after adding the new one: of two that are made at once, the earlier is found here.
    before = [one for one in _present(store, user) if one.id < new.id]
    _revoke(store, user, before, address)
    return secret


def withdraw_feed_address(store: Store, user: User, address: str) -> None:
    """Revoke the feed address of a user, if there is one; ``address`` is that of the client.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    _revoke(store, user, _present(store, user), address)


def opens_feeds(token: Token) -> bool:
    """Return whether a token is the secret of a feed address."""
    return token.scopes == FEEDS


def _present(store: Accounts, user: User) -> list[Token]:
    tokens = reversed(store.tokens(user.name))
    return [token for token in tokens if opens_feeds(token) and token.revoked is None]


def _revoke(store: Store, user: User, tokens: list[Token], address: str) -> None:
    for token in tokens:
        with store.auditing(done_by(user, address, AuditEvent.TOKEN_REVOKED, about_token(LABEL))):
            store.revoke_token(token.id)
