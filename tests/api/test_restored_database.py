"""An older copy of the database is restored, and the snapshot shows changes that this lacks.

New changes then have the revisions of lost ones. A worker that took them for known would show a
private map until the snapshot is rebuilt, which may take ten minutes.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from mapshelf.api import withdrawals
from mapshelf.errors import SnapshotMissing, StoreUnavailable
from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.site import site_routes
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store.postgres.change_feed import PostgresChangeFeed
from mapshelf.store.sqlite.change_feed import SQLiteChangeFeed
from tests.api.publishing import ADMINISTRATOR, OTHER, People
from tests.databases import saved
from tests.harness import Service, Shelf, shelf_with

pytestmark = pytest.mark.process

OF_EVERYTHING: Final = (
    "/maps",
    "/maps/{}",
    "/maps/{}/outline.md",
    "/mindmaps/{}",
    "/thumbnails/{}.png",
    "/search?query=plan",
    "/",
    "/feed.atom",
    "/readyz",
)


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(withdrawals, "LOOK_INTERVAL", 0.02)
    for feed in (SQLiteChangeFeed, PostgresChangeFeed):
        monkeypatch.setattr(feed, "last_withdrawal_age", 0.05)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_with(tmp_path, MapDraft(id="first", title="First plan")) as shelf:
        yield shelf


def started(shelf: Shelf) -> Service:
    return Service(shelf.settings, "", site_routes)


def lost_changes(shelf: Shelf) -> None:
    """Make changes that a backup from before lacks, and publish them."""
    shelf.put(*(MapDraft(id=f"lost{n}", title=f"Lost plan {n}") for n in range(5)))
    edit(shelf, "lost0", Visibility.PRIVATE)
    shelf.publish()


def edit(shelf: Shelf, public_id: str, visibility: Visibility) -> None:
    found = shelf.store.find_map(public_id)
    assert found is not None
    shelf.store.edit_map(found.file_id, MapDetails(visibility=visibility))


def status(people: People, path: str) -> int:
    return people.get(OTHER, path).status_code


def wait_for(people: People, path: str, expected: int) -> None:
    people.service.wait_until(lambda: status(people, path) == expected)


def rebuilt(shelf: Shelf) -> None:
    """Build the next snapshot with a new builder, as after a restart."""
    shelf.end_building()
    shelf.publish()


@pytest.mark.parametrize("is_running", [False, True], ids=["stopped", "running"])
@pytest.mark.parametrize("is_ahead", [False, True], ids=["behind", "ahead"])
def test_a_node_shows_nothing_that_a_restored_database_lacks(
    shelf: Shelf, is_running: bool, is_ahead: bool
) -> None:
    with started(shelf) as service:
        people = People(shelf, service)
        restore = saved(shelf.settings.data)
        lost_changes(shelf)
        wait_for(people, "/maps/lost1", 200)
        if not is_running:
            service.stop()
        restore()
        if is_ahead:  # others have written more than was lost, before this node looks
            shelf.put(*(MapDraft(id=f"other{n}", title="Other") for n in range(20)))
        edit(shelf, "first", Visibility.PRIVATE)
        if is_running:
            prove_hidden(shelf, people)
    if not is_running:
        with started(shelf) as service:
            prove_hidden(shelf, People(shelf, service))


def prove_hidden(shelf: Shelf, people: People) -> None:
    wait_for(people, "/readyz", 503)
    for path in OF_EVERYTHING:
        answer = people.get(OTHER, path.format("first"))
        assert answer.status_code in (404, 503), path
        assert "plan" not in answer.text, path
    assert people.edit(ADMINISTRATOR, "first", description="kept").status_code == 200
    rebuilt(shelf)
    wait_for(people, "/maps", 200)
    assert status(people, "/maps/first") == 404
    assert "Lost" not in people.get(OTHER, "/maps?limit=50").text
    # The next withdrawals are noticed as always, although lost ones had higher revisions.
    shelf.put(MapDraft(id="next", title="Next"))
    shelf.publish()
    people.service.wait_until(lambda: "Next" in people.get(OTHER, "/maps").text)
    edit(shelf, "next", Visibility.PRIVATE)
    wait_for(people, "/maps/next", 404)


@pytest.mark.parametrize("is_running", [False, True], ids=["restarted", "running"])
def test_no_worker_begins_with_a_snapshot_of_lost_changes(
    shelf: Shelf, is_running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node may be started again before the rebuild is done, without its database."""
    directory = SnapshotDirectory(shelf.settings.snapshots)
    restore = saved(shelf.settings.data)
    lost_changes(shelf)
    restore()
    with monkeypatch.context() as patch:
        patch.setattr(Builder, "_apply_changes", unavailable)
        if not is_running:
            shelf.end_building()
        with pytest.raises(StoreUnavailable):
            shelf.publish()
        with pytest.raises(SnapshotMissing):
            directory.current()
    shelf.publish()
    assert directory.current()


def unavailable(*_: object) -> None:
    raise StoreUnavailable("the database is away")


def test_a_snapshot_is_used_again_if_the_right_database_is_back(shelf: Shelf) -> None:
    old = saved(shelf.settings.data)
    lost_changes(shelf)
    right = saved(shelf.settings.data)
    with started(shelf) as service:
        people = People(shelf, service)
        wait_for(people, "/maps/lost1", 200)
        old()
        wait_for(people, "/readyz", 503)
        right()
        wait_for(people, "/readyz", 200)
        edit(shelf, "lost1", Visibility.PRIVATE)
        wait_for(people, "/maps/lost1", 404)


@pytest.mark.parametrize("writes", [0, 1, 30])
def test_a_snapshot_that_is_behind_is_used(
    shelf: Shelf, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    for feed in (SQLiteChangeFeed, PostgresChangeFeed):
        monkeypatch.setattr(feed, "has_diverged", noting(feed.has_diverged, asked))
    with started(shelf) as service:
        people = People(shelf, service)
        service.wait_until(lambda: bool(asked))
        for number in range(writes):
            shelf.put(MapDraft(id="more", title="More", views=number + 1))
        service.wait_until(lambda: len(asked) > bool(writes))
        compared = len(asked)
        for _ in range(20):
            service.run(asyncio.sleep(0.02))
            assert status(people, "/readyz") == status(people, "/maps") == 200
        assert len(asked) <= compared + 2, "not while nothing changes"


def noting(compare: Callable[..., bool], asked: list[int]) -> Callable[..., bool]:
    def noted(feed: object, revision: int, lineage: str) -> bool:
        asked.append(revision)
        return compare(feed, revision, lineage)

    return noted
