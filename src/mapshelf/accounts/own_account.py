"""Changing the password of one's own account, and deleting the account.

Both require fresh proof of identity, so that a stranger at an open browser cannot take over the
account. The proof is the password, or for users without one, a session that began a moment ago.
"""

from collections.abc import Collection
from time import monotonic
from typing import Final

from mapshelf.accounts.audit import changing_password, done_by
from mapshelf.accounts.passwords import hash_password
from mapshelf.accounts.sessions import Client
from mapshelf.accounts.sign_in import verified
from mapshelf.errors import (
    Conflict,
    LastAdministrator,
    NotFound,
    SessionTooOld,
    WrongCredentials,
)
from mapshelf.model import (
    CLOCK_TOLERANCE,
    MINUTE,
    Access,
    AuditEvent,
    MapsOfClosedAccount,
    PasswordRecord,
    Token,
)
from mapshelf.store.contract import SignIn, Store

YOUNG: Final = 15 * MINUTE
"""Maximum age of a session that counts as proof of identity."""

PIECES_AT_ONCE: Final = 20
SECONDS_AT_ONCE: Final = 5.0
"""Batches of an account deletion that run at once, and seconds after which no further one begins;
the others follow in the background."""


def change_password(  # noqa: PLR0913, PLR0917 - the facts of one change
    store: SignIn,
    session: Token,
    present: str,
    new: str,
    client: Client,
    ending: Collection[Access] = (),
) -> None:
    """Change the password of a signed-in user; all other sessions end.

    Args:
        store: stores passwords, sessions and failures.
        session: the current session, which stays valid.
        present: the current password, as entered.
        new: the new password.
        client: the browser.
        ending: which other credentials end.

    Raises:
        UnacceptablePassword: the new password breaks a rule.
        WrongCredentials: the current password is wrong.
        TooManyAttempts: see ``sign_in``.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    record = verified(store, session.user, present, client)
    user, encoded = record.user, hash_password(new, record.user.name)
    try:
        with store.auditing(*changing_password(user, client.address, ending)):
            store.set_password(
                user.id, encoded, keep=session.id, checked=record.encoded, ending=ending
            )
    except (NotFound, Conflict) as error:  # changed or disabled concurrently
        raise WrongCredentials from error


def choose_first_password(
    store: SignIn, session: Token, new: str, client: Client, ending: Collection[Access] = ()
) -> None:
    """Set the password of a signed-in user who has none; all other sessions end.

    Args:
        store: stores passwords and sessions.
        session: the current session, which stays valid.
        new: the password.
        client: the browser.
        ending: which other credentials end.

    Raises:
        UnacceptablePassword: the password breaks a rule.
        SessionTooOld: the session did not begin a moment ago.
        WrongCredentials: the user has a password by now, or is disabled.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    record = store.password_of(session.user)
    if record is None or record.encoded is not None:
        raise WrongCredentials
    require_young(session, client.now)
    user, encoded = record.user, hash_password(new, record.user.name)
    try:
        with store.auditing(*changing_password(user, client.address, ending)):
            store.set_first_password(user.id, encoded, keep=session.id, ending=ending)
    except (NotFound, Conflict) as error:  # chosen or disabled concurrently
        raise WrongCredentials from error


def delete_account(
    store: Store, session: Token, password: str, maps: MapsOfClosedAccount, client: Client
) -> None:
    """Delete the account of a signed-in user.

    Args:
        store: the store that has the account.
        session: the current session.
        password: the password, as entered.
        maps: what to do with the maps that the user uploaded.
        client: the browser.

    Raises:
        WrongCredentials: the password is wrong.
        SessionTooOld: the user has no password, and the session did not begin a moment ago.
        TooManyAttempts: see ``sign_in``.
        LastAdministrator: the user is the last administrator.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    record = _shown_to_be(store, session, password, client)
    user = record.user
    try:
        with store.auditing(done_by(user, client.address, AuditEvent.ACCOUNT_DELETED)):
            store.close_account(user.id, maps, record.encoded)
    except LastAdministrator:
        raise
    except (NotFound, Conflict) as error:  # changed or deleted concurrently
        raise WrongCredentials from error
    remaining = store.acting_as(None)  # the session has ended with the account
    began = monotonic()
    for _ in range(PIECES_AT_ONCE):
        if not remaining.finish_closing() or monotonic() - began > SECONDS_AT_ONCE:
            break


def _shown_to_be(store: SignIn, session: Token, password: str, client: Client) -> PasswordRecord:
    """Return the user of a session after fresh proof of identity; see ``delete_account``."""
    record = store.password_of(session.user)
    if record is None or record.encoded is not None:
        return verified(store, session.user, password, client)
    require_young(session, client.now)
    return record


def require_young(session: Token, now: int) -> None:
    """Reject a session that did not begin a moment ago.

    One that began in the future may be any age: the clock of another node is wrong, or ours was.

    Raises:
        SessionTooOld: the session is too old to prove who is using it.
    """
    if not -CLOCK_TOLERANCE <= now - session.created <= YOUNG:
        raise SessionTooOld("Sign in again first: this needs a session that has just begun.")
