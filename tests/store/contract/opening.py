"""Tests of opening, closing and checking a store."""

import random

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import (
    SYSTEM_USER,
)
from mapshelf.store import Store, seed
from tests.store.clock import Clock
from tests.store.contract.suite import (
    ALL,
    Open,
    Suite,
    put,
    random_writes,
    title,
)
from tests.store.drafts import complete, source


class OpeningContract(Suite):
    """A store is created, closed, opened again and checked."""

    def test_a_new_store_is_sound_and_has_the_seed_data(self, store: Store, clock: Clock) -> None:
        assert store.check() == []
        assert store.revision() == 0
        assert store.changes(0, ALL) == []
        assert store.maps(0, ALL) == []
        assert store.categories() == list(seed.CATEGORIES)
        assert store.software() == list(seed.SOFTWARE)
        assert store.licence_types() == list(seed.LICENCE_TYPES)
        assert [(user.name, user.registered, user.disabled) for user in store.users()] == [
            (SYSTEM_USER, clock.now, False)
        ]

    def test_closing_twice_is_fine_and_a_closed_store_is_unavailable(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable):
            store.revision()
        with pytest.raises(StoreUnavailable):
            store.put_maps([title("t")])

    def test_everything_is_there_after_reopening(
        self, store: Store, reopen: Open, clock: Clock
    ) -> None:
        found = put(store, complete(source=source()))
        store.put_maps([title("gone", id="gone")])
        store.delete_maps(["gone"])
        user = store.add_user("Eve")
        token = store.add_token("eve", b"d" * 32, label="l", scopes="s", expires=5)
        everything = store.changes(0, ALL)
        store.close()

        clock.now += 1000  # a second opening must not seed or timestamp anything again
        again = reopen()
        assert again.changes(0, ALL) == everything
        assert again.maps(0, ALL) == [found]
        assert again.sources([source().path]) == {source().path: source()}
        assert again.users()[-1] == user
        assert again.tokens("EVE") == [token]
        assert again.check() == []

    def test_check_finds_no_fault_after_many_writes(self, store: Store) -> None:
        for _ in random_writes(store, random.Random(7)):
            pass
        assert store.check() == []
