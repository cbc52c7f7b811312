"""A worker shuts down in order, even if one of its parts fails."""

from threading import Event

import pytest

from mapshelf.api import background, store_connection
from mapshelf.errors import InvalidSetting, StoreUnavailable
from mapshelf.model import MapDraft
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store import Store
from mapshelf.visits import VisitCounter
from tests.harness import Shelf, serve


def test_each_part_is_closed_even_if_another_cannot_be(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(_: VisitCounter) -> None:
        raise RuntimeError("visits are lost")

    with serve(shelf) as service:
        store = service.application.application.context.store.get()
        store.revision()
        with monkeypatch.context() as patched:
            patched.setattr(VisitCounter, "stop", failing)
            with pytest.raises(RuntimeError, match="visits are lost"):
                service.stop()
        with pytest.raises(StoreUnavailable):
            store.revision()


class PanicException(BaseException):
    """A panic, which is no ``Exception``."""


@pytest.mark.parametrize("error", [RuntimeError, PanicException])
def test_a_worker_follows_snapshots_after_the_system_lacked_something(
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: type[BaseException],
) -> None:
    refused = Event()
    stamp = SnapshotDirectory.stamp

    def refusing(directory: SnapshotDirectory) -> object:
        if not refused.is_set():
            refused.set()
            raise error("can't start new thread")
        return stamp(directory)

    monkeypatch.setattr(background, "AGAIN_AFTER", 0.01)
    with serve(shelf) as service:
        monkeypatch.setattr(SnapshotDirectory, "stamp", refusing)
        shelf.put(MapDraft(title="New"))
        shelf.publish()
        service.wait_until(refused.is_set)
        service.wait_until(lambda: "New" in service.titles())
    assert "can't start new thread" in caplog.text


def test_a_worker_whose_store_cannot_be_opened_stops_like_any_other(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started = Event()

    def refusing(_: str, *, create: bool) -> Store:
        assert not create
        started.wait(30)
        raise InvalidSetting("this is no database of ours")

    monkeypatch.setattr(store_connection, "open_store", refusing)
    monkeypatch.setattr(store_connection, "AWAITED_AT_START", 0.1)
    with serve(shelf) as service:
        started.set()
        service.wait_until(lambda: "this is no database of ours" in caplog.text)
