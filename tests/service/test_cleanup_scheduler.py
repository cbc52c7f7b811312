"""Scheduled cleanup: deleted accounts are finished, and old records are deleted in time."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import (
    DAY,
    AuditEntry,
    AuditEvent,
    DecisionKind,
    MapDetails,
    MapsOfClosedAccount,
    Reason,
)
from mapshelf.service.cleanup_scheduler import CleanupScheduler
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.store.clock import Clock
from tests.store.drafts import upload


@pytest.fixture
def clock() -> Clock:
    return Clock(int(time.time() * 1000))


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "catalogue.db", clock)
    yield made
    made.close()


def test_the_log_is_kept_for_ninety_days(store: SQLiteStore, clock: Clock) -> None:
    now = clock.now
    for days in (90.01, 89.99):
        clock.now = now - int(days * DAY)
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, str(days)))
    CleanupScheduler(store).do_due()
    assert [one.entry.target for one in store.audit_records(0, 0, 10)] == ["89.99"]


def test_dismissals_are_forgotten_after_thirty_days(store: SQLiteStore, clock: Clock) -> None:
    now, bob = clock.now, store.add_user("bob").id
    found, _ = store.publish(upload(), MapDetails(title="t"), 1, None)
    for days in (30.01, 29.99):
        clock.now = now - int(days * DAY)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        store.decide(found.file_id, DecisionKind.DISMISS, bob)
    CleanupScheduler(store).do_due()
    assert [one.decided for one in store.decisions(10)] == [clock.now]


def test_deleted_accounts_are_finished(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.store.account_deletion.MAPS_AT_ONCE", 1)
    ann = store.add_user("ann").id
    for name in "abc":
        store.publish(upload(name), MapDetails(title=name), ann, None)
    store.close_account(ann, MapsOfClosedAccount.REMOVE, None)
    scheduler = CleanupScheduler(store)
    for _ in range(6):
        scheduler.do_due()
    assert store.maps(0, 10) == []
    store.add_user("ann")


def test_what_names_look_like_is_noted_after_an_upgrade(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapshelf.store.lookalikes.ROWS_AT_ONCE", 1)
    for name in "abc":
        store.add_user(name)
    with closing(sqlite3.connect(tmp_path / "catalogue.db")) as database, database:
        database.execute("UPDATE users SET skeleton = NULL")
        scheduler = CleanupScheduler(store)
        for _ in range(6):
            database.commit()
            scheduler.do_due()
        assert database.execute("SELECT 1 FROM users WHERE skeleton IS NULL").fetchall() == []


def test_an_unreachable_store_is_retried_later(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    def finish_closing() -> bool:
        asked.append(1)
        raise StoreUnavailable("away")

    monkeypatch.setattr(store, "finish_closing", finish_closing)
    scheduler = CleanupScheduler(store)
    for _ in range(3):
        scheduler.do_due()
    assert asked == [1]
    assert caplog.messages == ["cleaning up was postponed: away"]
