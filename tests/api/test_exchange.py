"""A new snapshot replaces the old one while requests run, and no request fails or mixes the two."""

import asyncio
import itertools
import threading
import time
import tracemalloc
from collections.abc import Callable

import httpx
import pytest

from mapshelf.api import current_snapshot
from mapshelf.api.current_snapshot import CachedSnapshot
from mapshelf.api.http import Response
from mapshelf.model import MapDraft
from mapshelf.query import MapQuery
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.search_engine import CORRECTIONS
from tests.harness import Service, Shelf

PATHS = (
    "/maps?limit=50",
    "/maps?limit=50&order_by=alpha&offset=7",
    "/maps?query=map&limit=50",
    "/maps?query=map&order_by=views",
    "/maps?owner=ada&limit=50",
    "/users/me",
)


@pytest.mark.slow
def test_requests_go_on_while_snapshots_are_published(shelf: Shelf, live: Service) -> None:
    shelf.put(*(MapDraft(title=f"Map {n}", owner="ada") for n in range(100)))
    shelf.publish()
    live.wait_until(lambda: total(live) == 100)
    rounds = 8
    publisher = threading.Thread(target=publish_more, args=(shelf, rounds))
    publisher.start()
    answers = live.run(ask_until(live, lambda seen: not publisher.is_alive() and 108 in seen))
    publisher.join()
    assert {answer.status_code for answer in answers} == {200}
    for answer in answers:
        if "X-Total-Count" in answer.headers:
            check_whole(answer)
    totals = [int(a.headers["X-Total-Count"]) for a in answers if a.request.url.path == "/maps"]
    assert len(set(totals)) > 2, "the snapshots came too quickly to be told apart"
    assert live.titles(query="107") == ["Map 107"]


def total(service: Service) -> int:
    return int(service.maps(limit=0).headers["X-Total-Count"])


def publish_more(shelf: Shelf, rounds: int) -> None:
    for number in range(rounds):
        shelf.put(MapDraft(title=f"Map {100 + number}", owner="ada"))
        shelf.publish()
        time.sleep(0.15)


def check_whole(answer: httpx.Response) -> None:
    """Check that a page comes from a single snapshot: its length matches its total."""
    count = int(answer.headers["X-Total-Count"])
    parameters = answer.request.url.params
    room = count - int(parameters.get("offset", 0))
    assert len(answer.json()) == min(int(parameters.get("limit", 20)), room)
    assert all(found["Owner"] == "ada" for found in answer.json())


async def ask_until(service: Service, enough: Callable[[set[int]], bool]) -> list[httpx.Response]:
    """Send requests with eight clients at once until the totals seen are ``enough``."""
    answers: list[httpx.Response] = []
    deadline = time.monotonic() + 30

    async def ask(first: int) -> None:
        for path in itertools.islice(itertools.cycle(PATHS), first, None):
            answers.append(await service.client.get(path, headers=service.authorization()))
            seen = {int(a.headers.get("X-Total-Count", 0)) for a in answers[-64:]}
            if enough(seen):
                return
            assert time.monotonic() < deadline
            await asyncio.sleep(0.001)

    await asyncio.gather(*(ask(first) for first in range(8)))
    return answers


@pytest.mark.slow
def test_a_deleted_map_disappears(shelf: Shelf, live: Service) -> None:
    _, second = shelf.put(MapDraft(title="One"), MapDraft(title="Two"))
    shelf.publish()
    live.wait_until(lambda: total(live) == 2)
    shelf.store.delete_maps([second])
    shelf.publish()
    live.wait_until(lambda: total(live) == 1)
    assert live.titles() == live.titles(query="one") == ["One"]
    assert live.titles(query="two") == []


@pytest.mark.slow
def test_a_changed_map_appears_in_every_list(shelf: Shelf, live: Service) -> None:
    shelf.put(MapDraft(title="Zulu", id="one", views=1), MapDraft(title="Mike", views=5))
    shelf.publish()
    live.wait_until(lambda: live.titles(order_by="alpha") == ["Mike", "Zulu"])
    shelf.put(MapDraft(title="Alpha", id="one", views=9))
    shelf.publish()
    live.wait_until(lambda: live.titles(order_by="alpha") == ["Alpha", "Mike"])
    assert live.titles(order_by="views") == ["Alpha", "Mike"]
    assert live.titles(query="zulu") == []


@pytest.mark.slow
def test_a_damaged_snapshot_does_not_replace_the_current_one(shelf: Shelf, live: Service) -> None:
    shelf.put(MapDraft(title="One"))
    shelf.publish()
    live.wait_until(lambda: total(live) == 1)
    directory = SnapshotDirectory(shelf.settings.snapshots)
    broken = directory.path / "000000099999"
    broken.mkdir()
    (broken / "manifest.json").write_bytes(b"garbage")
    (directory.path / "current").write_text(broken.name)
    live.run(asyncio.sleep(0.3))
    assert live.titles() == ["One"]
    shelf.put(MapDraft(title="Two"))
    shelf.publish()
    live.wait_until(lambda: total(live) == 2)


def test_cached_responses_stay_within_their_memory_limit(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 1 << 20  # a sixteenth of the real limit, which would take long to fill
    monkeypatch.setattr(current_snapshot, "RESPONSES_SIZE", most)
    directory = SnapshotDirectory(shelf.settings.snapshots)
    current = CachedSnapshot(Snapshot(directory.folder(directory.current())))
    tracemalloc.start()
    try:
        for number in range(3 * most // 1024):
            link = b"<https://maps.example.org/maps?limit=1&offset=%d>" % number
            current.cache(
                ("/maps", b"limit=1&offset=%d" % number), Response(200, ((b"link", link),), b"[]")
            )
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < most


@pytest.mark.slow
def test_empty_searches_stay_within_their_memory_limit(shelf: Shelf) -> None:
    directory = SnapshotDirectory(shelf.settings.snapshots)
    snapshot = Snapshot(directory.folder(directory.current()))

    def search(first: int, last: int) -> int:
        for number in range(first, last):
            # Few words in ever new pairs: only the results of pairs must not be kept.
            text = f"{number // 50} {number % 50} {'x' * 400}"
            query = MapQuery(text=text, order="views", limit=0)
            assert snapshot.page(query, b"").total == 0
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = search(0, CORRECTIONS + 100)
        assert search(CORRECTIONS + 100, CORRECTIONS + 1100) - before < 1000 * 400 / 4
    finally:
        tracemalloc.stop()
