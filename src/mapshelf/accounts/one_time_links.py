"""One-time links, with which people choose a password or register."""

from typing import Final

from mapshelf.model import DAY, LinkKind, OneTimeLink, User, has_come
from mapshelf.store.contract import Passwords
from mapshelf.tokens import LINK_PREFIX, is_well_formed, new_token, token_digest

LIFETIMES: Final = {LinkKind.PASSWORD: DAY, LinkKind.INVITATION: 7 * DAY}
"""Lifetimes of links, in milliseconds."""


def new_password_link(
    store: Passwords, user: User, now: int, created_by: User | None = None
) -> str:
    """Return the secret of a new link with which ``user`` can choose a password.

    Raises:
        NotFound: the user does not exist.
        Conflict: the user may not sign in.
    """
    return _new_link(store, LinkKind.PASSWORD, user, created_by, now)


def new_invitation(store: Passwords, now: int, created_by: User | None = None) -> str:
    """Return the secret of a new link with which one person can register."""
    return _new_link(store, LinkKind.INVITATION, None, created_by, now)


def find_link(store: Passwords, secret: str, now: int) -> OneTimeLink | None:
    """Return the link with this secret if it is valid at ``now``; this does not use it up.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    if not is_well_formed(secret, LINK_PREFIX):
        return None
    return link_with(store, token_digest(secret), now)


def link_with(store: Passwords, digest: bytes, now: int) -> OneTimeLink | None:
    """Return the link whose secret has this digest if it is valid at ``now``.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    found = store.link(digest, now)
    return found if found is not None and has_come(found.created, now) else None


def link_address(base_url: str, secret: str) -> str:
    """Return the address of a link; ``base_url`` is the public address of the service."""
    return f"{base_url}/link/{secret}"


def _new_link(
    store: Passwords, kind: LinkKind, user: User | None, created_by: User | None, now: int
) -> str:
    secret = new_token(LINK_PREFIX)
    store.add_link(
        kind,
        token_digest(secret),
        user.id if user else None,
        now + LIFETIMES[kind],
        created_by.id if created_by else None,
    )
    return secret
