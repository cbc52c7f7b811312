"""Only a lost file is moved: one that may come back keeps its map, and its copies get their own."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mapshelf.cli import import_command, main
from mapshelf.importer import folder_sync
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import Candidate, scan
from mapshelf.model import Map, MapDetails, RefusalKind, Visibility
from mapshelf.readers.sandboxed_reader import FolderOf, Result, SandboxedReader
from mapshelf.store import Store
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process

LONG_AGO = 1_600_000_000

PRIVATE = MapDetails(visibility=Visibility.PRIVATE)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A served folder with a map."""
    old_map(tmp_path / "here" / "keep.mm", "Keep")
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Another one."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


def old_map(path: Path, title: str, seconds: int = 0) -> Path:
    """Write a map that has not changed for a long time."""
    path.parent.mkdir(exist_ok=True, parents=True)
    write_map(path, title)
    os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))
    return path


def fresh_copy(path: Path, copy: Path) -> Path:
    """Copy a file that looks as if it was still being written."""
    shutil.copyfile(path, copy)
    os.utime(copy, (time.time() + 3600, time.time() + 3600))
    return copy


def map_of(store: Store, path: Path) -> Map | None:
    """Return the map of a file."""
    (source,) = store.sources([os.fsencode(path)]).values()
    return next(one for one in store.maps(0, 100) if store.origin(one.file_id)[0] == source.name)


def make_private(store: Store, path: Path) -> Map:
    found = map_of(store, path)
    assert found
    return store.edit_map(found.file_id, PRIVATE)


def begin_another_map(store: Store, synchronization: FolderSync, copy: Path) -> None:
    """Write something else into a copy, and publish it."""
    old_map(copy, "Another", 77)
    synchronization.sync()
    found = map_of(store, copy)
    assert found
    assert found.visibility is Visibility.PRIVATE
    store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))


def take(way: str, store: Store, reader: SandboxedReader, folder: Path) -> None:
    """Let another process import a folder, or follow it."""
    if way == "serve":
        FolderSync(store, reader, [folder]).sync()
    else:
        assert main(["import", str(folder), "--data", str(folder.parent / "data")]) == 0


@pytest.mark.parametrize("way", ["empty", "away"])
def test_a_copy_does_not_get_the_map_of_a_file_whose_disk_may_be_disconnected(
    store: Store, reader: SandboxedReader, here: Path, there: Path, way: str
) -> None:
    file = old_map(there / "secret.mm", "Secret")
    FolderSync(store, reader, [here, there]).sync()
    before = make_private(store, file)
    disk = there.rename(there.with_name("disk"))
    if way == "empty":
        there.mkdir()
    synchronization = FolderSync(store, reader, [here, there])
    copy = Path(shutil.copy2(disk / file.name, here / "draft.mm"))
    synchronization.sync()
    found = map_of(store, copy)
    assert found
    assert found.id != before.id
    begin_another_map(store, synchronization, copy)
    if way == "empty":
        there.rmdir()
    disk.rename(there)
    synchronization.sync()
    assert map_of(store, file) == before


@pytest.mark.parametrize("way", ["import", "serve"])
def test_a_copy_does_not_get_the_map_of_a_file_that_another_process_may_follow(
    store: Store, reader: SandboxedReader, here: Path, there: Path, way: str
) -> None:
    """That process knows that the disk is disconnected; this one sees an empty mount point."""
    file = old_map(there / "deep" / "secret.mm", "Secret")
    FolderSync(store, reader, [there]).sync()
    before = make_private(store, file)
    disk = there.rename(there.with_name("disk"))
    there.mkdir()
    copy = Path(shutil.copy2(disk / "deep" / file.name, here / file.name))
    take(way, store, reader, here)
    copied = map_of(store, copy)
    assert copied
    assert copied.id != before.id
    assert copied.visibility is Visibility.PRIVATE, "it may be the file itself, moved"
    there.rmdir()
    disk.rename(there)
    FolderSync(store, reader, [there]).sync()
    assert map_of(store, file) == before


def test_what_is_moved_to_another_folder_during_the_scan_keeps_its_map(
    store: Store, reader: SandboxedReader, here: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = old_map(there / "moved.mm", "Moved")
    old_map(there / "deleted.mm", "Deleted")
    synchronization = FolderSync(store, reader, [here, there])
    synchronization.sync()
    before = map_of(store, file)

    def scan_meanwhile(folders: list[Path], report: ImportReport) -> Iterator[Candidate]:
        for candidate in scan(folders, report):
            yield candidate
            if file.exists():  # the scan has left the first folder
                file.rename(here / "moved.mm")

    monkeypatch.setattr(folder_sync, "scan", scan_meanwhile)
    (there / "deleted.mm").unlink()
    assert synchronization.sync()
    assert len(store.maps(0, 10)) == 3
    assert not synchronization.sync()
    assert map_of(store, here / "moved.mm") == before
    assert {one.title for one in store.maps(0, 10)} == {"Keep", "Moved"}


@pytest.mark.parametrize("way", ["import", "serve"])
def test_a_folder_that_was_served_and_is_renamed_keeps_its_maps(
    store: Store, reader: SandboxedReader, here: Path, there: Path, way: str
) -> None:
    file = old_map(there / "deep" / "secret.mm", "Secret")
    old_map(there / "b.mm", "B")
    FolderSync(store, reader, [here, there]).sync()
    make_private(store, file)
    before = store.maps(0, 100)
    renamed = there.rename(there.with_name("renamed"))
    take(way, store, reader, renamed)
    assert {(one.id, one.title, one.visibility) for one in store.maps(0, 100)} == {
        (one.id, one.title, one.visibility) for one in before
    }
    assert map_of(store, renamed / "deep" / file.name)


def test_a_folder_in_a_served_one_that_is_served_as_well_may_be_renamed(
    store: Store, reader: SandboxedReader, here: Path
) -> None:
    file = old_map(here / "inner" / "a.mm", "A")
    synchronization = FolderSync(store, reader, [here, here / "inner"])
    synchronization.sync()
    before = make_private(store, file)
    renamed = file.parent.rename(here / "renamed")
    synchronization.sync()
    assert map_of(store, renamed / file.name) == before
    shutil.rmtree(renamed)
    synchronization.sync()
    assert [one.title for one in store.maps(0, 100)] == ["Keep"]


def test_a_folder_in_a_served_one_that_is_away_removes_nothing(
    store: Store, reader: SandboxedReader, here: Path
) -> None:
    old_map(here / "inner" / "a.mm", "A")
    FolderSync(store, reader, [here, here / "inner"]).sync()
    before = store.maps(0, 100)
    here.rename(here.with_name("disk"))
    here.mkdir()
    FolderSync(store, reader, [here, here / "inner"]).sync()
    assert store.maps(0, 100) == before


@pytest.mark.parametrize("way", ["import", "serve"])
def test_what_is_moved_out_of_a_folder_that_is_not_served_any_more_is_not_published(
    store: Store, reader: SandboxedReader, here: Path, there: Path, way: str
) -> None:
    """If nothing is left in the folder, it may be a mount point, so the map stays there."""
    file = old_map(there / "secret.mm", "Secret")
    FolderSync(store, reader, [there]).sync()
    make_private(store, file)
    moved = file.rename(here / "moved.mm")
    take(way, store, reader, here)
    assert {(one.title, one.visibility) for one in store.maps(0, 100)} == {
        ("Keep", Visibility.PUBLISHED),
        ("Secret", Visibility.PRIVATE),
    }
    found = map_of(store, moved)
    assert found
    assert found.visibility is Visibility.PRIVATE


@pytest.mark.parametrize("way", ["import", "serve"])
def test_a_copy_does_not_get_the_map_of_a_file_in_an_empty_folder_further_in(
    store: Store, reader: SandboxedReader, here: Path, way: str
) -> None:
    """A disk may be mounted there that is disconnected, whatever else is in the outer folder."""
    file = old_map(here / "inner" / "secret.mm", "Secret")
    FolderSync(store, reader, [here / "inner"]).sync()
    before = make_private(store, file)
    disk = file.parent.rename(here.with_name("disk"))
    file.parent.mkdir()
    copy = Path(shutil.copy2(disk / file.name, here / "draft.mm"))
    take(way, store, reader, here)
    copied = map_of(store, copy)
    assert copied
    assert copied.id != before.id
    assert copied.visibility is Visibility.PRIVATE
    assert map_of(store, file) == before, "it is not removed"
    file.parent.rmdir()
    disk.rename(file.parent)
    FolderSync(store, reader, [here]).sync()
    assert map_of(store, file) == before


@pytest.mark.parametrize("way", ["import", "serve"])
def test_published_maps_move_even_if_an_empty_folder_is_left(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path, way: str
) -> None:
    """The only folder in another one is moved, or all files of a folder in the served one are."""
    moved = [here / "below" / "a.mm", tmp_path / "srv" / "maps" / "b.mm"]
    (tmp_path / "srv").mkdir()
    for path in moved:
        old_map(path, path.stem)
        FolderSync(store, reader, [path.parent]).sync()
    before = [map_of(store, path) for path in moved]
    now = [moved[0].rename(here / "c.mm"), moved[1].parent.rename(here / "maps") / "b.mm"]
    take(way, store, reader, here)
    assert [map_of(store, path) for path in now] == before
    assert len(store.maps(0, 10)) == 3


def test_a_served_folder_in_another_one_may_be_moved_with_a_link_left_in_its_place(
    store: Store, reader: SandboxedReader, here: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "secret"):
        old_map(here / "inner" / f"{name}.mm", name)
    synchronization = FolderSync(store, reader, [here, here / "inner"])
    synchronization.sync()
    make_private(store, here / "inner" / "secret.mm")
    before = store.maps(0, 10)
    moved = (here / "inner").rename(here / "moved")
    (here / "inner").symlink_to(moved)
    synchronization.sync()
    assert "until a restart" not in caplog.text
    for _ in range(2):
        FolderSync(store, reader, [here, here / "inner"]).sync()
        assert store.maps(0, 10) == before
        assert len(store.sources_below(os.fsencode(moved), b"", 10)) == 2


def test_maps_behind_a_link_stay_while_what_it_leads_to_is_away(
    store: Store, reader: SandboxedReader, here: Path, there: Path
) -> None:
    file = old_map(here / "alice" / "secret.mm", "Secret")
    FolderSync(store, reader, [here]).sync()
    before = store.maps(0, 10)
    file.parent.rename(there / "alice")
    file.parent.symlink_to(there / "alice")
    disk = there.rename(there.with_name("disk"))
    there.mkdir()
    synchronization = FolderSync(store, reader, [here])
    for _ in range(2):
        synchronization.sync()
    assert store.maps(0, 10) == before
    there.rmdir()
    disk.rename(there)
    synchronization.sync()
    assert store.maps(0, 10) == before


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Mount a disk, an empty one unless there are ``options``."""
    folder.mkdir(exist_ok=True)
    words = ["mount", *(options or ("-t", "tmpfs", "none")), str(folder)]
    if os.geteuid() != 0 or subprocess.run(words, check=False).returncode:
        pytest.skip("this machine does not allow mounting a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_maps_behind_a_link_stay_while_the_disk_that_it_leads_to_is_disconnected(
    store: Store, reader: SandboxedReader, here: Path, there: Path
) -> None:
    file = old_map(here / "alice" / "secret.mm", "Secret")
    synchronization = FolderSync(store, reader, [here])
    synchronization.sync()
    before = store.maps(0, 10)
    with mounted(there):
        shutil.move(file.parent, there / "alice")
        file.parent.symlink_to(there / "alice")
        synchronization.sync()
    old_map(there / "other.mm", "Other")
    synchronization.sync()
    assert store.maps(0, 10) == before


def test_a_file_that_is_written_to_a_mount_point_does_not_make_those_of_the_disk_lost(
    store: Store, reader: SandboxedReader, here: Path
) -> None:
    file = here / "disk" / "secret.mm"
    synchronization = FolderSync(store, reader, [here])
    with mounted(file.parent):
        old_map(file, "Secret")
        copy = fresh_copy(file, here / "draft.mm")
        synchronization.sync()
        before = make_private(store, file)
    old_map(file.with_name("stray.mm"), "Stray")
    for _ in range(2):
        synchronization.sync()
    copied = map_of(store, copy)
    assert copied
    assert (copied.id != before.id, copied.visibility) == (True, Visibility.PRIVATE)
    assert map_of(store, file) == before


def test_what_was_deleted_or_renamed_on_a_disk_is_noticed_when_that_is_connected_again(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path
) -> None:
    """It may have another number then."""
    disk, saved = here / "disk", tmp_path / "saved"
    synchronization = FolderSync(store, reader, [here])
    with mounted(disk):
        for name in ("stays", "old", "renamed"):
            old_map(disk / f"{name}.mm", name)
        shutil.copytree(disk, saved)
        synchronization.sync()
        renamed = map_of(store, disk / "renamed.mm")
    synchronization.sync()
    assert len(store.maps(0, 10)) == 4
    with mounted(tmp_path / "another"), mounted(disk):
        shutil.copy2(saved / "stays.mm", disk)
        shutil.copy2(saved / "renamed.mm", disk / "new.mm")
        for _ in range(2):
            synchronization.sync()
        assert map_of(store, disk / "new.mm") == renamed
        assert {one.title for one in store.maps(0, 10)} == {"Keep", "stays", "renamed"}


def test_files_on_a_file_system_that_gives_them_other_numbers_are_followed(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path
) -> None:
    with mounted(tmp_path / "lower"), mounted(tmp_path / "upper"):
        for name in ("upper", "work"):
            (tmp_path / "upper" / name).mkdir()
        old_map(tmp_path / "lower" / "a.mm", "A")
        old_map(tmp_path / "lower" / "b.mm", "B")
        layers = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper/upper"
        options = f"{layers},workdir={tmp_path}/upper/work"
        with mounted(here, "-t", "overlay", "overlay", "-o", options):
            synchronization = FolderSync(store, reader, [here])
            synchronization.sync()
            (here / "a.mm").unlink()
            synchronization.sync()
            assert [one.title for one in store.maps(0, 10)] == ["B"]


def test_a_copy_does_not_get_the_map_of_a_file_that_was_seen_on_another_disk(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path
) -> None:
    file = here / "disk" / "secret.mm"
    synchronization = FolderSync(store, reader, [here])
    with mounted(file.parent):
        old_map(file, "Secret")
        saved = Path(shutil.copy2(file, tmp_path / "saved"))
        synchronization.sync()
        before = make_private(store, file)
    copy = Path(shutil.copy2(saved, here / "draft.mm"))
    synchronization.sync()
    begin_another_map(store, synchronization, copy)
    shutil.copy2(saved, file)
    synchronization.sync()
    assert map_of(store, file) == before


def test_a_copy_gets_the_map_of_a_file_behind_a_link_only_once_that_is_deleted(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path
) -> None:
    file = old_map(here / "secret.mm", "Secret")
    synchronization = FolderSync(store, reader, [here])
    synchronization.sync()
    before = make_private(store, file)
    away = file.rename(tmp_path / "away.mm")
    file.symlink_to(away)
    synchronization.sync()
    copy = Path(shutil.copy2(away, here / "draft.mm"))
    for _ in range(2):
        synchronization.sync()
    copied = map_of(store, copy)
    assert copied
    assert copied.id != before.id
    assert copied.visibility is Visibility.PRIVATE
    assert map_of(store, file) == before
    away.unlink()
    while synchronization.sync():
        pass
    assert map_of(store, copy) == before
    assert [one.id for one in store.maps(0, 100) if one.title == "Secret"] == [before.id]


def test_a_file_that_was_put_back_in_the_place_of_a_link_has_its_map(
    store: Store, reader: SandboxedReader, here: Path, tmp_path: Path
) -> None:
    file = old_map(here / "secret.mm", "Secret")
    synchronization = FolderSync(store, reader, [here])
    synchronization.sync()
    before = make_private(store, file)
    away = file.rename(tmp_path / "away.mm")
    file.symlink_to(away)
    copy = Path(shutil.copy2(away, here / "draft.mm"))
    synchronization.sync()
    begin_another_map(store, synchronization, copy)
    away.rename(file)
    synchronization.sync()
    assert map_of(store, file) == before


def test_a_file_that_is_copied_to_another_folder_and_deleted_at_once_keeps_its_map(
    store: Store, reader: SandboxedReader, here: Path, there: Path
) -> None:
    """``mv`` between disks and many programs do that; the copy is read a second later."""
    file = old_map(here / "a.mm", "A")
    synchronization = FolderSync(store, reader, [here, there])
    synchronization.sync()
    before = map_of(store, file)
    copy = fresh_copy(file, there / "b.mm")
    file.unlink()
    assert synchronization.sync()
    assert map_of(store, file) == before
    assert not synchronization.sync()
    assert map_of(store, copy) == before
    copy.unlink()
    synchronization.sync()
    assert [one.title for one in store.maps(0, 100)] == ["Keep"]


def test_a_file_that_is_written_all_the_time_does_not_keep_maps_of_deleted_files(
    store: Store, reader: SandboxedReader, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = old_map(here / "a.mm", "A")
    synchronization = FolderSync(store, reader, [here])
    synchronization.sync()
    busy = fresh_copy(file, here / "busy.mm")
    file.unlink()
    assert synchronization.sync()
    assert {one.title for one in store.maps(0, 100)} == {"Keep", "A"}
    monkeypatch.setattr(folder_sync, "MIN_AGE", 0.0)  # as if that was a second ago
    os.utime(busy, (time.time() + 7200, time.time() + 7200))
    assert synchronization.sync()
    assert [one.title for one in store.maps(0, 100)] == ["Keep"]


class LateReader(SandboxedReader):
    """Reads files after something has happened to them."""

    def __init__(self, happen: Callable[[], object]) -> None:
        super().__init__(workers=1)
        self.happen = happen

    def read(
        self,
        paths: Iterable[str],
        folder_of: FolderOf = lambda _: "",
        on_delay: Callable[[], None] = lambda: None,
    ) -> Iterator[Result]:
        """See ``SandboxedReader``."""
        some = list(paths)
        self.happen()
        return super().read(some, folder_of, on_delay)


@pytest.mark.parametrize("way", ["renamed", "deleted", "a folder now", "back at once"])
def test_a_file_that_is_gone_before_it_is_read_is_not_refused(
    store: Store, here: Path, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    path = old_map(here / "a.mm", "A")
    away = here / "away"

    def vanish() -> None:
        path.rename(away)
        if way == "a folder now":
            path.mkdir()

    with LateReader(vanish) as reader:
        synchronization = FolderSync(store, reader, [here])
        assert synchronization.sync(), "soon again"
        if way == "renamed":
            away.rename(here / "b.mm")
        elif way == "back at once":
            away.rename(path)
        reader.happen = lambda: None
        assert not synchronization.sync()
    titles = {one.title for one in store.maps(0, 10)}
    assert titles == ({"Keep", "A"} if way in {"renamed", "back at once"} else {"Keep"})
    assert store.count_open_refusals()[RefusalKind.REFUSED] == 0
    assert "refused " not in caplog.text


def test_import_says_how_many_files_were_gone_before_they_were_read(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old_map(here / "a.mm", "A")
    late = LateReader(path.unlink)
    monkeypatch.setattr(import_command, "SandboxedReader", lambda _: late)
    assert main(["import", str(here), "--data", str(here.parent / "data")]) == 0
    said = capsys.readouterr()
    assert "added 1, changed 0, unchanged 0, refused 0" in said.out
    assert said.err == "mapshelf: 1 file was deleted or renamed during the import\n"


def test_a_named_file_that_is_gone_before_it_is_read_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old_map(here / "a.mm", "A")
    late = LateReader(path.unlink)
    monkeypatch.setattr(import_command, "SandboxedReader", lambda _: late)
    assert main(["import", str(path), "--data", str(here.parent / "data")]) == 1
    assert f"refused {path}: it cannot be opened: No such file" in capsys.readouterr().err
