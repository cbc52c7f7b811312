"""Removed maps are deleted after thirty days, and not before."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.model import DAY, MapDetails, MapDraft
from mapshelf.service.removal_scheduler import RemovalScheduler
from mapshelf.store import publishing
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.store.clock import Clock
from tests.store.drafts import source, upload


@pytest.fixture
def clock() -> Clock:
    return Clock(int(time.time() * 1000))


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "catalogue.db", clock)
    yield made
    made.close()


def remove_maps(store: SQLiteStore, clock: Clock, days: float, *names: str) -> None:
    """Remove maps, as if some days ago."""
    now = clock.now
    clock.now -= int(days * DAY)
    for name in names:
        found, _ = store.publish(upload(name), MapDetails(title=name), 1, None)
        store.remove_map(found.file_id, 1)
    clock.now = now


def removed(store: SQLiteStore) -> set[str]:
    return {one.map.title for one in store.removed_maps(None)}


def test_maps_are_deleted_after_thirty_days(store: SQLiteStore, clock: Clock) -> None:
    remove_maps(store, clock, 30.01, "old")
    remove_maps(store, clock, 29.99, "young")
    scheduler = RemovalScheduler(store)
    scheduler.purge_due()
    assert removed(store) == {"young"}


def test_maps_whose_files_are_missing_are_left_to_who_looks_for_them(
    store: SQLiteStore, clock: Clock
) -> None:
    now, old = clock.now, source("old.mm")
    store.put_maps([MapDraft(title="old", source=old)])
    clock.now = now - int(31 * DAY)
    store.remove_sources([old.path])
    RemovalScheduler(store).purge_due()
    assert list(store.sources([old.path])) == [old.path]


def test_many_maps_are_deleted_a_few_at_a_time(
    store: SQLiteStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "MAPS_AT_ONCE", 2)
    remove_maps(store, clock, 31, "a", "b", "c")
    scheduler = RemovalScheduler(store)
    scheduler.purge_due()
    assert len(removed(store)) == 1
    for _ in range(2):
        scheduler.purge_due()
    assert removed(store) == set()
    remove_maps(store, clock, 31, "d")
    scheduler.purge_due()  # too soon: does nothing
    assert removed(store) == {"d"}


def test_a_store_that_is_away_is_left_alone_for_a_while(
    store: SQLiteStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.close()
    scheduler = RemovalScheduler(store)
    for _ in range(2):
        scheduler.purge_due()
    assert caplog.text.count("removed maps will be deleted later") == 1
