"""A served link that leads to another folder than before: deployments switch such links."""

import logging
import os
import plistlib
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.importer.attribution import Attribution
from mapshelf.importer.folder_sync import FolderSync, SyncOptions
from mapshelf.model import Map, MapDetails, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.transfer import transfer_catalogue
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process

LONG_AGO = 1_600_000_000

Serve = Callable[..., FolderSync]


@pytest.fixture
def serve(store: Store, reader: SandboxedReader) -> Serve:
    """Return a function that starts to synchronize folders, and does so twice."""

    def start(*folders: Path, owner: str | None = None) -> FolderSync:
        folder_sync = FolderSync(
            store, reader, list(folders), SyncOptions(Attribution(owner, None))
        )
        folder_sync.sync()
        folder_sync.sync()
        return folder_sync

    return start


def old_map(path: Path, title: str, seconds: int = 0) -> Path:
    """Write a map that has not changed for a long time."""
    path.parent.mkdir(exist_ok=True, parents=True)
    write_map(path, title)
    os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))
    return path


def point(link: Path, folder: Path) -> Path:
    """Switch a link to a folder, as programs do it that deploy."""
    new = link.with_name("new link")
    new.symlink_to(folder)
    new.rename(link)
    return link


def make_private(store: Store) -> list[Map]:
    return [
        store.edit_map(one.file_id, MapDetails(visibility=Visibility.PRIVATE))
        for one in store.maps(0, 100)
    ]


def known(store: Store, folder: Path) -> list[str]:
    """Return the names of the files that are known in a folder."""
    return [one.name for one in store.sources_below(os.fsencode(folder), b"", 100)]


@pytest.mark.parametrize("owner", [None, "ann"])
@pytest.mark.parametrize("former", ["stays", "stays the same", "goes", "goes first"])
def test_private_maps_stay_so_with_their_ids_when_a_served_link_is_switched(
    store: Store, tmp_path: Path, serve: Serve, former: str, owner: str | None
) -> None:
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    title = "Secret" if former == "stays the same" else "Edited"
    for name in ("a.mm", "below/b.mm"):
        old_map(v1 / name, "Secret")
    old_map(v1 / "c.mm", "Same size")
    link = point(tmp_path / "current", v1)
    folder_sync = serve(link, owner=owner)
    before = make_private(store)
    shutil.copytree(v1, v2)
    for name in ("a.mm", "below/b.mm"):
        old_map(v2 / name, title, 9)
    old_map(v2 / "c.mm", "Size same")  # time and size are those of another file
    old_map(v2 / "new.mm", "New")
    if former == "goes first":
        old_map(v1 / "keep.mm", "Keep")
        for name in ("a.mm", "below/b.mm", "c.mm"):
            (v1 / name).unlink()
        folder_sync.sync()
        assert [one.title for one in store.maps(0, 9)] == ["Keep"]
    point(link, v2)
    if former == "goes":
        shutil.rmtree(v1)
    folder_sync.sync()
    if former != "goes first":
        assert store.maps(0, 9) == before
    for _ in range(2):
        serve(link, owner=owner)
        found = {one.id: one for one in store.maps(0, 9)}
        private = [found.pop(one.id) for one in before]
        assert [one.title for one in private] == [title, title, "Size same"]
        assert {one.visibility for one in private} == {Visibility.PRIVATE}
        assert [one.date_added for one in private] == [one.date_added for one in before]
        assert "New" in [one.title for one in found.values()]
        assert {one.visibility for one in found.values()} == {Visibility.PUBLISHED}
        assert known(store, v2) == ["a.mm", "below/b.mm", "c.mm", "new.mm"]
    # And back again.
    old_map(v1 / "a.mm", "Back", 20)
    point(link, v1)
    serve(link, owner=owner)
    (back,) = [one for one in store.maps(0, 9) if one.title == "Back"]
    assert (back.id, back.visibility) == (before[0].id, Visibility.PRIVATE)


def test_a_link_may_be_switched_while_the_catalogue_is_moved(
    store: Store, reader: SandboxedReader, tmp_path: Path, serve: Serve
) -> None:
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    for name in ("a.mm", "b.mm"):
        old_map(v1 / name, "Secret")
        old_map(v2 / name, "Edited", 9)
    link = point(tmp_path / "current", v1)
    serve(link)
    before = make_private(store)
    with closing(open_store(sqlite_url(tmp_path / "moved"))) as moved:
        transfer_catalogue(store, moved, lambda _: None)
        point(link, v2)
        FolderSync(moved, reader, [link]).sync()
        found = moved.maps(0, 9)
    assert [(one.id, one.title, one.visibility) for one in found] == [
        (one.id, "Edited", Visibility.PRIVATE) for one in before
    ]


def test_a_switch_is_noticed_while_the_service_runs(
    store: Store, tmp_path: Path, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    old_map(v1 / "a.mm", "A")
    old_map(v2 / "a.mm", "B")
    link = point(tmp_path / "current", v1)
    folder_sync = serve(link)
    before = store.maps(0, 9)
    point(link, v2)
    shutil.rmtree(v1)
    v1.mkdir()
    for _ in range(2):
        folder_sync.sync()
    assert store.maps(0, 9) == before
    said = f"{link} leads to {v2} now, not to {v1}; its maps stay as they are until a restart"
    assert caplog.text.count(said) == 1
    caplog.set_level(logging.INFO)
    serve(link)
    assert f"1 map is in {v2} now" in caplog.text
    assert [(one.id, one.title) for one in store.maps(0, 9)] == [(before[0].id, "B")]


def test_a_link_that_leads_nowhere_for_a_while_is_followed_once_it_does_not(
    store: Store, tmp_path: Path, serve: Serve
) -> None:
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    old_map(v1 / "a.mm", "A")
    link = point(tmp_path / "current", v1)
    serve(link)
    before = make_private(store)
    point(link, v2)
    folder_sync = serve(link)
    assert store.maps(0, 9) == before
    old_map(v2 / "a.mm", "B")
    folder_sync.sync()
    (after,) = store.maps(0, 9)
    assert (after.id, after.title, after.visibility) == (before[0].id, "B", Visibility.PRIVATE)


def test_a_former_folder_that_is_served_as_well_keeps_its_maps(
    store: Store, tmp_path: Path, serve: Serve
) -> None:
    """What the other folder has in their places is not published either."""
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    for name in ("a.mm", "b.mm"):
        old_map(v1 / name, name)
    link = point(tmp_path / "current", v1)
    serve(link, v1)
    assert len(store.maps(0, 9)) == 2
    make_private(store)
    old_map(v1 / "public.mm", "Public")
    folder_sync = serve(link, v1)
    before = store.maps(0, 9)
    for name in ("a.mm", "public.mm"):
        old_map(v2 / name, f"Edited {name}")
    point(link, v2)
    old_map(v1 / "later.mm", "Later")
    folder_sync.sync()
    assert "Later" in [one.title for one in store.maps(0, 9)], "v1 is served as before"
    (v1 / "later.mm").unlink()
    for _ in range(2):
        serve(link, v1)
        found = store.maps(0, 9)
        assert found[:3] == before
        assert {(one.title, one.visibility) for one in found[3:]} == {
            ("Edited a.mm", Visibility.PRIVATE),
            ("Edited public.mm", Visibility.PUBLISHED),
        }


def test_two_served_links_may_swap_their_folders(
    store: Store, tmp_path: Path, serve: Serve
) -> None:
    blue, green = tmp_path / "blue", tmp_path / "green"
    old_map(blue / "a.mm", "Blue")
    old_map(green / "a.mm", "Green")
    links = [point(tmp_path / "one", blue), point(tmp_path / "two", green)]
    folder_sync = serve(*links)
    secret = store.maps(0, 9)[0]
    store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
    before = store.maps(0, 9)
    point(links[0], green)
    point(links[1], blue)
    folder_sync.sync()
    assert store.maps(0, 9) == before
    old_map(blue / "a.mm", "Blue, edited", 9)
    serve(*links)
    found = {one.id: one for one in store.maps(0, 9)}
    assert found.keys() == {one.id for one in before}
    assert (found[secret.id].title, found[secret.id].visibility) == (
        "Blue, edited",
        Visibility.PRIVATE,
    )


@pytest.mark.parametrize("is_deleted", [False, True], ids=["kept", "deleted"])
def test_files_that_a_folder_lacks_come_back_with_another_switch(
    store: Store, tmp_path: Path, serve: Serve, *, is_deleted: bool
) -> None:
    v1, v2, v3 = (tmp_path / name for name in ("v1", "v2", "v3"))
    for name in ("a.mm", "b.mm"):
        old_map(v1 / name, name)
    link = point(tmp_path / "current", v1)
    serve(link)
    before = {one.title: one for one in store.maps(0, 9)}
    for one in before.values():
        store.edit_map(one.file_id, MapDetails(visibility=Visibility.PRIVATE))
    old_map(v2 / "a.mm", "Edited", 9)
    point(link, v2)
    serve(link)
    assert [one.title for one in store.maps(0, 9)] == ["Edited"]
    if is_deleted:
        shutil.rmtree(v1)
    old_map(v3 / "b.mm", "Back", 9)
    point(link, v3)
    serve(link)
    (back,) = store.maps(0, 9)
    assert (back.id, back.title, back.visibility) == (before["b.mm"].id, "Back", Visibility.PRIVATE)


@pytest.mark.parametrize("also", ["former", "only"])
@pytest.mark.parametrize("folder_first", [True, False])
def test_a_document_in_another_form_behind_a_switched_link_is_not_published(
    store: Store, tmp_path: Path, serve: Serve, *, folder_first: bool, also: str
) -> None:
    v1, v2 = tmp_path / "v1", tmp_path / "v2"
    for number, place in enumerate((v1, v2)):
        document = place / "Trip.mindnode"
        main_file = document / "contents.xml" if folder_first == (place == v1) else document
        main_file.parent.mkdir(parents=True, exist_ok=True)
        tree = {"mindMap": {"mainNodes": [{"title": f"Secret {number}"}]}}
        main_file.write_bytes(plistlib.dumps(tree))
        os.utime(main_file, (LONG_AGO, LONG_AGO))
    link = point(tmp_path / "current", v1)
    others = [v1] if also == "former" else []
    serve(link, *others)
    (private,) = make_private(store)
    point(link, v2)
    serve(link, *others)
    found = {one.title: one for one in store.maps(0, 9)}
    assert {one.visibility for one in found.values()} == {Visibility.PRIVATE}
    assert found["Secret 0" if others else "Secret 1"].id == private.id
    assert len(found) == 1 + len(others)
    (name,) = known(store, v2)
    assert name == ("Trip.mindnode" if folder_first else "Trip.mindnode/contents.xml")
