"""PostgreSQL keeps the contract."""

from collections.abc import Callable

import pytest

from mapshelf.store import Store
from mapshelf.store.postgres import PostgresStore
from tests.postgres import Server
from tests.store.clock import Clock
from tests.store.contract import StoreContract


class TestPostgres(StoreContract):
    """The contract suite on a database of its own for each test."""

    @pytest.fixture
    def url(self, postgres: Server) -> str:
        return postgres.url(postgres.new_database())

    @pytest.fixture
    def empty(self, postgres: Server, clock: Clock) -> Callable[[], Store]:
        return lambda: PostgresStore(postgres.url(postgres.new_database()), clock)

    def connect(self, url: str, clock: Clock) -> Store:
        return PostgresStore(url, clock)
