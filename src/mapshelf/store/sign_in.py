"""Sign-in: limits, retention times, SQL and checks that both databases share."""

from typing import Final

from mapshelf.errors import Conflict
from mapshelf.model import DAY, HOUR, SYSTEM_USER, SignInProof, User, name_key
from mapshelf.store.columns import FROM_ONE_TIME_LINKS, MADE_RIGHTFULLY, ONE_TIME_LINK
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import Row
from mapshelf.tokens import SCOPES

SESSIONS_OF_USER: Final = 100
"""Maximum sessions per user: further ones replace the oldest."""

MOST_KEYS: Final = 50_000
"""Maximum number of stored failure keys, and of known addresses."""

FAILURES_KEPT: Final = DAY
ADDRESSES_KEPT: Final = 90 * DAY
"""How long they are kept, in milliseconds."""

LATER_KEPT: Final = HOUR
"""A failure does not move the time of the last one back, unless that is further in the future."""

IDENTITIES_OF_USER: Final = 20
"""Identities at OpenID providers that a user may have."""

PASSKEYS_OF_USER: Final = 20
"""Passkeys that a user may have."""

WAYS: Final = (
    "SELECT (SELECT count(*) FROM users WHERE id = {0} AND password IS NOT NULL)"
    " + (SELECT count(*) FROM identities WHERE user_id = {0})"
    " + (SELECT count(*) FROM passkeys WHERE user_id = {0})"
)
"""Counts the ways in which a user can sign in; ``{0}`` stands for the id of the user."""

GOOD_LINKS: Final = (
    f"SELECT {ONE_TIME_LINK} FROM {FROM_ONE_TIME_LINKS} WHERE l.expires > ? AND {MADE_RIGHTFULLY}"
)
"""The one-time links that are valid at a time."""

_PASSKEY: Final = "SELECT 1 FROM passkeys WHERE id = ? AND user_id = ?"
_IDENTITY: Final = "SELECT 1 FROM identities WHERE issuer = ? AND subject = ? AND user_id = ?"
"""What a user has just signed in with."""

SESSION_SCOPES: Final = " ".join(SCOPES)
"""A session has all scopes of its user."""


def refuse_system(user: User) -> User:
    """Return the user unless it is ``system``.

    Raises:
        Conflict: the user is ``system``.
    """
    if name_key(user.name) == SYSTEM_USER:
        raise Conflict(f"nobody can sign in as {SYSTEM_USER}")
    return user


def refuse_changed(user: User, password: str | None, checked: str | None) -> None:
    """Check that a user is enabled and the password has not changed since it was checked.

    Args:
        user: the user.
        password: the current encoded hash of the user.
        checked: the encoded hash that the password was checked against, if any.

    Raises:
        Conflict: the user is disabled, or the password has changed.
    """
    if user.disabled:
        raise Conflict(f"the user {user.name} is disabled")
    if checked is not None and password != checked:
        raise Conflict("the password has been changed in the meantime")


def refuse_unproved(read: Read, user_id: int, proof: SignInProof) -> None:
    """Check that the passkey or the identity that a user has just used was not removed meanwhile.

    Raises:
        Conflict: it was.
    """
    there: list[Row] = [(1,)]
    if proof.passkey is not None:
        there = read(_PASSKEY, (proof.passkey, user_id))
    elif proof.identity is not None:
        there = read(_IDENTITY, (*proof.identity, user_id))
    if not there:
        raise Conflict("this way to sign in has been removed in the meantime")


def refuse_second(user: User, password: str | None) -> None:
    """Refuse to set a first password if the user has one, with the encoded hash ``password``.

    Raises:
        Conflict: the user is disabled, or has a password.
    """
    if user.disabled:
        raise Conflict(f"the user {user.name} is disabled")
    if password is not None:
        raise Conflict(f"the user {user.name} has a password")


def refuse_another(user: User, count: int, most: int) -> None:
    """Check that a user with ``count`` identities or passkeys may add another one.

    Raises:
        Conflict: the user is disabled, or has ``most`` already.
    """
    if user.disabled:
        raise Conflict(f"the user {user.name} is disabled")
    if count >= most:
        raise Conflict(f"a user can have at most {most} of these")
