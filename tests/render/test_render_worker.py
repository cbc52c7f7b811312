"""The worker draws each picture once, and returns one for every map."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.disk_cache import DiskCache
from mapshelf.errors import StoreUnavailable
from mapshelf.render import render_worker as module
from mapshelf.render.render_request import RenderRequest
from mapshelf.render.render_worker import DrawingTakesLong, RenderWorker
from mapshelf.sandbox.long_tasks import REMEMBERED_FOR
from mapshelf.sandbox.pool import processor_time
from tests.render.trees import render_request, tree

pytestmark = pytest.mark.process


class Clock:
    """A clock that returns the seconds that a test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def worker(tmp_path: Path, clock: Clock) -> Iterator[RenderWorker]:
    made = RenderWorker(DiskCache(tmp_path, 1 << 20), now=clock)
    yield made
    made.close()


def test_a_picture_is_drawn_once(worker: RenderWorker) -> None:
    wanted = render_request(tree(3))
    assert worker.cached(wanted) is None
    picture = worker.picture(wanted)
    assert picture.key == wanted.key()
    assert picture.body.startswith(b"<svg")
    assert worker.cached(wanted) == picture
    worker.close()  # from now on it draws nothing
    assert worker.picture(wanted) == picture
    with pytest.raises(StoreUnavailable):
        worker.picture(replace(wanted, width=160))


def draw_cards_only(request: RenderRequest, _seconds: int, _opening: int) -> bytes:
    """Never finish a map; draw cards at once."""
    while request.outline is not None:
        time.sleep(0.01)
    return b"card of " + request.title.encode()


def test_a_slow_map_gets_a_card_and_is_retried_later(
    worker: RenderWorker,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    worker.picture(render_request(None))  # starts the child process
    wanted = render_request(tree(3))
    with monkeypatch.context() as patched:
        patched.setattr(module, "draw", draw_cards_only)
        patched.setattr(module, "WALL_SECONDS", 1.0)
        card = worker.picture(wanted)
    assert card.body == b"card of A title"
    assert not card.complete
    assert len(caplog.records) == 1
    assert "A title" in caplog.text
    assert worker.picture(wanted) == worker.cached(wanted) == card
    assert worker.cached(render_request(None)) == card._replace(complete=True)
    assert len(caplog.records) == 1
    clock.seconds += module.TRIED_AGAIN_AFTER
    drawn = worker.picture(wanted)
    assert drawn == worker.cached(wanted)
    assert drawn.key == wanted.key()
    assert drawn.complete


def draw_nothing(request: RenderRequest, _seconds: int, _opening: int) -> bytes:
    """Draw as slowly as on a machine that is much too busy."""
    time.sleep(60)
    return b""


def test_where_even_cards_take_too_long_nothing_is_kept(
    worker: RenderWorker, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = render_request(tree(3))
    with monkeypatch.context() as patched:
        patched.setattr(module, "draw", draw_nothing)
        patched.setattr(module, "WALL_SECONDS", 1.0)
        with pytest.raises(StoreUnavailable):
            worker.picture(wanted)
    assert not worker.picture(wanted).complete
    clock.seconds += module.TRIED_AGAIN_AFTER
    assert worker.picture(wanted).complete


def draw_cards_with_a_bug(request: RenderRequest, _seconds: int, _opening: int) -> bytes:
    """Fail as the code that draws would with a map that it does not expect."""
    if request.outline is not None:
        raise TypeError("a bug that this map shows")
    return b"card of " + request.title.encode()


def test_a_map_that_shows_a_bug_gets_a_card_and_is_not_drawn_again(
    worker: RenderWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = render_request(tree(3))
    with monkeypatch.context() as patched:
        patched.setattr(module, "draw", draw_cards_with_a_bug)
        card = worker.picture(wanted)
    assert card.body == b"card of A title"
    assert card.complete
    assert worker.picture(wanted) == worker.cached(wanted) == card
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.getMessage() == "the map 'A title' cannot be drawn: a bug that this map shows"
    assert record.exc_info


def draw_maps_slowly(request: RenderRequest, seconds: int, _opening: int) -> bytes:
    """Draw a map only where there is much time, and a card at once."""
    if request.outline is not None and seconds < module.CPU_SECONDS:
        with processor_time(1):
            while True:
                pass
    return b"picture of " + request.title.encode()


@pytest.mark.parametrize("topics", [3, 1000])
def test_a_picture_that_takes_long_is_drawn_where_others_do_not_wait(
    worker: RenderWorker, clock: Clock, monkeypatch: pytest.MonkeyPatch, topics: int
) -> None:
    monkeypatch.setattr(module, "draw", draw_maps_slowly)
    wanted = replace(render_request(tree(topics)), owner="An owner")
    others = [replace(render_request(tree(2)), owner=name) for name in ("An owner", "Other", "")]
    assert not any(map(worker.takes_long, [wanted, *others]))
    with pytest.raises(DrawingTakesLong):
        worker.picture(wanted, quick=True)
    assert list(map(worker.takes_long, [wanted, *others])) == [True, True, False, False]
    monkeypatch.setattr(module, "draw", draw_nothing)
    with pytest.raises(DrawingTakesLong):
        worker.picture(others[0], quick=True)  # without trying
    monkeypatch.setattr(module, "draw", draw_maps_slowly)
    assert worker.picture(wanted).body == b"picture of A title"
    assert worker.picture(wanted, quick=True).complete
    assert worker.picture(replace(render_request(None), owner="An owner"), quick=True).complete
    clock.seconds += REMEMBERED_FOR
    assert not any(map(worker.takes_long, [wanted, *others]))


def test_of_maps_without_an_owner_only_the_same_one_takes_long(
    worker: RenderWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "draw", draw_maps_slowly)
    wanted, other = (replace(render_request(tree(size)), owner="") for size in (3, 2))
    with pytest.raises(DrawingTakesLong):
        worker.picture(wanted, quick=True)
    assert worker.takes_long(replace(wanted, width=640, title="Renamed"))
    assert not worker.takes_long(other)


def test_a_damaged_outline_gets_a_card(worker: RenderWorker) -> None:
    damaged = replace(render_request(None), outline=b"damaged")
    assert worker.picture(damaged) == worker.picture(render_request(None))


def test_a_closed_worker_draws_nothing(worker: RenderWorker) -> None:
    worker.picture(render_request(None))
    worker.close()
    with pytest.raises(StoreUnavailable):
        worker.picture(render_request(tree(2)))
