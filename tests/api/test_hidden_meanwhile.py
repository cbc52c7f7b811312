"""Maps that are hidden, and whose files are replaced, while a worker does not know of it yet.

Its builder may be behind for minutes, and a request may have begun before. Topics and files are in
the store, so without care readers would get those of a private map.
"""

import asyncio
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest

from mapshelf.api import thumbnails, withdrawals
from mapshelf.model import MapDetails, Visibility
from mapshelf.site import bulk_actions, site_routes
from mapshelf.store import Store
from mapshelf.store.sqlite.change_feed import SQLiteChangeFeed
from tests.api.publishing import OTHER, OWNER, People, plan
from tests.harness import PATIENCE, Service, shelf_with
from tests.store.drafts import outline, upload

pytestmark = pytest.mark.process

SECRET: Final = "Confidential"
OF_THE_MAP: Final = (
    "/maps/{}/outline.md",
    "/maps/{}/file",
    "/maps/{}/diff/{}",
    "/thumbnails/{}.svg",
    "/mindmaps/{}/plan",
    "/mindmaps/{}/plan.md",
    "/mindmaps/{}/plan/original",
    "/mindmaps/{}/plan/find?query=budget",
    "/mindmaps/{}/plan/elsewhere",
    "/mindmaps/{}/plan/compare/{}",
    "/site/maps/{}.json",
)
OF_LISTS: Final = ("/search?query=budget", "/suggest?query=bud", "/?query=budget")


@pytest.fixture
def people(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[People]:
    monkeypatch.setattr(withdrawals, "LOOK_INTERVAL", PATIENCE)
    with (
        shelf_with(tmp_path_factory.mktemp("meanwhile")) as shelf,
        Service(shelf.settings, "", site_routes) as service,
    ):
        yield People(shelf, service)


def published(people: People, text: str = "Budget") -> str:
    public_id = people.published(OWNER, plan(text))
    people.shelf.publish()
    people.service.wait_until(lambda: public_id in people.get(OTHER, "/maps").text)
    return public_id


def hide_and_replace(store: Store, public_id: str) -> None:
    """Do what the owner may do at another node, whose snapshot is newer."""
    found = store.find_map(public_id)
    assert found is not None
    store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
    replace_with(store, public_id, f"Budget {SECRET}")


def replace_with(store: Store, public_id: str, text: str) -> None:
    found = store.find_map(public_id)
    assert found is not None
    (owner,) = (one.id for one in store.users() if one.name == OWNER)
    content = zlib.compress(plan(text))
    file = upload(f"{text}.mm", content=content, outline=outline(text), images={})
    store.replace_file(found.file_id, file, owner)


def test_a_worker_that_does_not_know_it_yet_shows_nothing_new(people: People) -> None:
    public_id = published(people)
    hide_and_replace(people.shelf.store, public_id)
    for path in OF_THE_MAP:
        answer = people.get(OTHER, path.format(public_id, public_id))
        assert answer.status_code == 404, path
        assert SECRET not in answer.text
    for path in OF_LISTS:
        answer = people.get(OTHER, path)
        assert answer.status_code == 200
        assert SECRET not in answer.text, path
    assert public_id in people.get(OTHER, OF_LISTS[0]).text, "the snapshot is as old as ever"
    assert people.get(OWNER, f"/thumbnails/{public_id}.svg").status_code == 200
    assert people.get(OTHER, f"/thumbnails/{public_id}.svg").status_code == 404, "not kept"
    own = people.get(OWNER, f"/maps/{public_id}/outline.md")
    assert SECRET in own.text
    assert own.headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("path", ["/maps/{}/outline.md", "/maps/{}/drawing.svg", *OF_THE_MAP[3:5]])
def test_what_was_read_while_it_was_hidden_is_not_shown_when_it_is_open_again(
    people: People, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    public_id, store = published(people), people.shelf.store
    kind: Any = type(store)
    read, made = kind.outline, list[None]()

    def outline_of_another_time(maps: Store, file_id: int) -> Any:
        if made:
            return read(maps, file_id)
        made.append(None)
        hide_and_replace(store, public_id)
        secret = read(maps, file_id)
        replace_with(store, public_id, "Harmless")
        store.edit_map(file_id, MapDetails(visibility=Visibility.PUBLISHED))
        return secret

    monkeypatch.setattr(kind, "outline", outline_of_another_time)
    answer = people.get(OTHER, path.format(public_id))
    assert made
    assert answer.status_code == 200
    assert SECRET not in answer.text


def test_it_is_not_compared_with_others(people: People) -> None:
    """Nor is the comparison begun again and again."""
    first, second = published(people), published(people, "Another budget")
    hide_and_replace(people.shelf.store, second)
    for path in ("/maps/{}/diff/{}", "/mindmaps/{}/plan/compare/{}"):
        for sides in ((first, second), (second, first)):
            answer = people.get(OTHER, path.format(*sides))
            assert answer.status_code == 404, path
            assert SECRET not in answer.text


def test_lists_of_own_maps_show_it_once(people: People) -> None:
    public_id = published(people)
    hide_and_replace(people.shelf.store, public_id)
    assert public_id in people.get(OTHER, OF_LISTS[0]).text, "the snapshot is as old as ever"
    for parameters in ("", "?order_by=date", "?order_by=views", "?query=budget"):
        answer = people.get(OWNER, f"/users/me/maps{parameters}")
        assert [one["ID"] for one in answer.json()] == [public_id], parameters
        assert answer.headers["x-total-count"] == "1", parameters


def test_a_write_that_was_not_reported_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command may be killed after it has written, before others are notified of that."""
    monkeypatch.setattr(withdrawals, "LOOK_INTERVAL", 0.02)
    monkeypatch.setattr(SQLiteChangeFeed, "last_withdrawal_age", 0.02)
    with (
        shelf_with(tmp_path) as shelf,
        Service(shelf.settings, "", site_routes) as service,
    ):
        people = People(shelf, service)
        public_id = published(people)
        service.run(asyncio.sleep(0.3))  # until the worker waits for notifications
        if not shelf.settings.database.startswith("sqlite:"):
            pytest.skip("only SQLite reports writes")
        database = shelf.settings.database.removeprefix("sqlite://")
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE sequence SET revision = revision + 1")
            connection.execute(
                "UPDATE maps SET visibility = 'private',"
                " revision = (SELECT revision FROM sequence) WHERE id = ?",
                (public_id,),
            )
        service.wait_until(lambda: people.get(OTHER, f"/maps/{public_id}").status_code == 404)


def test_pictures_of_collections_do_not_show_it(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = published(people)
    body = {"title": "Plans", "maps": [public_id], "visibility": "published"}
    collection = people.send(OWNER, "POST", "/collections", json=body).json()["id"]
    drawn = thumbnails.ThumbnailMaker.picture

    def meanwhile(maker: thumbnails.ThumbnailMaker, *given: Any, **options: Any) -> Any:
        hide_and_replace(people.shelf.store, public_id)
        return drawn(maker, *given, **options)

    path = f"/collections/{collection}/picture.png"
    with monkeypatch.context() as patch:
        patch.setattr(thumbnails.ThumbnailMaker, "picture", meanwhile)
        assert people.get(OTHER, path).status_code == 503
    assert people.get(OTHER, path).status_code == 200, "without the map"


def test_topics_of_maps_that_are_not_hidden_are_shown(people: People) -> None:
    public_id = published(people)
    for path in OF_THE_MAP:
        answer = people.get(OTHER, path.format(public_id, public_id))
        assert answer.status_code == 200, path
    for path in OF_LISTS:
        assert "Budget" in people.get(OTHER, path).text


def test_zips_that_are_being_made_leave_such_maps_out(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id, zipped = published(people), bulk_actions.zipped

    def meanwhile(store: Store, *given: Any) -> Iterator[bytes]:
        hide_and_replace(store, public_id)
        return zipped(store, *given)

    monkeypatch.setattr(bulk_actions, "zipped", meanwhile)
    for name, files in (("", ["left-out.txt"]), (OWNER, ["Plan.mm"])):
        answer = people.get(name, f"/download?map={public_id}")
        with ZipFile(BytesIO(answer.content)) as packed:
            assert packed.namelist() == files
