"""A private file that is away, or was moved, does not become public when it is at its place again.

Whether a file was moved is a guess: its disk may be disconnected, or another process may follow the
folder. Wrong guesses may cost a map its id, but nothing more.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import MapDetails, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store
from tests.importer.test_documents import write
from tests.importer.test_lost_files import make_private, map_of, old_map, take

pytestmark = pytest.mark.process

PUBLISHED = MapDetails(visibility=Visibility.PUBLISHED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A served folder with a map that stays."""
    old_map(tmp_path / "maps" / "keep.mm", "Keep")
    return tmp_path / "maps"


def shown(store: Store) -> set[str]:
    """Return the titles of the published maps."""
    return {one.title for one in store.maps(0, 100) if one.visibility is Visibility.PUBLISHED}


def visibility_of(store: Store, path: Path) -> Visibility:
    found = map_of(store, path)
    assert found
    return found.visibility


@pytest.mark.parametrize("way", ["import", "serve"])
def test_a_file_that_leaves_a_folder_that_another_process_follows_is_not_published(
    store: Store, reader: SandboxedReader, folder: Path, tmp_path: Path, way: str
) -> None:
    """That process has noticed that it is gone, but not where it is now."""
    file = old_map(folder / "secret.mm", "Secret")
    other = old_map(tmp_path / "other" / "other.mm", "Other").parent
    synchronization = FolderSync(store, reader, [folder])
    synchronization.sync()
    make_private(store, file)
    moved = file.rename(other / "moved.mm")
    while synchronization.sync():
        pass
    assert {one.title for one in store.maps(0, 100)} == {"Keep"}
    take(way, store, reader, other)
    assert visibility_of(store, moved) is Visibility.PRIVATE
    old_map(moved, "Secret, edited", 9)
    take(way, store, reader, other)
    assert shown(store) == {"Keep", "Other"}


@pytest.mark.parametrize("running", [True, False])
def test_a_disk_that_is_mounted_in_a_served_folder_may_come_back(
    store: Store, reader: SandboxedReader, folder: Path, running: bool
) -> None:
    """A copy of a private file has taken its map, and the file has changed meanwhile."""
    file = old_map(folder / "disk" / "secret.mm", "Secret")
    synchronization = FolderSync(store, reader, [folder])
    synchronization.sync()
    before = make_private(store, file)
    disk = file.parent.rename(folder.with_name("disk"))
    old_map(file.parent / "notes.txt", "This folder is not empty, so the file counts as lost.")
    copy = Path(shutil.copy2(disk / file.name, folder / "copy.mm"))
    if not running:
        synchronization = FolderSync(store, reader, [folder])
    synchronization.sync()
    assert map_of(store, copy) == before
    shutil.rmtree(file.parent)
    disk.rename(file.parent)
    for number, title in enumerate(("Secret, edited", "Secret", "Secret, edited again")):
        old_map(file, title, number)
        synchronization.sync()
        assert visibility_of(store, file) is Visibility.PRIVATE
    assert map_of(store, copy) == before
    published = map_of(store, file)
    assert published
    store.edit_map(published.file_id, PUBLISHED)
    old_map(file, "Public", 77)
    synchronization.sync()
    assert shown(store) == {"Keep", "Public"}


def moved_to_copy(
    store: Store, reader: SandboxedReader, folder: Path, file: Path, copy: Path
) -> None:
    """Make a file private whose disk then seems to be there, but is away; a copy gets its map."""
    synchronization = FolderSync(store, reader, [folder])
    synchronization.sync()
    before = make_private(store, file)
    (folder / "disk").rename(folder.with_name("disk"))
    old_map(folder.resolve() / "disk" / "notes.txt", "This folder is not empty.")
    copy.parent.mkdir(exist_ok=True)
    shutil.copy2(folder.with_name("disk") / file.relative_to(folder.resolve() / "disk"), copy)
    synchronization.sync()
    assert map_of(store, copy) == before


@pytest.mark.parametrize("form", ["folder", "file"])
def test_a_document_is_at_its_place_in_either_form(
    store: Store, reader: SandboxedReader, folder: Path, form: str
) -> None:
    (folder / "disk").mkdir()
    main = write(folder / "disk" / "Trip.mindnode", form)
    copy = folder / ("Copy.mindnode/contents.xml" if form == "folder" else "Copy.mindnode")
    moved_to_copy(store, reader, folder, main, copy)
    again = write(
        folder / "disk" / "Trip.mindnode", "file" if form == "folder" else "folder", "New"
    )
    FolderSync(store, reader, [folder]).sync()
    assert visibility_of(store, again) is Visibility.PRIVATE


@pytest.mark.parametrize("way", ["switched", "moved"])
def test_places_follow_a_served_folder(
    store: Store, reader: SandboxedReader, folder: Path, way: str
) -> None:
    """Its link leads to another folder now, or it was moved and is a link now."""
    other = folder.with_name("version2")
    served = folder
    if way == "switched":
        served = folder.with_name("current")
        served.symlink_to(folder)
    file = old_map(folder / "disk" / "secret.mm", "Secret")
    moved_to_copy(store, reader, served, file, folder / "copy.mm")
    if way == "switched":
        shutil.copytree(folder, other)
        served.unlink()
    else:
        folder.rename(other)
    served.symlink_to(other)
    again = old_map(other / "disk" / "secret.mm", "Secret, edited", 9)
    old_map(other / "disk" / "new.mm", "New", 9)
    FolderSync(store, reader, [served]).sync()
    assert visibility_of(store, again) is Visibility.PRIVATE
    assert shown(store) >= {"Keep", "New"}


def rename(file: Path, _: Callable[[], object]) -> Path:
    return file.rename(file.with_name("moved.mm"))


def copy_and_delete(file: Path, sync: Callable[[], object]) -> Path:
    copy = Path(shutil.copy2(file, file.with_name("moved.mm")))
    sync()
    file.unlink()
    return copy


def rename_folder(file: Path, _: Callable[[], object]) -> Path:
    return file.parent.rename(file.parent.with_name("renamed")) / file.name


@pytest.mark.parametrize("move", [rename, copy_and_delete, rename_folder])
def test_a_file_where_a_private_one_was_is_not_published(
    store: Store,
    reader: SandboxedReader,
    folder: Path,
    move: Callable[[Path, Callable[[], object]], Path],
) -> None:
    file = old_map(folder / "deep" / "secret.mm", "Secret")
    public = old_map(folder / "deep" / "public.mm", "Public")
    synchronization = FolderSync(store, reader, [folder])
    synchronization.sync()
    before = make_private(store, file)
    moved = move(file, synchronization.sync)
    while synchronization.sync():
        pass
    assert map_of(store, moved) == before
    old_map(file, "New", 5)
    old_map(public, "New and public", 5)
    synchronization.sync()
    assert shown(store) - {"Public"} == {"Keep", "New and public"}
    assert visibility_of(store, file) is Visibility.PRIVATE
