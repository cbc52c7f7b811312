"""What people do with their own accounts: choose another password, or delete the account.

Being signed in is not enough for either: whoever finds an open browser must not take the account
over. Who has a password gives it once more. Who has none has signed in just now.
"""

from collections.abc import Collection
from typing import Final

from mapshelf.accounts.audit import changing_password, done_by
from mapshelf.accounts.passwords import hash_password
from mapshelf.accounts.sessions import Client
from mapshelf.accounts.sign_in import MINUTE, verified
from mapshelf.errors import (
    Conflict,
    LastAdministrator,
    NotFound,
    SessionTooOld,
    WrongCredentials,
)
from mapshelf.model import Access, AuditEvent, MapsOfClosedAccount, PasswordRecord, Token
from mapshelf.store.contract import SignIn, Store

YOUNG: Final = 15 * MINUTE
"""The age of a session that shows who somebody is."""

PIECES_AT_ONCE: Final = 20
"""Pieces of deleting an account that are done at once; the rest follows."""


def change_password(  # noqa: PLR0913, PLR0917 - the facts of one change
    store: SignIn,
    session: Token,
    present: str,
    new: str,
    client: Client,
    ending: Collection[Access] = (),
) -> None:
    """Change the password of a user who is signed in; all other sessions end.

    Args:
        store: keeps passwords, sessions and failures.
        session: the one in which it is done, which goes on.
        present: what was given as the present password.
        new: the new one.
        client: the browser.
        ending: what ends besides.

    Raises:
        UnacceptablePassword: the new password breaks a rule.
        WrongCredentials: the present password is not right.
        TooManyAttempts: see ``sign_in``.
        Overloaded: there is not enough memory now.
        StoreUnavailable: the store cannot be reached.
    """
    record = verified(store, session.user, present, client)
    user, encoded = record.user, hash_password(new, record.user.name)
    try:
        with store.auditing(*changing_password(user, client.address, ending)):
            store.set_password(
                user.id, encoded, keep=session.id, checked=record.encoded, ending=ending
            )
    except (NotFound, Conflict) as error:  # changed or disabled in this moment
        raise WrongCredentials from error


def choose_first_password(
    store: SignIn, session: Token, new: str, client: Client, ending: Collection[Access] = ()
) -> None:
    """Give a user a password who is signed in and has none; all other sessions end.

    Args:
        store: keeps passwords and sessions.
        session: the one in which it is done, which goes on.
        new: the password.
        client: the browser.
        ending: what ends besides.

    Raises:
        UnacceptablePassword: the password breaks a rule.
        SessionTooOld: the session is not young.
        WrongCredentials: the user has a password by now, or is disabled.
        Overloaded: there is not enough memory now.
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
    except (NotFound, Conflict) as error:  # chosen or disabled in this moment
        raise WrongCredentials from error


def delete_account(
    store: Store, session: Token, password: str, maps: MapsOfClosedAccount, client: Client
) -> None:
    """Delete the account of a user who is signed in.

    Args:
        store: keeps all of it.
        session: the one in which it is done.
        password: what was given as the password.
        maps: what becomes of the maps that the user uploaded.
        client: the browser.

    Raises:
        WrongCredentials: the password is not right.
        SessionTooOld: there is no password, and the session is not young.
        TooManyAttempts: see ``sign_in``.
        LastAdministrator: there would be no administrator left.
        Overloaded: there is not enough memory now.
        StoreUnavailable: the store cannot be reached.
    """
    record = _shown_to_be(store, session, password, client)
    user = record.user
    try:
        with store.auditing(done_by(user, client.address, AuditEvent.ACCOUNT_DELETED)):
            store.close_account(user.id, maps, record.encoded)
    except LastAdministrator:
        raise
    except (NotFound, Conflict) as error:  # changed or deleted in this moment
        raise WrongCredentials from error
    for _ in range(PIECES_AT_ONCE):
        if not store.finish_closing():
            break


def _shown_to_be(store: SignIn, session: Token, password: str, client: Client) -> PasswordRecord:
    """Return the user of a session who has shown, besides, who it is; see ``delete_account``."""
    record = store.password_of(session.user)
    if record is None or record.encoded is not None:
        return verified(store, session.user, password, client)
    require_young(session, client.now)
    return record


def require_young(session: Token, now: int) -> None:
    """Refuse a session that has not begun just now.

    Raises:
        SessionTooOld: it does not show any longer who somebody is.
    """
    if now - session.created > YOUNG:
        raise SessionTooOld("Sign in again first: this needs a session that has just begun.")
