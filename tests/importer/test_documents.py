"""A document that was a folder and is a file now, or the reverse, keeps its map."""

import os
import plistlib
import shutil
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.cli import main
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import Map, MapDetails, MapDraft, Outcome, Source, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store, open_store
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process

LONG_AGO = 1_600_000_000

CHANGES = [("folder", "zip"), ("folder", "flat"), ("zip", "folder"), ("flat", "folder")]
"""Forms of a document of MindNode: a folder, an archive of that, and its property list alone."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A served folder with a map."""
    folder = tmp_path / "maps"
    folder.mkdir()
    write_map(folder / "keep.mm", "Keep")
    os.utime(folder / "keep.mm", (LONG_AGO, LONG_AGO))
    return folder


@pytest.fixture
def trip(folder: Path) -> Path:
    return folder / "Trip.mindnode"


def write(document: Path, form: str, title: str = "Rome") -> Path:
    """Write a document that has not changed for a long time, in place of the one there."""
    remove(document)
    data = plistlib.dumps({"mindMap": {"mainNodes": [{"title": title}]}}, fmt=plistlib.FMT_XML)
    main = document
    if form == "folder":
        document.mkdir()
        main = document / "contents.xml"
        main.write_bytes(data)
    elif form == "zip":
        with zipfile.ZipFile(document, "w") as archive:
            archive.writestr(zipfile.ZipInfo("contents.xml"), data)  # the same bytes each time
    else:
        document.write_bytes(data)
    os.utime(main, (LONG_AGO, LONG_AGO + len(title)))
    return main


def remove(document: Path) -> None:
    if document.is_dir():
        shutil.rmtree(document)
    else:
        document.unlink(missing_ok=True)


def make_private(store: Store, title: str = "Rome") -> Map:
    (found,) = (one for one in store.maps(0, 100) if one.title == title)
    return store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))


def kept(store: Store) -> list[Map]:
    """Return all maps but the one that is always there."""
    return [one for one in store.maps(0, 100) if one.title != "Keep"]


def dying(drafts: Sequence[MapDraft]) -> list[Outcome]:
    raise KeyboardInterrupt


@pytest.mark.parametrize("when", ["running", "restarted", "after it was missing"])
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_document_that_changes_its_form_keeps_its_map(
    store: Store, reader: SandboxedReader, trip: Path, *, before: str, after: str, when: str
) -> None:
    write(trip, before)
    folder_sync = FolderSync(store, reader, [trip.parent])
    folder_sync.sync()
    private = make_private(store)
    if when == "after it was missing":
        remove(trip)
        folder_sync.sync()
        assert not kept(store)
    if when == "restarted":
        folder_sync = FolderSync(store, reader, [trip.parent])
    for title in ("Rome", "Rome and Naples"):
        main_file = write(trip, after, title)
        assert not folder_sync.sync()
        (found,) = kept(store)
        assert (found.id, found.title) == (private.id, title)
        assert (found.visibility, found.date_added) == (Visibility.PRIVATE, private.date_added)
        names = {one.name for one in store.sources_below(os.fsencode(trip.parent), b"", 10)}
        assert names == {"keep.mm", str(main_file.relative_to(trip.parent))}


@pytest.mark.parametrize(("before", "after"), [("folder", "zip"), ("file", "folder")])
def test_a_document_in_another_form_is_not_lost_for_who_imports_another_folder(
    store: Store, reader: SandboxedReader, trip: Path, tmp_path: Path, *, before: str, after: str
) -> None:
    """A backup of it, with the same content, gets no map of a document that is there."""
    write(trip, before)
    FolderSync(store, reader, [trip.parent]).sync()
    private = make_private(store)
    (tmp_path / "backup").mkdir()
    write(tmp_path / "backup" / trip.name, before)
    write(trip, after)
    assert main(["import", str(tmp_path / "backup"), "--data", str(tmp_path / "data")]) == 0
    FolderSync(store, reader, [trip.parent]).sync()
    name = f"{trip.name}/contents.xml" if after == "folder" else trip.name
    (found,) = (one for one in kept(store) if store.origin(one.file_id).source == name)
    assert (found.id, found.visibility) == (private.id, Visibility.PRIVATE)


def test_a_document_that_changes_its_form_twice_keeps_its_map_in_postgres(
    new_url: Callable[[], str], reader: SandboxedReader, trip: Path
) -> None:
    with closing(open_store(new_url())) as store:
        write(trip, "folder")
        folder_sync = FolderSync(store, reader, [trip.parent])
        folder_sync.sync()
        private = make_private(store)
        for form in ("zip", "folder"):
            write(trip, form, f"Rome in another {form}")
            folder_sync.sync()
            (found,) = kept(store)
            assert (found.id, found.title) == (private.id, f"Rome in another {form}")
            assert found.visibility is Visibility.PRIVATE


@pytest.mark.parametrize("named", ["folder", "document", "archive"])
@pytest.mark.parametrize(("before", "after"), CHANGES[1:3])
def test_a_document_that_is_imported_again_in_another_form_keeps_its_map(
    store: Store, trip: Path, tmp_path: Path, *, before: str, after: str, named: str
) -> None:
    def take(form: str, title: str) -> None:
        write(trip, form, title)
        place = {"folder": trip.parent, "document": trip, "archive": tmp_path / "maps.zip"}[named]
        if named == "archive":
            shutil.make_archive(str(tmp_path / "maps"), "zip", trip.parent)
        assert main(["import", str(place), "--data", str(tmp_path / "data")]) == 0

    take(before, "Rome")
    private = make_private(store)
    take(after, "Rome and Naples")
    (found,) = kept(store)
    assert (found.id, found.title) == (private.id, "Rome and Naples")
    assert found.visibility is Visibility.PRIVATE


def test_an_archive_may_hold_both_forms(store: Store, tmp_path: Path, folder: Path) -> None:
    main_file = write(folder / "Trip.mindnode", "folder", "Rome")
    flat = write(folder / "flat", "flat", "Naples")
    archive = tmp_path / "maps.zip"
    for names in (["Trip.mindnode"], ["Trip.mindnode", "Trip.mindnode/contents.xml"]):
        with zipfile.ZipFile(archive, "w") as opened:
            for name in names:
                opened.write(main_file if name.endswith(".xml") else flat, name)
        assert main(["import", str(archive), "--data", str(tmp_path / "data")]) == 0
    assert sorted(one.title for one in store.maps(0, 10)) == ["Naples", "Rome"]


@pytest.mark.parametrize(("before", "after"), [("folder", "zip"), ("zip", "folder")])
def test_an_interrupted_change_of_form_is_completed(
    store: Store,
    reader: SandboxedReader,
    trip: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    before: str,
    after: str,
) -> None:
    """The importer may die after a map has the new path, and before it is written again."""
    write(trip, before)
    FolderSync(store, reader, [trip.parent]).sync()
    private = make_private(store)
    write(trip, after, "Naples")
    with monkeypatch.context() as patch:
        patch.setattr(store, "put_maps", dying)
        with pytest.raises(KeyboardInterrupt):
            FolderSync(store, reader, [trip.parent]).sync()
    FolderSync(store, reader, [trip.parent]).sync()
    (found,) = kept(store)
    assert (found.id, found.title) == (private.id, "Naples")
    assert (found.visibility, found.date_added) == (Visibility.PRIVATE, private.date_added)


@pytest.mark.parametrize("problem", ["still being written", "broken"])
@pytest.mark.parametrize(("before", "after"), [("folder", "zip"), ("flat", "folder")])
def test_a_backup_does_not_get_the_map_of_a_document_that_cannot_be_read_yet(
    store: Store, reader: SandboxedReader, trip: Path, *, before: str, after: str, problem: str
) -> None:
    write(trip, before)
    folder_sync = FolderSync(store, reader, [trip.parent])
    folder_sync.sync()
    private = make_private(store)
    write(trip.with_name("Backup.mindnode"), before)
    new = write(trip, after)
    if problem == "broken":
        new.write_bytes(b"")
    os.utime(new, (LONG_AGO * 2, LONG_AGO * 2))
    for _ in range(2 if problem == "broken" else 1):
        folder_sync.sync()
    assert private in kept(store)
    assert len(kept(store)) == 2
    write(trip, after, "Naples")
    folder_sync.sync()
    found = {one.title: one for one in kept(store)}
    assert found.keys() == {"Rome", "Naples"}
    assert found["Naples"].id == private.id
    assert {one.visibility for one in found.values()} == {Visibility.PRIVATE}


@pytest.mark.parametrize(("before", "after"), [("folder", "zip"), ("zip", "folder")])
def test_a_copy_that_changes_only_its_form_is_not_published(
    store: Store, reader: SandboxedReader, trip: Path, before: str, after: str
) -> None:
    write(trip, before)
    folder_sync = FolderSync(store, reader, [trip.parent])
    folder_sync.sync()
    make_private(store)
    copy = trip.with_name("Copy.mindnode")
    write(copy, before)
    folder_sync.sync()
    write(copy, after)
    folder_sync.sync()
    assert [one.visibility for one in kept(store)] == [Visibility.PRIVATE] * 2


@pytest.mark.parametrize(("before", "after"), [("folder", "flat"), ("flat", "folder")])
def test_a_document_that_changes_name_and_form_is_not_published(
    store: Store, reader: SandboxedReader, trip: Path, before: str, after: str
) -> None:
    write(trip, before)
    folder_sync = FolderSync(store, reader, [trip.parent])
    folder_sync.sync()
    private = make_private(store)
    remove(trip)
    write(trip.with_name("Another.mindnode"), after)
    folder_sync.sync()
    assert kept(store) == [private]


@pytest.mark.parametrize("name", ["contents.xml", "CONTENTS.xml"])
def test_what_else_was_in_the_folder_of_a_document_does_not_hide_its_map(
    store: Store, reader: SandboxedReader, trip: Path, name: str
) -> None:
    main_file = write(trip, "folder")
    main_file.rename(trip / name)
    folder_sync = FolderSync(store, reader, [trip.parent])
    folder_sync.sync()
    private = make_private(store)
    others = [
        Source(os.fsencode(trip / f"{first}{n}.mm"), f"{first}{n}.mm", 1, 1, bytes(32))
        for first in "az"
        for n in range(150)
    ]
    store.put_maps([MapDraft(title="Other", source=one) for one in others])
    store.remove_sources([one.path for one in others])
    write(trip, "zip", "Naples")
    folder_sync.sync()
    (found,) = kept(store)
    assert (found.id, found.visibility) == (private.id, Visibility.PRIVATE)


def test_files_that_have_one_form_cost_nothing(
    store: Store, reader: SandboxedReader, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[bytes]] = []
    sources = store.sources

    def counted(paths: Sequence[bytes]) -> dict[bytes, Source]:
        asked.append(paths)
        return sources(paths)

    monkeypatch.setattr(store, "sources", counted)
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    assert len(asked) == 2, "once to see that a file is new, and once before it is read"
    write(folder / "Trip.mindnode", "folder")
    folder_sync.sync()
    asked.clear()
    FolderSync(store, reader, [folder]).sync()
    assert len(asked) == 1, "known documents that have not changed cost nothing either"
