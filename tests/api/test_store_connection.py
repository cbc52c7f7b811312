"""What requests read from the store is no older than the snapshot that they are answered from."""

import asyncio
from pathlib import Path

import pytest

from mapshelf.api.store_connection import StoreConnection
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store


def test_nothing_is_read_of_maps_that_is_older_than_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(sqlite_url(tmp_path)).close()
    revisions, required = iter([7, 9]), list[int]()

    async def opened(store: Store) -> None:
        monkeypatch.setattr(store, "require_revision", required.append)

    async def read_twice() -> None:
        connection = StoreConnection(sqlite_url(tmp_path), lambda: next(revisions))
        await (await connection.start(opened))
        assert connection.get() is connection.get()
        connection.close()

    asyncio.run(read_twice())
    assert required == [7, 9]
