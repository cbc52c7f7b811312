"""The catalogue follows its folders, whatever happens to their files or the service."""

import logging
import os
import plistlib
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from mapshelf.errors import AlreadyExists, StoreUnavailable
from mapshelf.importer import map_files
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.folder_sync import FolderSync, SyncOptions
from mapshelf.importer.gone_files import GoneFiles
from mapshelf.model import (
    DecisionKind,
    MapDetails,
    MapDraft,
    MapsOfClosedAccount,
    Outcome,
    Visibility,
)
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People
from tests.cli.process import CORPUS, Mapshelf, serving, wait_for
from tests.cli.test_commands import write_map
from tests.harness import Shelf, serve

pytestmark = pytest.mark.process

LONG_AGO = 1_600_000_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(sqlite_url(tmp_path / "data"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "maps"
    folder.mkdir()
    return folder


def old_map(path: Path, title: str) -> Path:
    """Write a map that has not changed for a long time."""
    write_map(path, title)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def contents(store: Store) -> set[tuple[str, str, str]]:
    """Return every map in the catalogue without its ids."""
    return {(found.title, found.category, str(found.size)) for found in store.maps(0, 10_000)}


def test_owner_and_category_are_given_without_reading_files_again(
    store: Store, folder: Path
) -> None:
    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [folder]).sync()
        assert {found.owner for found in store.maps(0, 10)} == {"system"}
        old_map(folder / "b.mm", "B")
        options = SyncOptions(Attribution("ann", "Science"))
        FolderSync(store, reader, [folder], options).sync()
    found = [(one.title, one.owner, one.category) for one in store.maps(0, 10)]
    assert found == [("A", "ann", "Science"), ("B", "ann", "Science")]
    revision = store.revision()
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [folder], options).sync()
    assert store.revision() == revision


@pytest.mark.parametrize("fails", [False, True], ids=["another server", "no server"])
def test_files_are_imported_again_if_a_takeover_loses_them_at_once(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    find = GoneFiles.find

    def losing(*arguments: Any) -> Any:
        store.delete_maps([one.id for one in store.maps(0, 10)])
        monkeypatch.undo()
        monkeypatch.setattr(type(store), "takeovers", lambda _: 1)
        if fails:
            monkeypatch.setattr(type(store), "lineage", unavailable)
        return find(*arguments)

    def unavailable(*_: object) -> str:
        raise StoreUnavailable("no server has taken over yet")

    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        monkeypatch.setattr(GoneFiles, "find", losing)
        with pytest.raises(StoreUnavailable) if fails else nullcontext():
            folder_sync.sync()
        assert not store.maps(0, 10)
        monkeypatch.undo()
        folder_sync.sync()
        folder_sync.sync()
        assert [one.title for one in store.maps(0, 10)] == ["A"]


@pytest.mark.parametrize("meanwhile", [False, True], ids=["between two looks", "during a look"])
def test_files_are_imported_again_if_the_catalogue_lacks_earlier_changes(
    tmp_path: Path,
    store: Store,
    folder: Path,
    meanwhile: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server of PostgreSQL that takes over may lack the last changes."""
    find = GoneFiles.find

    def delete() -> None:
        store.delete_maps([one.id for one in store.maps(0, 10)])

    def lose() -> None:
        delete()
        with closing(apsw.Connection(str(tmp_path / "data" / "catalogue.db"))) as connection:
            connection.execute("DELETE FROM marks")

    def losing(*arguments: Any) -> Any:
        monkeypatch.undo()
        lose()
        return find(*arguments)

    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        if meanwhile:
            os.utime(folder / "a.mm", (LONG_AGO + 9, LONG_AGO + 9))
            monkeypatch.setattr(GoneFiles, "find", losing)
        else:
            delete()
            folder_sync.sync()
            assert not store.maps(0, 10), "somebody has deleted it"
            lose()
        folder_sync.sync()
        folder_sync.sync()
        assert [one.title for one in store.maps(0, 10)] == ["A"]


def test_a_folder_of_an_owner_who_deleted_the_account_is_followed_for_system(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old_map(folder / "a.mm", "A")
    ann, options = store.add_user("ann"), SyncOptions(Attribution("ann", None, Visibility.PRIVATE))
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder], options)
        folder_sync.sync()
        store.close_account(ann.id, MapsOfClosedAccount.REMOVE, None)
        while store.finish_closing():
            pass
        old_map(folder / "b.mm", "B")
        folder_sync.sync()
        with pytest.raises(AlreadyExists):
            store.register(None, "ann", "encoded", 5)
        found = [(one.title, one.owner, one.visibility) for one in store.maps(0, 10)]
        assert found == [(name, "system", Visibility.PRIVATE) for name in "AB"]
        revision = store.revision()
        caplog.clear()
        FolderSync(store, reader, [folder], options).sync()
        assert store.revision() == revision
        warned = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
        assert len(warned) == 1
        assert warned[0].endswith("run: mapshelf user add ann")
        store.add_user("ann", even_if_reserved=True)
        FolderSync(store, reader, [folder], options).sync()
    assert {one.owner for one in store.maps(0, 10)} == {"ann"}


def test_maps_that_arrive_later_get_the_date_of_arrival(store: Store, folder: Path) -> None:
    """Only the first import of a folder uses the dates in the files, or of the files."""
    opml = '<opml version="2.0"><head><dateCreated>{}</dateCreated></head><body>{}</body></opml>'
    outline = '<outline text="{}" category="/Science/Bio, tea"/>'
    dated = folder / "a" / "dated.opml"
    dated.parent.mkdir()
    dated.write_text(opml.format("2012-05-06T07:08:09Z", outline.format("Dated")))
    os.utime(dated, (LONG_AGO, LONG_AGO))
    old_map(folder / "undated.mm", "Undated")
    began = time.time_ns() // 1_000_000
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [folder]).sync()
        assert added(store) == {"Dated": 1_336_288_089_000, "Undated": LONG_AGO * 1000}
        old_map(folder / "a" / "later.mm", "Later")
        dated.write_text(dated.read_text() + " ")
        os.utime(dated, (LONG_AGO + 9, LONG_AGO + 9))
        FolderSync(store, reader, [folder]).sync()
    found = added(store)
    assert began <= found.pop("Later") <= time.time_ns() // 1_000_000
    assert found == {"Dated": 1_336_288_089_000, "Undated": LONG_AGO * 1000}
    (tagged,) = [one for one in store.maps(0, 10) if one.title == "Dated"]
    assert tagged.tags == ("/Science/Bio", "tea")
    origin = store.origin(tagged.file_id)
    assert origin == ("a/dated.opml", (LONG_AGO + 9) * 1000)


def added(store: Store) -> dict[str, int]:
    return {found.title: found.date_added for found in store.maps(0, 10)}


def test_each_refused_file_is_logged_once_over_all_starts(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "mapshelf")

    def said() -> list[str]:
        lines = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return [line for line in lines if line.startswith("refused") or "maps in" in line]

    broken = folder / "broken.mm"
    broken.write_text("nothing")
    os.utime(broken, (LONG_AGO, LONG_AGO))
    old_map(folder / "a.mm", "A")
    options = SyncOptions(page="https://maps.example.org/account/imports")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder], options)
        folder_sync.sync()
        refused, summary = said()
        assert refused.startswith(f"refused {broken}: not a mind map")
        assert summary == (
            "maps in the folders: 1; files refused: 1; see https://maps.example.org/account/imports"
        )
        folder_sync.sync()
        assert said() == []
        FolderSync(store, reader, [folder], options).sync()
        assert said() == ["maps in the folders: 1; files refused: 1, all known"]
        broken.unlink()
        folder_sync.sync()
    assert said() == []
    assert store.refusals_below(str(folder), "", 10) == []


def test_files_deleted_from_the_folder_leave_the_catalogue(store: Store, folder: Path) -> None:
    old_map(folder / "a.mm", "A")
    old_map(folder / "below" / "b.mm", "B")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        assert {found.title for found in store.maps(0, 10)} == {"A", "B"}
        shutil.rmtree(folder / "below")
        folder_sync.sync()
        assert {found.title for found in store.maps(0, 10)} == {"A"}
        (folder / "a.mm").unlink()
        folder_sync.sync()
        assert not store.maps(0, 10)


def test_a_document_that_is_a_folder_is_followed(store: Store, folder: Path) -> None:
    """As MindNode on a Mac writes it: the path of the file inside it identifies the map."""
    main = folder / "Education" / "Trip.mindnode" / "contents.xml"

    def write(title: str) -> None:
        main.parent.mkdir(parents=True, exist_ok=True)
        tree = {"mindMap": {"mainNodes": [{"title": title}]}}
        main.write_bytes(plistlib.dumps(tree, fmt=plistlib.FMT_XML))
        os.utime(main, (LONG_AGO, LONG_AGO + len(title)))

    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        write("Rome")
        folder_sync.sync()
        (before,) = store.maps(0, 10)
        assert (before.title, before.category, before.software) == ("Rome", "Education", "MindNode")
        write("Rome and Naples")
        folder_sync.sync()
        main.parent.rename(folder / "Education" / "Italy.mindnode")
        folder_sync.sync()
        (after,) = store.maps(0, 10)
        assert (after.title, after.id) == ("Rome and Naples", before.id)
        shutil.rmtree(folder / "Education" / "Italy.mindnode")
        folder_sync.sync()
        assert not store.maps(0, 10)


def test_maps_of_other_folders_are_left_alone(store: Store, folder: Path, tmp_path: Path) -> None:
    beside = old_map(tmp_path / "maps beside" / "c.mm", "C")
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [beside.parent]).sync()
        beside.unlink()
        FolderSync(store, reader, [folder]).sync()
    assert {found.title for found in store.maps(0, 10)} == {"C"}


def test_a_folder_that_is_away_removes_nothing(store: Store, folder: Path) -> None:
    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        folder.rename(folder.with_name("away"))
        folder_sync.sync()
        assert {found.title for found in store.maps(0, 10)} == {"A"}


def test_a_disk_that_is_away_when_following_begins_removes_nothing(
    store: Store, folder: Path
) -> None:
    path = old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [folder]).sync()
        path.unlink()
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        assert {found.title for found in store.maps(0, 10)} == {"A"}
        old_map(folder / "b.mm", "B")
        folder_sync.sync()
    assert {found.title for found in store.maps(0, 10)} == {"B"}


@contextmanager
def mounted(disk: Path) -> Iterator[None]:
    """Mount an empty disk on a folder."""
    if subprocess.run(["mount", "-t", "tmpfs", "none", disk], check=False).returncode:
        pytest.skip("this machine does not allow mounting a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")
def test_a_disk_that_goes_away_removes_nothing(store: Store, folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        with mounted(disk):
            old_map(disk / "a.mm", "A")
            old_map(folder / "b.mm", "B")
            folder_sync.sync()
        folder_sync.sync()
        assert {found.title for found in store.maps(0, 10)} == {"A", "B"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")
def test_a_disk_is_reported_each_time_it_goes_away(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SandboxedReader(workers=1) as reader:
        with mounted(folder):
            old_map(folder / "a.mm", "A")
            FolderSync(store, reader, [folder]).sync()
        folder_sync = FolderSync(store, reader, [folder])
        for times in (1, 2, 3):
            for _ in range(2):
                folder_sync.sync()
            assert caplog.text.count("a disk may be unmounted") == times
            with mounted(folder):
                old_map(folder / "a.mm", "A")
                folder_sync.sync()
    assert {found.title for found in store.maps(0, 10)} == {"A"}


def test_a_folder_that_may_not_be_read_is_reported_once(
    store: Store,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Root may read every folder, so here the system only says that this one may not be read."""
    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        for times in (1, 2):
            monkeypatch.setattr(os, "access", lambda *_: False)
            for _ in range(2):
                folder_sync.sync()
                assert [one.path for one in store.refusals_below(str(folder), "", 9)] == [
                    str(folder)
                ]
                assert len(store.maps(0, 9)) == 1
            assert caplog.text.count(f"refused {folder}: this folder cannot be read") == times
            monkeypatch.undo()
            folder_sync.sync()
            assert store.refusals_below(str(folder), "", 9) == []
        shutil.rmtree(folder)
        folder_sync.sync()
        assert store.refusals_below(str(folder), "", 9) == []


def test_a_folder_may_be_spelled_in_any_way(store: Store, folder: Path) -> None:
    path = old_map(folder / "a.mm", "A")
    old_map(folder / "b.mm", "B")
    link = folder.with_name("link")
    link.symlink_to(folder)
    with SandboxedReader(workers=1) as reader:
        for spelling in (folder, folder / ".." / folder.name, link):
            FolderSync(store, reader, [spelling]).sync()
        assert len(store.maps(0, 10)) == 2
        path.unlink()
        FolderSync(store, reader, [folder / ".." / folder.name]).sync()
    assert {found.title for found in store.maps(0, 10)} == {"B"}


def test_a_folder_renamed_while_it_is_imported_keeps_its_maps(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_map(folder / "a" / "1.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (before,) = store.maps(0, 10)
        old_map(folder / "2.mm", "B")
        put = store.put_maps

        def rename_meanwhile(drafts: Sequence[MapDraft]) -> list[Outcome]:
            if (folder / "a").exists():
                (folder / "a").rename(folder / "b")
            return put(drafts)

        monkeypatch.setattr(store, "put_maps", rename_meanwhile)
        folder_sync.sync()
        folder_sync.sync()
    assert before.id in {found.id for found in store.maps(0, 10)}
    assert len(store.maps(0, 10)) == 2


@pytest.mark.parametrize("year", [1500, 2300])
def test_a_file_with_an_odd_time_is_taken_like_any_other(
    store: Store, folder: Path, year: int
) -> None:
    path = old_map(folder / "a.mm", "A")
    seconds = (year - 1970) * 365 * 86_400
    os.utime(path, (seconds, seconds))
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        folder_sync.sync()
    assert {found.title for found in store.maps(0, 10)} == {"A"}


def test_a_renamed_file_keeps_its_map(store: Store, folder: Path) -> None:
    path = old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (before,) = store.maps(0, 10)
        (folder / "Science").mkdir()
        path.rename(folder / "Science" / "b.mm")
        folder_sync.sync()
    (after,) = store.maps(0, 10)
    assert (after.id, after.category) == (before.id, "Science")


def test_an_interrupted_rename_is_completed(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The importer may die after a map has the new path, and before it is written again."""
    path = old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (before,) = store.maps(0, 10)
        (folder / "Science").mkdir()
        renamed = path.rename(folder / "Science" / "b.mm")
        os.utime(renamed, (1_500_000_000, 1_500_000_000))
        with monkeypatch.context() as patch:
            patch.setattr(store, "put_maps", dying)
            with pytest.raises(KeyboardInterrupt):
                FolderSync(store, reader, [folder]).sync()
        FolderSync(store, reader, [folder]).sync()
    (after,) = store.maps(0, 10)
    assert (after.id, after.category) == (before.id, "Science")
    assert after.date_added == before.date_added


def dying(drafts: Sequence[MapDraft]) -> list[Outcome]:
    raise KeyboardInterrupt


def test_a_map_comes_back_with_its_file_as_people_left_it(store: Store, folder: Path) -> None:
    path = old_map(folder / "below" / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        details = MapDetails(description="mine", visibility=Visibility.PRIVATE)
        before = store.edit_map(found.file_id, details)
        away = path.rename(folder.with_name("away.mm"))
        folder_sync.sync()
        assert store.maps(0, 10) == []
        revision = store.revision()
        folder_sync.sync()
        assert store.revision() == revision
        away.rename(path)
        folder_sync.sync()
        assert store.maps(0, 10) == [before]
        # Its whole folder is replaced by an empty one, and comes back.
        everything = folder.rename(folder.with_name("everything"))
        folder.mkdir()
        folder_sync.sync()
        assert store.maps(0, 10) == []
        folder.rmdir()
        everything.rename(folder)
        FolderSync(store, reader, [folder]).sync()
        assert store.maps(0, 10) == [before]


def test_a_map_comes_back_with_another_name_or_content(store: Store, folder: Path) -> None:
    paths = [old_map(folder / name / "a.mm", "A") for name in ("one", "two")]
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        one, two = store.maps(0, 10)
        away = [path.rename(folder.with_name(path.parent.name)) for path in paths]
        folder_sync.sync()
        (folder / "three").mkdir()
        away[1].rename(folder / "three" / "a.mm")
        folder_sync.sync()
        assert [found.id for found in store.maps(0, 10)] == [one.id]
        old_map(paths[1], "Another")
        folder_sync.sync()
    assert [(found.id, found.title) for found in store.maps(0, 10)] == [
        (one.id, "A"),
        (two.id, "Another"),
    ]


def test_a_file_renamed_to_the_name_of_a_missing_one_keeps_its_map(
    store: Store, folder: Path
) -> None:
    plan, newer = (old_map(folder / f"{name}.mm", name) for name in ("plan", "newer"))
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        maps = {found.title: found for found in store.maps(0, 10)}
        details = MapDetails(visibility=Visibility.PRIVATE)
        private = store.edit_map(maps["newer"].file_id, details)
        away = plan.rename(folder.with_name("away.mm"))
        folder_sync.sync()
        newer.rename(plan)
        folder_sync.sync()
        assert store.maps(0, 10) == [private]
        away.rename(newer)
        folder_sync.sync()
    assert set(store.maps(0, 10)) == {private, maps["plan"]}


def test_a_missing_map_does_not_come_back_in_another_folder(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "maps2"
    path = old_map(folder / "a.mm", "A")
    other.mkdir()
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder, other])
        folder_sync.sync()
        (before,) = store.maps(0, 10)
        away = path.rename(tmp_path / "away.mm")
        folder_sync.sync()
        shutil.copy2(away, other / "a.mm")
        folder_sync.sync()
        (copy,) = store.maps(0, 10)
        assert copy.id != before.id
        away.rename(folder / "b.mm")
        folder_sync.sync()
    assert {found.id for found in store.maps(0, 10)} == {before.id, copy.id}


def test_a_missing_file_does_not_make_its_map_public(
    shelf: Shelf, folder: Path, tmp_path: Path
) -> None:
    paths = [old_map(folder / f"{name}.mm", name) for name in ("private", "hidden", "removed")]
    with SandboxedReader(workers=1) as reader, serve(shelf) as service:
        people = People(shelf, service)
        ids = {user.name: user.id for user in shelf.store.users()}
        options = SyncOptions(Attribution(OWNER))
        folder_sync = FolderSync(shelf.store, reader, [folder], options)
        folder_sync.sync()
        maps = {found.title: found for found in shelf.store.maps(0, 10)}
        private, hidden, removed = (f"/maps/{maps[path.stem].id}" for path in paths)
        assert people.edit(OWNER, maps["private"].id, visibility="private").status_code == 200
        shelf.store.decide(maps["hidden"].file_id, DecisionKind.HIDE, ids[ADMINISTRATOR])
        assert people.send(OWNER, "DELETE", removed).status_code == 204
        for path in paths:
            path.rename(tmp_path / path.name)
        folder_sync.sync()
        for name in (OWNER, OTHER, ADMINISTRATOR):
            assert people.get(name, private).status_code == 404
            assert people.send(name, "POST", f"{removed}/restore").status_code == 404
            assert people.send(name, "POST", f"{private}/restore").status_code == 404
        for path in paths:
            (tmp_path / path.name).rename(path)
        folder_sync.sync()
        shelf.publish()
        assert people.get(OTHER, "/maps").json() == []
        # Workers remember for a second that there was no such map.
        service.wait_until(lambda: people.get(OWNER, private).status_code == 200)
        for address in (private, hidden, removed):
            assert people.get(OTHER, address).status_code == 404
        assert people.get(OWNER, hidden).json()["Title"] == "hidden"
        assert people.edit(OWNER, maps["hidden"].id, visibility="published").status_code == 409
        assert people.send(OWNER, "POST", f"{removed}/restore").status_code == 200
        assert people.get(OTHER, removed).status_code == 200


def test_a_folder_behind_a_link_that_was_left_in_its_place_keeps_its_maps(
    store: Store, folder: Path
) -> None:
    old_map(folder / "a" / "1.mm", "A")
    old_map(folder / "2.mm", "B")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        before = [
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
            for found in store.maps(0, 10)
        ]
        (folder / "a").rename(folder / "b")
        (folder / "a").symlink_to("b")
        folder_sync.sync()
        assert store.maps(0, 10) == before
        (folder / "2.mm").rename(folder / "3.mm")
        (folder / "2.mm").symlink_to("3.mm")
        folder_sync.sync()
        assert store.maps(0, 10) == before
        assert len(store.sources_below(os.fsencode(folder), b"", 10)) == 2


@pytest.mark.parametrize("moved", ["a", "a/1.mm"])
def test_what_is_moved_away_with_a_link_left_in_its_place_keeps_its_maps(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture, moved: str
) -> None:
    path = old_map(folder / "a" / "1.mm", "A")
    old_map(folder / "2.mm", "B")
    place = folder / moved
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        before = store.maps(0, 10)
        away = place.rename(folder.parent / "away")
        place.symlink_to(away)
        for _ in range(2):
            folder_sync.sync()
        assert store.maps(0, 10) == before
        assert caplog.text.count(f"{place} is a symbolic link now") == 1
        FolderSync(store, reader, [folder]).sync()
        assert store.maps(0, 10) == before
        # With the file, which nobody reads there, its map goes.
        (away / "1.mm" if away.is_dir() else away).unlink()
        folder_sync.sync()
        assert [one.title for one in store.maps(0, 10)] == ["B"]
        assert not path.exists()


def test_a_served_folder_that_is_replaced_by_a_link_keeps_its_maps(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = old_map(folder / "a.mm", "A")
    changed = old_map(folder / "below" / "c.mm", "C")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        before = [
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
            for found in store.maps(0, 10)
        ]
        away = folder.rename(folder.with_name("away"))
        folder.symlink_to(away)
        old_map(away / "b.mm", "B")
        for _ in range(2):
            folder_sync.sync()
        assert store.maps(0, 10) == before
        assert caplog.text.count("is behind a symbolic link now") == 1
        # A new start follows the link, and knows files that have changed, too.
        old_map(changed, "Changed")
        os.utime(changed, (LONG_AGO + 9, LONG_AGO + 9))
        FolderSync(store, reader, [folder]).sync()
        *found, added = store.maps(0, 10)
        assert added.title == "B"
        assert found == [before[0], replace(before[1], title="Changed", size=found[1].size)]
        sources = store.sources_below(os.fsencode(away), b"", 10)
        assert [source.name for source in sources] == ["a.mm", "b.mm", "below/c.mm"]
        assert store.sources_below(os.fsencode(folder), b"", 10) == []
        folder.unlink()
        away.rename(folder)
        folder_sync.sync()
        FolderSync(store, reader, [folder]).sync()
        assert {one.id for one in store.maps(0, 10)} == {one.id for one in (*found, added)}
        assert path.exists()


@pytest.mark.parametrize("place", ["maps/b/1.mm", "maps/b/2.mm", "maps2/1.mm"])
def test_a_file_that_is_copied_and_then_deleted_keeps_its_map(
    store: Store, folder: Path, tmp_path: Path, place: str
) -> None:
    """Synchronizing programs do that, and ``mv`` between file systems."""
    path = old_map(folder / "a" / "1.mm", "A")
    public = old_map(folder / "public.mm", "Public")
    other = tmp_path / "maps2"
    other.mkdir()
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder, other])
        folder_sync.sync()
        secret, shown = store.maps(0, 10)
        details = MapDetails(description="mine", visibility=Visibility.PRIVATE)
        before = store.edit_map(secret.file_id, details)
        copies = [tmp_path / place, folder / "copy.mm"]
        copies[0].parent.mkdir(exist_ok=True)
        for file, copy in zip((path, public), copies, strict=True):
            shutil.copyfile(file, copy)
            os.utime(copy, (LONG_AGO + 5, LONG_AGO + 5))
        folder_sync.sync()
        *_, copied = copies_of = [one for one in store.maps(0, 10) if one.title == "A"]
        assert {one.visibility for one in copies_of} == {Visibility.PRIVATE}
        path.unlink()
        public.unlink()
        assert folder_sync.sync(), "the copy is to be read again"
        assert not folder_sync.sync()
        found = {one.title: one for one in store.maps(0, 10)}
        assert found["A"] == before
        assert found["Public"].id != shown.id
        assert store.find_map(copied.id) is None
        assert not folder_sync.sync()
    with SandboxedReader(workers=1) as reader:
        revision = store.revision()
        FolderSync(store, reader, [folder, other]).sync()
        assert store.revision() == revision


@pytest.mark.parametrize("there", [True, False])
def test_a_map_begun_from_a_removed_template_is_private(
    store: Store, folder: Path, there: bool
) -> None:
    template = old_map(folder / "template.mm", "Template")
    ann = store.add_user("ann")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        store.remove_map(found.file_id, ann.id)
        project = folder / "project.mm"
        shutil.copy2(template, project)
        folder_sync.sync()
        assert store.maps(0, 10) == []
        old_map(project, "Project")
        if not there:  # the file was moved, and changed at its new place
            template.unlink()
        folder_sync.sync()
        folder_sync.sync()
    (begun,) = store.maps(0, 10)
    assert (begun.title, begun.visibility) == ("Project", Visibility.PRIVATE)


@pytest.mark.parametrize("state", ["private", "removed"])
def test_a_copy_is_not_published_after_a_restart_with_private_visibility(
    store: Store, folder: Path, state: str
) -> None:
    template, project = old_map(folder / "template.mm", "Template"), folder / "project.mm"
    ann = store.add_user("ann")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        if state == "private":
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        else:
            store.remove_map(found.file_id, ann.id)
        shutil.copy2(template, project)
        folder_sync.sync()
        private = SyncOptions(Attribution(visibility=Visibility.PRIVATE))
        folder_sync = FolderSync(store, reader, [folder], private)
        for title in ("Project", "Project, edited"):
            old_map(project, title)
            folder_sync.sync()
            shown = {one.title: one.visibility for one in store.maps(0, 10)}
            assert shown.pop(title) is Visibility.PRIVATE
            assert shown == ({"Template": Visibility.PRIVATE} if state == "private" else {})


def test_the_log_says_how_many_new_files_are_not_published(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = old_map(folder / "a.mm", "A")
    caplog.set_level(logging.INFO)
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        for name in ("b.mm", "c.mm"):
            shutil.copy2(path, folder / name)
        old_map(folder / "d.mm", "D")
        assert "not published" not in caplog.text
        for _ in range(2):
            folder_sync.sync()
    (line,) = [line for line in caplog.text.splitlines() if "not published" in line]
    assert line.endswith(": 2")


def test_removing_a_duplicate_does_not_take_the_kept_file_along_when_that_is_copied(
    store: Store, folder: Path
) -> None:
    paths = [old_map(folder / name, "A") for name in ("a copy.mm", "a.mm")]
    ann = store.add_user("ann")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        removed, _ = store.maps(0, 10)
        store.remove_map(removed.file_id, ann.id)
        (folder / "b").mkdir()
        shutil.copy2(paths[1], folder / "b" / "a.mm")
        folder_sync.sync()
        paths[1].unlink()
        folder_sync.sync()
        folder_sync.sync()
    (found,) = store.maps(0, 10)
    assert (found.visibility, found.id != removed.id) == (Visibility.PUBLISHED, True)


def test_a_copy_does_not_get_the_map_of_a_missing_twin_that_was_public(
    store: Store, folder: Path
) -> None:
    paths = [old_map(folder / name, "A") for name in ("a.mm", "b.mm")]
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        private, _ = store.maps(0, 10)
        store.edit_map(private.file_id, MapDetails(visibility=Visibility.PRIVATE))
        paths[1].unlink()
        folder_sync.sync()
        shutil.copy2(paths[0], folder / "c.mm")
        folder_sync.sync()
    found = store.maps(0, 10)
    assert [one.visibility for one in found] == [Visibility.PRIVATE] * 2


def test_deleting_files_of_published_maps_costs_no_transactions_for_their_copies(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [old_map(folder / name, "A") for name in ("a.mm", "b.mm", "c.mm")]
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        paths[0].unlink()
        asked: list[object] = []
        monkeypatch.setattr(store, "adopt_copy", lambda *given: asked.append(given))
        folder_sync.sync()
    assert asked == []
    assert len(store.maps(0, 10)) == 2


def test_equal_files_that_are_deleted_together_are_no_copies_of_each_other(
    store: Store, folder: Path
) -> None:
    paths = [old_map(folder / name / "1.mm", "A") for name in ("a", "b")]
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        first = store.maps(0, 10)[0]
        store.edit_map(first.file_id, MapDetails(visibility=Visibility.PRIVATE))
        paths.append(folder / "c.mm")
        shutil.copy2(paths[0], paths[2])
        folder_sync.sync()
        before = store.maps(0, 10)
        away = [path.rename(path.with_suffix(".away")) for path in paths]
        folder_sync.sync()
        assert store.maps(0, 10) == []
        for path in away:
            path.rename(path.with_suffix(".mm"))
        folder_sync.sync()
        assert store.maps(0, 10) == before


def test_a_copy_that_changes_before_it_is_read_again_stays_private(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        shutil.copy2(path, folder / "b.mm")
        folder_sync.sync()
        path.unlink()
        with monkeypatch.context() as patch:
            # The answer is lost, so the importer does not know what the store did.
            patch.setattr(store, "adopt_copy", losing(store.adopt_copy))
            with pytest.raises(StoreUnavailable):
                folder_sync.sync()
        old_map(folder / "b.mm", "Edited")
        folder_sync.sync()
    (after,) = store.maps(0, 10)
    assert (after.id, after.title, after.visibility) == (found.id, "Edited", Visibility.PRIVATE)


@pytest.mark.parametrize("batches", [1, 2])
def test_a_copy_that_is_read_after_its_original_was_replaced_is_not_published(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    """A newer file that keeps its time is read at once, and a copy only after a second."""
    monkeypatch.setattr(map_files, "BATCH_SIZE", 100 // batches)
    secret = old_map(folder / "a.mm", "Secret")
    for number in range(60):
        old_map(folder / "p" / f"{number}.mm", f"Secret {number}")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        for found in store.maps(0, 100):
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        backup = folder / "a-backup.mm"
        shutil.copyfile(secret, backup)
        old_map(secret, "New")
        (folder / "p").rename(folder / "p_old")
        for number in range(60):
            old_map(folder / "p" / f"{number}.mm", f"New {number}")
        assert folder_sync.sync(), "the backup may still be being copied"
        assert not folder_sync.sync()
    everything = store.maps(0, 1000)
    assert sum(one.title.startswith("Secret") for one in everything) == 61
    assert {one.visibility for one in everything} == {Visibility.PRIVATE}


@pytest.mark.parametrize("deleted", ["never", "before", "after", "a while"])
def test_a_copy_that_is_first_read_half_written_is_not_published(
    store: Store, folder: Path, deleted: str
) -> None:
    begin = "---\nmarkmap:\n  colorFreezeLevel: 2\n---\n"
    text = f"{begin}# Secret\n\n## one\n- two\n\n## password\n- three\n"
    path, copy = folder / "a.md", folder / "b.md"
    path.write_text(text)
    os.utime(path, (LONG_AGO, LONG_AGO))
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        (found,) = store.maps(0, 10)
        details = MapDetails(description="mine", visibility=Visibility.PRIVATE)
        before = store.edit_map(found.file_id, details)
        copy.write_text(text[:-30])
        os.utime(copy, (LONG_AGO, LONG_AGO))
        folder_sync.sync()
        assert len(store.maps(0, 10)) == 2
        if deleted in {"before", "a while"}:
            path.unlink()
            folder_sync.sync()
        if deleted == "a while":
            path.write_text(text)
            os.utime(path, (LONG_AGO, LONG_AGO))
        copy.write_text(text)
        os.utime(copy, (LONG_AGO + 1, LONG_AGO + 1))
        folder_sync.sync()
        assert {one.visibility for one in store.maps(0, 10)} == {Visibility.PRIVATE}
        if deleted == "after":
            path.unlink()
            assert folder_sync.sync(), "the copy is to be read again"
            folder_sync.sync()
        if deleted == "a while":
            assert before in store.maps(0, 10)
            assert len(store.maps(0, 10)) == 2
        elif deleted != "never":
            assert store.maps(0, 10) == [before]
        else:
            copy.write_text(f"{begin}# Shown\n\n- one\n- two\n")
            os.utime(copy, (LONG_AGO + 2, LONG_AGO + 2))
            folder_sync.sync()
            assert {one.title: one.visibility.value for one in store.maps(0, 10)} == {
                "Secret": "private",
                "Shown": "private",
            }


def test_a_missing_file_that_comes_back_as_a_copy_is_not_published(
    store: Store, folder: Path
) -> None:
    secret, path = old_map(folder / "a.mm", "Secret"), old_map(folder / "b.mm", "Shown")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        found = next(one for one in store.maps(0, 10) if one.title == "Secret")
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        path.unlink()
        folder_sync.sync()
        shutil.copy2(secret, path)
        folder_sync.sync()
    found_now = [(one.title, one.visibility) for one in store.maps(0, 10)]
    assert found_now == [("Secret", Visibility.PRIVATE)] * 2


def losing(method: Callable[..., object]) -> Callable[..., object]:
    """Return a method that works, but whose result gets lost."""

    def call(*arguments: object) -> object:
        method(*arguments)
        raise StoreUnavailable("the connection is lost")

    return call


def test_a_copy_is_a_map_of_its_own(store: Store, folder: Path) -> None:
    path = old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        folder_sync.sync()
        shutil.copy2(path, folder / "b.mm")
        folder_sync.sync()
    assert len({found.id for found in store.maps(0, 10)}) == 2


def test_a_file_is_not_read_while_it_is_written(store: Store, folder: Path) -> None:
    with SandboxedReader(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [folder])
        path = write_map(folder / "a.mm", "Half")
        assert folder_sync.sync()
        write_map(path, "Wholly copied")
        assert folder_sync.sync()
        assert not store.maps(0, 10)
        assert not folder_sync.sync()
    assert {found.title for found in store.maps(0, 10)} == {"Wholly copied"}


def test_scanning_unchanged_files_changes_nothing(store: Store, folder: Path) -> None:
    old_map(folder / "a.mm", "A")
    with SandboxedReader(workers=1) as reader:
        FolderSync(store, reader, [folder]).sync()
        before = store.revision()
        FolderSync(store, reader, [folder]).sync()
    assert store.revision() == before


def test_maps_are_found_by_the_names_of_file_and_folder(shelf: Shelf, folder: Path) -> None:
    old_map(folder / "Großprojekt" / "q3-review.mm", "A")
    with SandboxedReader(workers=1) as reader:
        FolderSync(shelf.store, reader, [folder]).sync()
    shelf.publish()
    with serve(shelf) as service:
        assert service.titles(query="q3-review.mm") == ["A"]
        assert service.titles(query="grossprojekt") == ["A"]
        assert service.titles(query=folder.name) == []


@pytest.mark.skipif(sys.platform == "darwin", reason="its names are UTF-8")
def test_names_that_are_not_utf_8_do_not_stop_what_follows_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    """Anybody who may write into the folder can choose such a name."""
    log = tmp_path / "log"
    mapshelf = Mapshelf(tmp_path / "data")
    old_map(folder / "first.mm", "First")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    old_map(foreign / os.fsdecode(b"\xfe.mm"), "Second")
    with log.open("wb") as output, serving(mapshelf, folder, log=output) as service:
        service.wait_until_ready()
        wait_for(lambda: len(mapshelf.exported()) == 1)
        # The folder is moved as a whole, so there may be no second notification.
        foreign.rename(folder / os.fsdecode(b"\xff\xfe"))
        wait_for(lambda: len(mapshelf.exported()) == 2)
        wait_for(lambda: re.search("no change notifications|Traceback", log.read_text("utf-8")))
    told = log.read_text("utf-8")
    assert told.count("no change notifications") == 1
    assert "Traceback" not in told
    assert "restarting" not in told


@pytest.mark.skipif(not CORPUS.exists(), reason=f"no corpus of real maps at {CORPUS}")
def test_a_folder_followed_through_everything_ends_like_a_fresh_import(
    folder: Path, tmp_path: Path
) -> None:
    """Files are added, edited, renamed and deleted, and the service is killed in between."""
    chance = random.Random(7)
    files = sorted((CORPUS / "dev" / "freemind").glob("*.mm"))
    files = [path for path in files if path.stat().st_size < 20_000][:60]
    for number, path in enumerate(files):
        target = folder / f"part {number % 7}" / f"{number}.mm"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
    mapshelf = Mapshelf(tmp_path / "data")
    for _ in range(3):
        with serving(mapshelf, folder) as service:
            service.wait_until_ready()
            for _ in range(25):
                disturb(folder, files, chance)
            time.sleep(chance.uniform(0.2, 1.5))
            service.kill()

    fresh = Mapshelf(tmp_path / "fresh")
    fresh.run("import", folder)
    with serving(mapshelf, folder) as service:
        service.wait_until_ready()
        wait_for(lambda: described(mapshelf) == described(fresh))
    assert len({record["ID"] for record in mapshelf.exported()}) == len(described(fresh))


def disturb(folder: Path, files: list[Path], chance: random.Random) -> None:
    """Add, edit, rename or delete a file."""
    present = sorted(folder.rglob("*.mm"))
    path = chance.choice(present)
    match chance.choice(["add", "edit", "rename", "delete"]):
        case "add":
            shutil.copyfile(chance.choice(files), folder / f"new {chance.random()}.mm")
        case "edit":
            write_map(path, f"Edited {chance.random()}")
        case "rename":
            (folder / "Science").mkdir(exist_ok=True)
            path.rename(folder / "Science" / f"{chance.random()}.mm")
        case "delete":
            path.unlink()


def described(mapshelf: Mapshelf) -> list[tuple[str, ...]]:
    """Return all maps without the fields that differ between imports."""
    differs = ("ID", "File_ID", "DateAdded")
    return sorted(
        tuple(value for key, value in record.items() if key not in differs)
        for record in mapshelf.exported()
    )
