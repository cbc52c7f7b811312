"""The PostgreSQL store passes the contract suite."""

from collections.abc import Callable

import pytest

from mapshelf.store import Store
from mapshelf.store.postgres.postgres_store import PostgresStore
from tests.store.clock import Clock
from tests.store.contract import StoreContract
from tests.store.contract.opening import OpeningContract


class TestPostgres(StoreContract):
    """The contract suite, with a copied empty catalogue for each test, because that is faster."""

    @pytest.fixture
    def url(self, new_catalogue: Callable[[int], str], clock: Clock) -> str:
        return new_catalogue(clock.now)

    @pytest.fixture
    def empty(self, new_catalogue: Callable[[int], str], clock: Clock) -> Callable[[], Store]:
        return lambda: PostgresStore(new_catalogue(clock.now), clock)

    def connect(self, url: str, clock: Clock) -> Store:
        return PostgresStore(url, clock)


class TestUntouched(OpeningContract):
    """A store that is created in a database without any tables."""

    @pytest.fixture
    def url(self, new_url: Callable[[], str]) -> str:
        return new_url()

    def connect(self, url: str, clock: Clock) -> Store:
        return PostgresStore(url, clock)
