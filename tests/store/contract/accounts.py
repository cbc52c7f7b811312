"""Tests of ``contract.Accounts`` and ``contract.Credentials``."""

import random
import unicodedata
from dataclasses import replace
from functools import partial
from hashlib import sha256

import pytest

from mapshelf.errors import AlreadyExists, NotFound, TooManyTokens
from mapshelf.model import (
    SYSTEM_USER,
    Credential,
    MapDraft,
    PasswordRecord,
    Token,
)
from mapshelf.store import Store
from mapshelf.tokens import FEEDS
from tests.store.clock import Clock
from tests.store.contract.sign_in import all_at_once
from tests.store.contract.suite import (
    Open,
    Suite,
    title,
)


class AccountsContract(Suite):
    """Users and tokens."""

    def test_user_names_ignore_case(self, store: Store, clock: Clock) -> None:
        bob = store.add_user("Bob")
        assert (bob.name, bob.registered, bob.disabled) == ("Bob", clock.now, False)
        for name in ("Bob", "bob", "BOB", SYSTEM_USER):
            with pytest.raises(AlreadyExists):
                store.add_user(name)
        eve = store.add_user("eve")
        assert store.users()[1:] == [bob, eve]
        assert bob.id < eve.id

    def test_registered_owners_are_users(self, store: Store) -> None:
        store.put_maps([title("t", owner="Ann")])
        with pytest.raises(AlreadyExists):
            store.add_user("ann")

    @pytest.mark.parametrize("stored", ["NFC", "NFD"])
    def test_a_name_is_found_in_another_unicode_form(self, store: Store, stored: str) -> None:
        composed, decomposed = (unicodedata.normalize(form, "Zo\u00eb") for form in ("NFC", "NFD"))
        zoe = store.add_user(composed if stored == "NFC" else decomposed)
        store.put_maps([MapDraft(title="Plan", owner=decomposed)])
        assert [one.owner for one in store.maps(0, 9)] == [zoe.name]
        assert store.disable_user(decomposed).id == zoe.id
        assert store.password_of(decomposed) == PasswordRecord(replace(zoe, disabled=True), None)

    def test_owners_are_added_with_composed_names(self, store: Store) -> None:
        store.put_maps([MapDraft(title="Plan", owner=unicodedata.normalize("NFD", "Zo\u00eb"))])
        assert [one.owner for one in store.maps(0, 9)] == ["Zo\u00eb"]

    def test_disabling(self, store: Store) -> None:
        bob = store.add_user("Bob")
        store.add_token("bob", b"1" * 32, label="", scopes="", expires=None)
        store.add_user("Eve")
        disabled = replace(bob, disabled=True)
        assert store.disable_user("BOB") == disabled
        assert store.disable_user("bob") == disabled
        assert [user.disabled for user in store.users()] == [False, True, False]
        (credential,) = store.find_credentials([b"1" * 32]).values()
        assert credential.user == disabled
        with pytest.raises(NotFound):
            store.disable_user("nobody")

    def test_tokens(self, store: Store, clock: Clock) -> None:
        bob = store.add_user("Bob")
        first = store.add_token("bob", b"1" * 32, label="mine", scopes="read", expires=99)
        clock.now += 5
        second = store.add_token("BOB", b"2" * 32, label="", scopes="", expires=None)
        assert (first.user, first.label, first.scopes) == ("Bob", "mine", "read")
        assert (first.created, first.expires) == (clock.now - 5, 99)
        assert (first.revoked, first.last_used) == (None, None)
        assert (second.created, second.expires) == (clock.now, None)
        assert store.tokens("bOb") == [first, second]
        both = {b"1" * 32: Credential(first, bob), b"2" * 32: Credential(second, bob)}
        assert store.find_credentials([b"3" * 32, b"2" * 32, b"", b"1" * 32, b"2" * 32]) == both
        assert store.find_credentials([b"3" * 32]) == store.find_credentials([]) == {}
        assert store.tokens(SYSTEM_USER) == []

    def test_the_number_of_tokens_may_be_limited(self, store: Store, reopen: Open) -> None:
        store.add_user("Bob")
        store.add_user("Eve")
        nodes = [store, reopen(), reopen(), reopen()]

        def add(number: int, user: str = "bob", scopes: str = "maps") -> Token:
            add_to = nodes[number % 4].add_token
            return add_to(user, b"%032d" % number, label="", scopes=scopes, expires=None, most=3)

        for number in range(4):
            add(number, scopes=FEEDS)
        store.add_token("bob", b"1" * 32, label="", scopes="maps", expires=None)
        made = all_at_once(*(partial(add, number) for number in range(10, 18)))
        refused = [one for one in made if isinstance(one, TooManyTokens)]
        assert (len(made), len(refused)) == (8, 6)
        store.add_token("bob", b"2" * 32, label="", scopes="maps", expires=None)
        add(20, "eve")
        first, *_ = (one for one in store.tokens("bob") if one.scopes != FEEDS)
        store.revoke_token(first.id)
        with pytest.raises(TooManyTokens):
            add(30)
        store.revoke_token(store.tokens("bob")[-1].id)
        assert add(31).id > max(one.id for one in store.tokens("bob")[:-1])

    def test_tokens_are_found_among_thousands_of_unknown_ones(self, store: Store) -> None:
        known = [bytes([n]) * 32 for n in range(50)]
        for digest in known:
            store.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
        invented = [sha256(b"%d" % n).digest() for n in range(5000)]
        asked = random.Random(1).sample(known + invented, 5050)
        assert sorted(store.find_credentials(asked)) == known

    def test_tokens_need_a_user(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.tokens("nobody")
        with pytest.raises(NotFound):
            store.add_token("nobody", b"1" * 32, label="", scopes="", expires=None)
        assert store.find_credentials([b"1" * 32]) == {}
        with pytest.raises(NotFound):
            store.revoke_token(1)

    def test_revoking_twice_keeps_the_first_time(self, store: Store, clock: Clock) -> None:
        token = store.add_token(SYSTEM_USER, b"1" * 32, label="", scopes="", expires=None)
        other = store.add_token(SYSTEM_USER, b"2" * 32, label="", scopes="", expires=None)
        revoked = replace(token, revoked=clock.now)
        assert store.revoke_token(token.id) == revoked
        clock.now += 1000
        assert store.revoke_token(token.id) == revoked
        assert store.tokens(SYSTEM_USER) == [revoked, other]
        (credential,) = store.find_credentials([b"1" * 32]).values()
        assert credential.token == revoked

    def test_the_tokens_version_changes_when_a_token_is_revoked(self, store: Store) -> None:
        store.add_user("Bob")
        first = store.add_token("Bob", b"1" * 32, label="", scopes="", expires=None)
        versions = [store.tokens_version()]
        store.touch_tokens({first.id: 50})
        store.put_maps([title("t", owner="Bob")])
        assert store.tokens_version() == versions[0]
        for withdraw in (
            lambda: store.revoke_token(first.id),
            lambda: store.add_token("Bob", b"2" * 32, label="", scopes="", expires=None),
            lambda: store.disable_user("Bob"),
        ):
            withdraw()
            versions.append(store.tokens_version())
            for version in versions:
                (credential,) = store.find_credentials([b"3" * 32, b"1" * 32], version).values()
                assert credential.token.revoked is not None
        assert len(set(versions)) >= 3
        assert store.find_credentials([b"3" * 32], versions[-1]) == {}

    def test_last_use_never_goes_back(self, store: Store) -> None:
        one, two, three = (
            store.add_token(SYSTEM_USER, bytes([n]) * 32, label="", scopes="", expires=None)
            for n in range(3)
        )
        store.touch_tokens({one.id: 50, two.id: 60, 12345: 1})
        store.touch_tokens({one.id: 40, two.id: 70})
        store.touch_tokens({})
        assert store.tokens(SYSTEM_USER) == [
            replace(one, last_used=50),
            replace(two, last_used=70),
            three,
        ]
