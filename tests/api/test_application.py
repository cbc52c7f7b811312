"""A worker shuts down in order, even if one of its parts fails."""

from threading import Event

import pytest

from mapshelf.api import store_connection
from mapshelf.errors import InvalidSetting, StoreUnavailable
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
