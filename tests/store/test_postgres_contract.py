"""PostgreSQL keeps the contract."""

from collections.abc import Callable

import pytest

from mapshelf.store import Store
from mapshelf.store.postgres.postgres_store import PostgresStore
from tests.store.clock import Clock
from tests.store.contract import StoreContract


class TestPostgres(StoreContract):
    """The contract suite on a database of its own for each test."""

    @pytest.fixture
    def url(self, new_url: Callable[[], str]) -> str:
        return new_url()

    @pytest.fixture
    def empty(self, new_url: Callable[[], str], clock: Clock) -> Callable[[], Store]:
        return lambda: PostgresStore(new_url(), clock)

    def connect(self, url: str, clock: Clock) -> Store:
        return PostgresStore(url, clock)
