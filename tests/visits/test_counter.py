"""The visit counter of a worker with a real store, which is sometimes unavailable."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.errors import StoreUnavailable
from mapshelf.model import DAY, HOUR, MapDraft, VisitKind
from mapshelf.store import Store
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from mapshelf.visits import VisitCounter, counter
from tests.examples import examples
from tests.store.clock import Clock
from tests.visits.browsers import BROWSERS, ROBOTS, Caller

T = TypeVar("T")

NOON = 20_000 * DAY + DAY // 2
LATER = 2**60
VIEW, DOWNLOAD = VisitKind.VIEW, VisitKind.DOWNLOAD


class Desk:
    """A store with three maps, and counters like those of workers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = Clock(NOON)
        self.store: Store = SQLiteStore(path)
        self.store.put_maps([MapDraft(title=str(n)) for n in range(3)])
        self.maps = self.store.maps(0, 9)
        self.away = False
        self.runner = asyncio.Runner()

    def opened(self) -> Store:
        if self.away:
            raise StoreUnavailable("it is away")
        return self.store

    def counter(self, **options: Any) -> VisitCounter:
        async def begin() -> VisitCounter:
            made = VisitCounter(self.opened, (), self.clock, **options)
            await made.write()
            return made

        return self.run(begin())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def counts(self) -> list[tuple[int, int]]:
        self.store.apply_visit_counts(LATER)
        return [(found.views, found.downloads) for found in self.store.maps(0, 9)]

    def close(self) -> None:
        self.runner.close()
        self.store.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "catalogue.db")
    yield made
    made.close()


def test_each_visitor_counts_once_an_hour(desk: Desk) -> None:
    ours = desk.counter()
    for _ in range(3):
        ours.note(Caller("192.0.2.1"), 1, VIEW)
        ours.note(Caller("192.0.2.2"), 1, VIEW)
        ours.note(Caller("192.0.2.1", agent=BROWSERS[0]), 1, VIEW)
        ours.note(Caller("192.0.2.1"), 1, DOWNLOAD)
        ours.note(Caller("192.0.2.1"), 2, VIEW)
        desk.run(ours.write())
    assert desk.counts() == [(3, 1), (1, 0), (0, 0)]
    desk.clock.now += HOUR
    ours.note(Caller("192.0.2.1"), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts() == [(4, 1), (1, 0), (0, 0)]


def test_one_ipv6_network_is_one_visitor(desk: Desk) -> None:
    ours = desk.counter()
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"):
        ours.note(Caller(address), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts()[0] == (2, 0)


@pytest.mark.parametrize("agent", BROWSERS)
def test_browsers_count(desk: Desk, agent: str) -> None:
    ours = desk.counter()
    ours.note(Caller(agent=agent), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts()[0] == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ROBOTS)
def test_robots_do_not_count(desk: Desk, agent: str) -> None:
    ours = desk.counter()
    ours.note(Caller(agent=agent), 1, VIEW)
    ours.note(Caller(agent=agent), 1, DOWNLOAD)
    desk.run(ours.write())
    assert desk.counts()[0] == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "want"),
    [
        ({}, (1, 1)),
        ({"sec-purpose": "prefetch"}, (0, 0)),
        ({"sec-purpose": "prefetch;prerender"}, (0, 0)),
        ({"purpose": "prefetch"}, (0, 0)),
        ({"x-purpose": "preview"}, (0, 0)),
        ({"x-moz": "prefetch"}, (0, 0)),
        ({"range": "bytes=0-99"}, (0, 0)),
        ({"dnt": "1"}, (0, 0)),
        ({"dnt": "0"}, (1, 1)),
        ({"sec-gpc": "1"}, (0, 0)),
        ({"sec-fetch-dest": "document"}, (1, 1)),
        ({"sec-fetch-dest": "empty"}, (0, 1)),
        ({"sec-fetch-dest": "image"}, (0, 0)),
        ({"sec-fetch-dest": "iframe"}, (0, 0)),
    ],
)
def test_request_headers_decide_what_counts(
    desk: Desk, headers: dict[str, str], want: tuple[int, int]
) -> None:
    ours = desk.counter()
    ours.note(Caller(headers=headers), 1, VIEW)
    ours.note(Caller(headers=headers), 1, DOWNLOAD)
    desk.run(ours.write())
    assert desk.counts()[0] == want


def test_workers_count_together(desk: Desk) -> None:
    workers = [desk.counter() for _ in range(3)]
    for n, one in enumerate(workers):
        one.note(Caller(), 1, VIEW)
        one.note(Caller(f"192.0.2.{n + 5}"), 1, VIEW)
        desk.run(one.write())
    assert desk.counts()[0] == (4, 0)


def test_at_midnight_there_is_a_new_salt_and_no_gap(desk: Desk) -> None:
    ours, salts = desk.counter(), []
    for minutes in range(-15, 20):
        desk.clock.now = NOON + DAY // 2 + minutes * 60_000
        ours.note(Caller(f"192.0.2.{minutes + 20}"), 1, VIEW)
        desk.run(ours.write())
        salts.append(desk.store.visitor_salt(desk.clock.now // DAY))
    assert desk.counts()[0] == (35, 0)
    assert len(set(salts)) == 2


def test_visits_wait_while_the_store_is_unavailable(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    ours = desk.counter()
    desk.away = True
    for n in range(9):
        ours.note(Caller(f"192.0.2.{n}"), 1, VIEW)
        desk.run(ours.write())
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    desk.away = False
    desk.run(ours.write())
    assert desk.counts()[0] == (9, 0)


def test_a_locked_database_delays_nobody(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.store.sqlite.connection.BUSY_TIMEOUT", 50)
    desk.store.close()
    desk.store = SQLiteStore(desk.path)
    ours = desk.counter()
    other = apsw.Connection(str(desk.path))
    other.execute("BEGIN IMMEDIATE")
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.write())
    other.execute("ROLLBACK")
    other.close()
    assert desk.counts()[0] == (0, 0)
    desk.run(ours.write())
    assert desk.counts()[0] == (1, 0)


def test_waiting_visits_are_limited_and_lost_ones_are_logged(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(counter, "MOST_WAITING_VISITS", 10)
    ours = desk.counter()
    desk.away = True
    for n in range(25):
        ours.note(Caller(f"192.0.2.{n}"), 1, VIEW)
    desk.run(ours.write())
    desk.away = False
    desk.run(ours.write())
    assert desk.counts()[0] == (10, 0)
    assert "15 visits were not counted" in caplog.text
    assert "192.0.2" not in caplog.text


def test_visits_that_waited_for_hours_do_not_count(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    ours = desk.counter()
    desk.away = True
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.write())
    desk.clock.now += 2 * HOUR
    ours.note(Caller(), 1, VIEW)
    desk.away = False
    desk.run(ours.write())
    assert desk.counts()[0] == (1, 0)
    assert "1 visit was not counted" in caplog.text


def test_the_number_of_stored_visits_is_limited(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(counter, "MOST_STORED_VISITS", 5)
    monkeypatch.setattr(counter, "MOST_KNOWN_VISITS", 3)
    ours = desk.counter()
    for n in range(8):
        ours.note(Caller(f"192.0.2.{n}"), 1, VIEW)
        desk.run(ours.write())
    assert desk.counts()[0] == (5, 0)
    assert "1 visit was not counted" in caplog.text
    desk.clock.now += 2 * HOUR
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts()[0] == (6, 0)


def test_unexpected_errors_are_only_logged(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Caller):
        def address(self) -> str:
            raise RuntimeError("unthinkable")

    ours = desk.counter()
    ours.note(Broken(), 1, VIEW)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts()[0] == (1, 0)


def test_switching_off_counting_forgets_earlier_visits(
    desk: Desk,
) -> None:
    salt = desk.store.visitor_salt(NOON // DAY)
    desk.clock.now += DAY
    ours = desk.counter(counting=False)
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.stop())
    assert desk.counts()[0] == (0, 0)
    assert desk.store.visitor_salt(NOON // DAY) != salt


def test_stopping_writes_waiting_visits(desk: Desk) -> None:
    ours = desk.counter()
    ours.note(Caller(), 1, VIEW)
    desk.run(ours.stop())
    assert desk.counts()[0] == (1, 0)


def test_the_files_contain_no_visitor_data(desk: Desk) -> None:
    ours = desk.counter()
    ours.note(Caller("198.51.100.77"), 1, VIEW)
    desk.run(ours.write())
    assert desk.counts()[0] == (1, 0)
    kept = b"".join(path.read_bytes() for path in desk.path.parent.iterdir())
    assert b"198.51.100" not in kept
    assert bytes([198, 51, 100, 77]) not in kept
    assert b"Firefox" not in kept


STEPS = st.lists(
    st.one_of(
        st.integers(1, 40 * 60_000),
        st.tuples(
            st.integers(0, 2),  # the worker
            st.integers(0, 3),  # the visitor
            st.integers(1, 3),  # the map
            st.sampled_from(VisitKind),
        ),
        st.sampled_from(["write", "away", "back", "crash"]),
    ),
    max_size=60,
)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(steps=STEPS)
def test_any_visits_count_as_a_set_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    """Whatever workers and the store do, the counts are those of a simple set of visits."""
    desk = Desk(tmp_path_factory.mktemp("desk") / "catalogue.db")
    try:
        workers = [desk.counter() for _ in range(3)]
        waiting: list[set[tuple[Any, ...]]] = [set(), set(), set()]
        counted: set[tuple[Any, ...]] = set()
        for step in steps:
            if isinstance(step, int):
                desk.clock.now += step
                desk.away = False  # visits never wait so long that they expire
                _write(desk, workers, waiting, counted)
            elif isinstance(step, tuple):
                worker, visitor, file_id, kind = step
                workers[worker].note(Caller(f"192.0.2.{visitor}"), file_id, kind)
                hour = desk.clock.now // HOUR
                waiting[worker].add((visitor, file_id, kind, hour))
            elif step == "write":
                _write(desk, workers, waiting, counted)
            elif step == "crash":
                desk.away = False
                workers[0], waiting[0] = desk.counter(), set()
            else:
                desk.away = step == "away"
        desk.away = False
        _write(desk, workers, waiting, counted)
        assert desk.counts() == [
            tuple(
                sum(1 for _, one, what, _ in counted if (one, what) == (file_id, kind))
                for kind in (VIEW, DOWNLOAD)
            )
            for file_id in (1, 2, 3)
        ]
    finally:
        desk.close()


def _write(
    desk: Desk, workers: list[VisitCounter], waiting: list[set[Any]], counted: set[Any]
) -> None:
    for one, own in zip(workers, waiting, strict=True):
        desk.run(one.write())
        if not desk.away:
            counted |= own
            own.clear()
