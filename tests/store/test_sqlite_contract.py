"""SQLite keeps the contract."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from mapshelf.settings import sqlite_url
from mapshelf.store import Store
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.store.clock import Clock
from tests.store.contract import StoreContract


class TestSQLite(StoreContract):
    """The contract suite on SQLite files."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return sqlite_url(tmp_path)

    @pytest.fixture
    def empty(self, tmp_path: Path, clock: Clock) -> Callable[[], Store]:
        numbers = count()
        return lambda: SQLiteStore(tmp_path / f"empty-{next(numbers)}.db", clock)

    def connect(self, url: str, clock: Clock) -> Store:
        return SQLiteStore(Path(url.removeprefix("sqlite://")), clock)
