"""How soon pending visit counts are applied to maps."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.model import HOUR, MapDraft, Visit, VisitKind
from mapshelf.service.visit_count_scheduler import VisitCountScheduler
from mapshelf.store.sqlite.sqlite_store import SQLiteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "catalogue.db")
    made.put_maps([MapDraft(title="t")])
    yield made
    made.close()


def count(store: SQLiteStore, key: bytes, seconds: float) -> None:
    """Count a visit of some seconds ago."""
    now = int((time.time() - seconds) * 1000)
    assert store.count_visits([Visit(key, 1, VisitKind.VIEW, now // HOUR)], now, 9) == 0


def views(store: SQLiteStore) -> int:
    (found,) = store.maps(0, 9)
    return found.views


def test_visits_are_collected_for_a_minute(store: SQLiteStore) -> None:
    count(store, b"1", seconds=5)
    VisitCountScheduler(store).apply_due()
    assert views(store) == 0
    count(store, b"2", seconds=70)  # from a worker that was late
    VisitCountScheduler(store).apply_due()
    assert views(store) == 0  # the first visit decides how long counts wait
    store.apply_visit_counts(2**60)
    count(store, b"3", seconds=70)
    count(store, b"4", seconds=5)
    scheduler = VisitCountScheduler(store)
    scheduler.apply_due()
    assert views(store) == 4
    count(store, b"5", seconds=70)
    scheduler.apply_due()  # too soon: does nothing
    assert views(store) == 4


def test_visits_are_collected_longer_where_building_takes_long(store: SQLiteStore) -> None:
    count(store, b"1", seconds=70)
    scheduler = VisitCountScheduler(store)
    scheduler.adapt_to(build_time=4.0)
    scheduler.apply_due()
    assert views(store) == 0
    prompt = VisitCountScheduler(store)
    prompt.adapt_to(build_time=0.01)
    prompt.apply_due()
    assert views(store) == 1


def test_a_store_that_is_away_is_left_alone_for_a_while(
    store: SQLiteStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.close()
    scheduler = VisitCountScheduler(store)
    scheduler.apply_due()
    scheduler.apply_due()
    assert caplog.text.count("pending visit counts will be applied later") == 1
