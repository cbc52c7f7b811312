"""Choosing a first password and deleting an account while other requests change it."""

from dataclasses import replace

import pytest

from mapshelf.accounts import own_account
from mapshelf.accounts import sign_in as signing_in
from mapshelf.accounts.own_account import YOUNG, choose_first_password, delete_account
from mapshelf.accounts.passwords import hash_password
from mapshelf.accounts.sessions import Client
from mapshelf.accounts.sign_in import sign_in
from mapshelf.errors import SessionTooOld, UnacceptablePassword, WrongCredentials
from mapshelf.model import (
    MINUTE,
    SYSTEM_USER,
    AuditEvent,
    MapDraft,
    MapsOfClosedAccount,
    PasswordRecord,
    Token,
    User,
)
from mapshelf.store import Store, account_deletion
from tests.store.clock import Clock

PASSWORD = "correct horse battery"
NEW = "another horse entirely"
REMOVE = MapsOfClosedAccount.REMOVE


@pytest.fixture
def home(clock: Clock) -> Client:
    return Client(clock.now, "192.0.2.1")


@pytest.fixture
def cat(store: Store, cheap: None) -> User:
    """A user without a password."""
    return store.add_user("cat")


@pytest.fixture
def session(store: Store, cat: User) -> Token:
    """Her session, as if a provider had signed her in."""
    return store.add_session(cat.id, b"s" * 32, "browser", 2**50, None)


def is_there(store: Store, user: User) -> bool:
    return user.id in [one.id for one in store.users()]


def test_a_password_changed_meanwhile_prevents_deletion(
    store: Store, cat: User, session: Token, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set_password(cat.id, hash_password(PASSWORD, "cat"), keep=session.id)
    check = signing_in.verified

    def verified(store: Store, name: str, password: str, client: Client) -> PasswordRecord:
        record = check(store, name, password, client)
        store.set_password(cat.id, hash_password(NEW, "cat"), keep=None)
        return record

    monkeypatch.setattr(own_account, "verified", verified)
    with pytest.raises(WrongCredentials):
        delete_account(store, session, PASSWORD, REMOVE, home)
    assert is_there(store, cat)
    assert AuditEvent.ACCOUNT_DELETED not in [
        one.entry.event for one in store.audit_records(0, 0, 100)
    ]


def test_a_password_chosen_meanwhile_prevents_deletion(
    store: Store, cat: User, session: Token, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def require_young(session: Token, now: int) -> None:
        store.set_password(cat.id, hash_password(NEW, "cat"), keep=None)

    monkeypatch.setattr(own_account, "require_young", require_young)
    with pytest.raises(WrongCredentials):
        delete_account(store, session, "", REMOVE, home)
    assert is_there(store, cat)


def test_giving_the_maps_of_a_deleted_account_away_takes_a_bounded_time(
    store: Store, cat: User, session: Token, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow database, each batch may take a second. The others follow in the background."""

    def owners() -> set[str]:
        return {one.owner for one in store.maps(0, 100)}

    store.put_maps([MapDraft(title=str(number), owner="cat") for number in range(10)])
    monkeypatch.setattr(account_deletion, "MAPS_AT_ONCE", 2)
    monkeypatch.setattr(own_account, "SECONDS_AT_ONCE", 0.0)
    delete_account(store, session, "", REMOVE, home)
    assert not is_there(store, cat)
    assert len(owners()) == 2
    while store.finish_closing():
        pass
    assert owners() == {SYSTEM_USER}


def test_a_recent_session_may_choose_a_first_password(
    store: Store, cat: User, session: Token, home: Client
) -> None:
    other = store.add_session(cat.id, b"o" * 32, "another", 2**50, None)
    with pytest.raises(UnacceptablePassword):
        choose_first_password(store, session, "short", home)
    late = replace(home, now=session.created + YOUNG + 1)
    with pytest.raises(SessionTooOld):
        choose_first_password(store, session, NEW, late)
    assert store.password_of("cat") == PasswordRecord(cat, None)
    choose_first_password(store, session, NEW, home)
    assert [one.id for one in store.sessions(cat.id)] == [session.id] != [other.id]
    assert sign_in(store, "cat", NEW, home).user == cat
    with pytest.raises(WrongCredentials):  # a change now needs the present password
        choose_first_password(store, session, PASSWORD, home)
    events = [one.entry.event for one in store.audit_records(0, 0, 100)]
    assert events == [AuditEvent.PASSWORD_CHANGED, AuditEvent.SIGN_IN]


def test_a_session_from_the_future_is_not_recent(
    store: Store, cat: User, session: Token, home: Client
) -> None:
    """It began at a node whose clock is ahead, at any time."""
    early = replace(home, now=session.created - MINUTE - 1)
    with pytest.raises(SessionTooOld):
        choose_first_password(store, session, NEW, early)
    with pytest.raises(SessionTooOld):
        delete_account(store, session, "", REMOVE, early)
    delete_account(store, session, "", REMOVE, replace(home, now=session.created - MINUTE))
