"""The SQLite store passes the contract suite."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from mapshelf.settings import sqlite_url
from mapshelf.store import Store
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.databases import copied_sqlite
from tests.store.clock import Clock
from tests.store.contract import StoreContract
from tests.store.contract.opening import OpeningContract


def connect(url: str, clock: Clock) -> Store:
    return SQLiteStore(Path(url.removeprefix("sqlite://")), clock)


class TestSQLite(StoreContract):
    """The contract suite, with a copied empty catalogue for each test, because that is faster."""

    @pytest.fixture
    def url(self, tmp_path: Path, clock: Clock) -> str:
        copied_sqlite(tmp_path / "catalogue.db", clock.now)
        return sqlite_url(tmp_path)

    @pytest.fixture
    def empty(self, tmp_path: Path, clock: Clock) -> Callable[[], Store]:
        numbers = count()
        return lambda: SQLiteStore(tmp_path / f"empty-{next(numbers)}.db", clock)

    def connect(self, url: str, clock: Clock) -> Store:
        return connect(url, clock)


class TestUntouched(OpeningContract):
    """A store that is created where there is no file."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return sqlite_url(tmp_path)

    def connect(self, url: str, clock: Clock) -> Store:
        return connect(url, clock)
