"""Tests of ``contract.Store.acting_as``."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from mapshelf.errors import InvalidToken
from mapshelf.model import Access, Credential, MapsOfClosedAccount, Role, Token, User
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.sign_in import add_link, all_at_once, begin, digest
from tests.store.contract.suite import LATER, Open, Suite, present, put, title

ENDINGS: dict[str, Callable[[Store, User, Token], object]] = {
    "session ended": lambda store, user, session: store.end_session(user.id, session.id),
    "all sessions ended": lambda store, user, _: store.end_sessions(user.id, None),
    "password changed": lambda store, user, _: store.set_password(user.id, "new", keep=None),
    "password chosen by link": lambda store, user, _: _use_link(store, user),
    "user disabled": lambda store, user, _: store.disable_user(user.name),
    "user demoted": lambda store, user, _: store.set_role(user.name, Role.MEMBER),
    "account closed": lambda store, user, _: store.close_account(
        user.id, MapsOfClosedAccount.REMOVE, None
    ),
    "replaced by another sign-in": lambda store, user, _: store.add_session(
        user.id, digest(9), "", LATER, digest(1)
    ),
}
"""What ends the session of an administrator."""

WRITES: dict[str, Callable[[Store, User], object]] = {
    "a token": lambda store, user: add_token(store, user, 2),
    "a search": lambda store, user: store.save_search(user.id, "all", ""),
    "a map": lambda store, _: put(store, title("Late")),
    "a password": lambda store, user: store.set_password(user.id, "late", keep=None),
    "a refused file": lambda store, user: store.note_refused_upload(user.id),
}
"""Writes in transactions of different kinds."""


def add_token(store: Store, user: User, number: int) -> Token:
    return store.add_token(user.name, digest(number), label="", scopes="maps", expires=None)


def _use_link(store: Store, user: User) -> None:
    add_link(store, 8, user, LATER)
    store.use_link(digest(8), "new", 0)


class CredentialCheckContract(Suite):
    """Writes of requests whose credential may have ended."""

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_nothing_is_written_once_the_credential_has_ended(
        self, store: Store, ending: str
    ) -> None:
        ann = store.add_user("ann", Role.ADMINISTRATOR)
        store.add_user("other", Role.ADMINISTRATOR)
        session = begin(store, ann, 1)
        acting = store.acting_as(Credential(session, ann))
        add_token(acting, ann, 3)
        ENDINGS[ending](store, ann, session)
        for write in WRITES.values():
            with pytest.raises(InvalidToken):
                write(acting, ann)
        assert not store.find_credentials([digest(2)])
        assert not present(store)
        assert acting.users() == store.users()  # reading needs no credential
        assert put(acting.acting_as(None), title("By others"))

    @pytest.mark.parametrize("write", WRITES)
    def test_a_valid_credential_writes(self, store: Store, write: str) -> None:
        ann = store.add_user("ann")
        acting = store.acting_as(Credential(begin(store, ann, 1), ann))
        WRITES[write](acting, ann)

    def test_a_promoted_user_goes_on(self, store: Store) -> None:
        ann = store.add_user("ann")
        acting = store.acting_as(Credential(begin(store, ann, 1), ann))
        store.set_role("ann", Role.ADMINISTRATOR)
        assert put(acting, title("In time"))

    def test_tokens_end_by_revocation_and_with_time(self, store: Store, clock: Clock) -> None:
        ann = store.add_user("ann")
        revoked, short = (
            store.add_token("ann", digest(number), label="", scopes="", expires=clock.now + 1)
            for number in (1, 2)
        )
        store.revoke_token(revoked.id)
        with pytest.raises(InvalidToken):
            put(store.acting_as(Credential(revoked, ann)), title("Late"))
        acting = store.acting_as(Credential(short, ann))
        put(acting, title("In time"))
        clock.now += 1
        with pytest.raises(InvalidToken):
            put(acting, title("Late"))

    def test_a_user_with_the_name_of_a_deleted_one_is_somebody_else(self, store: Store) -> None:
        before = store.add_user("ann")
        acting = store.acting_as(Credential(begin(store, before, 1), before))
        store.close_account(before.id, MapsOfClosedAccount.REMOVE, None)
        while store.finish_closing():
            pass
        ann = store.add_user("ann")
        with pytest.raises(InvalidToken):
            add_token(acting, ann, 2)
        assert store.tokens("ann") == []

    def test_a_restored_database_may_give_the_id_of_a_token_again(self, store: Store) -> None:
        ann = store.add_user("ann")
        session = begin(store, ann, 1)
        lost = replace(session, created=session.created - 1)
        with pytest.raises(InvalidToken):
            put(store.acting_as(Credential(lost, ann)), title("Of the lost token"))
        put(store.acting_as(Credential(session, ann)), title("In time"))

    def test_a_password_change_at_the_same_moment_revokes_what_was_made(
        self, store: Store, reopen: Open
    ) -> None:
        other = reopen()
        ann = store.add_user("ann")
        for turn in range(20):
            acting = other.acting_as(Credential(begin(store, ann, 2 * turn), ann))
            all_at_once(
                partial(
                    store.set_password,
                    ann.id,
                    f"new {turn}",
                    keep=None,
                    ending=[Access.PROGRAMS],
                ),
                partial(add_token, acting, ann, 2 * turn + 1),
            )
            assert all(one.revoked is not None for one in store.tokens("ann"))
