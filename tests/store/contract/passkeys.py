"""Tests of ``contract.Passkeys``."""

from dataclasses import replace
from functools import partial

import pytest

from mapshelf.errors import AlreadyExists, Conflict, LastWayToSignIn, NotFound
from mapshelf.model import CLOCK_TOLERANCE, SYSTEM_USER, Passkey
from mapshelf.store import Store, sign_in
from mapshelf.store.sign_in import PASSKEYS_OF_USER
from tests.store.contract.sign_in import all_at_once
from tests.store.contract.suite import Open, Suite


def passkey(number: int, sign_count: int = 0) -> Passkey:
    return Passkey(bytes([number]) * 16, b"key", sign_count, f"k{number}", 5, None)


class PasskeysContract(Suite):
    """Passkeys and challenges."""

    def test_passkeys_are_found_with_their_user(self, store: Store) -> None:
        ann, bob = store.add_user("ann"), store.add_user("bob")
        for user, number in ((ann, 1), (bob, 2), (ann, 3)):
            store.add_passkey(user.id, passkey(number))
        assert store.passkeys(ann.id) == [passkey(1), passkey(3)]
        assert store.find_passkey(passkey(2).id) == (passkey(2), bob)
        assert store.find_passkey(b"\x02") is None
        with pytest.raises(AlreadyExists):
            store.add_passkey(ann.id, passkey(2))
        with pytest.raises(NotFound):
            store.remove_passkey(ann.id, passkey(2).id)

    def test_passkeys_that_cannot_be_added(self, store: Store) -> None:
        (system,) = (one for one in store.users() if one.name == SYSTEM_USER)
        with pytest.raises(Conflict):
            store.add_passkey(system.id, passkey(1))
        with pytest.raises(NotFound):
            store.add_passkey(system.id + 100, passkey(1))
        ann = store.add_user("ann")
        for number in range(PASSKEYS_OF_USER):
            store.add_passkey(ann.id, passkey(number))
        with pytest.raises(Conflict):
            store.add_passkey(ann.id, passkey(100))
        bob = store.add_user("bob")
        store.disable_user("bob")
        with pytest.raises(Conflict):
            store.add_passkey(bob.id, passkey(100))

    @pytest.mark.parametrize(
        ("before", "said", "good"),
        [(0, 0, True), (0, 1, True), (5, 6, True), (5, 5, False), (5, 4, False), (5, 0, False)],
    )
    def test_a_sign_count_only_grows(
        self, store: Store, before: int, said: int, good: bool
    ) -> None:
        ann = store.add_user("ann")
        store.add_passkey(ann.id, passkey(1, before))
        assert store.note_passkey_use(passkey(1).id, said, 9) is good
        used = replace(passkey(1), sign_count=said, last_used=9)
        assert store.passkeys(ann.id) == [used if good else passkey(1, before)]
        assert not store.note_passkey_use(b"none", 1, 9)

    def test_a_challenge_is_good_once(self, store: Store, reopen: Open) -> None:
        store.add_challenge(b"a" * 32, 5, 10)
        stores = [store, reopen()]
        assert not store.use_challenge(b"b" * 32, 6, 5)
        got = all_at_once(
            *(partial(stores[n % 2].use_challenge, b"a" * 32, 6, 5) for n in range(6))
        )
        assert sorted(got) == [False] * 5 + [True]  # type: ignore[type-var]
        store.add_challenge(b"c" * 32, 5, 10)
        assert not store.use_challenge(b"c" * 32, 10, 5)

    def test_a_challenge_of_a_clock_that_was_ahead_is_not_valid(self, store: Store) -> None:
        store.add_challenge(b"a" * 32, 5, 5 + 10 + CLOCK_TOLERANCE)
        assert not store.use_challenge(b"a" * 32, 4, 10)
        assert store.use_challenge(b"a" * 32, 5, 10)

    def test_the_number_of_challenges_is_limited(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in ("sqlite", "postgres"):
            monkeypatch.setattr(f"mapshelf.store.{module}.passkeys.MOST_KEYS", 3)
        assert sign_in.MOST_KEYS > 3
        for number in range(5):
            store.add_challenge(bytes([number]) * 32, 5, 10 + number)
        assert [store.use_challenge(bytes([n]) * 32, 6, 9) for n in range(5)] == [
            *(False, False, True, True, True)
        ]

    def test_the_last_passkey_stays_if_there_is_no_other_way(
        self, store: Store, reopen: Open
    ) -> None:
        ann = store.add_user("ann")
        store.add_passkey(ann.id, passkey(1))
        with pytest.raises(LastWayToSignIn):
            store.remove_passkey(ann.id, passkey(1).id)
        store.link_identity(ann.id, "https://id.example", "1", "")
        stores = [store, reopen()]
        all_at_once(
            partial(stores[0].remove_passkey, ann.id, passkey(1).id),
            partial(stores[1].unlink_identity, ann.id, "https://id.example", "1"),
        )
        assert len(store.passkeys(ann.id)) + len(store.identities(ann.id)) == 1
        store.set_password(ann.id, "hash", keep=None)
        for one in store.passkeys(ann.id):
            store.remove_passkey(ann.id, one.id)
        assert store.passkeys(ann.id) == []
