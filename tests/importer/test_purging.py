"""Maps whose files are missing are deleted after thirty days, if nobody finds the files."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from mapshelf.importer import purging
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import DAY, Map, MapDetails, Source, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.cli.test_commands import write_map
from tests.store.clock import Clock

pytestmark = pytest.mark.process

Miss = Callable[..., Map]

LONG_AGO = 1_600_000_000


@pytest.fixture
def clock() -> Clock:
    return Clock(int(time.time() * 1000))


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "catalogue.db", clock)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a map that stays."""
    folder = tmp_path / "maps"
    folder.mkdir()
    old_map(folder / "keep.mm", "Keep")
    return folder


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Purge without waiting, as if everything was running for an hour."""
    monkeypatch.setattr(purging, "INTERVAL", 0.0)


def old_map(path: Path, title: str) -> Path:
    write_map(path, title)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


@pytest.fixture
def miss(store: SQLiteStore, clock: Clock, reader: SandboxedReader) -> Miss:
    """Return a function that adds a private map whose file is missing since some days ago."""
    return partial(_miss, store, clock, reader)


def _miss(
    store: SQLiteStore, clock: Clock, reader: SandboxedReader, path: Path, days: float = 31
) -> Map:
    old_map(path, path.stem)
    FolderSync(store, reader, [path.parent]).sync()
    (found,) = [one for one in store.maps(0, 100) if one.title == path.stem]
    found = store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
    path.unlink()
    now, clock.now = clock.now, clock.now - int(days * DAY)
    assert store.remove_sources([os.fsencode(path)]) == 1
    clock.now = now
    return found


def is_known(store: SQLiteStore, path: Path) -> bool:
    return bool(store.sources([os.fsencode(path)]))


@pytest.mark.usefixtures("at_once")
def test_maps_whose_files_are_missing_are_deleted_after_thirty_days(
    store: SQLiteStore,
    miss: Miss,
    reader: SandboxedReader,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "mapshelf")
    young, old = folder / "young.mm", folder / "old.mm"
    miss(young, 29.99)
    miss(old, 30.01)
    FolderSync(store, reader, [folder]).sync()
    assert is_known(store, young)
    assert not is_known(store, old)
    assert caplog.text.count("deleted 1 map whose file was gone long ago") == 1


@pytest.mark.usefixtures("at_once")
def test_a_map_whose_file_came_back_unnoticed_is_not_deleted(
    store: SQLiteStore, miss: Miss, reader: SandboxedReader, folder: Path
) -> None:
    path = folder / "secret.mm"
    found = miss(path)
    old_map(path, "secret")
    FolderSync(store, reader, [folder]).sync()
    assert store.find_map(found.id) == found


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("way", ["empty", "away", "elsewhere"])
def test_a_map_is_not_deleted_unless_its_file_is_looked_for(
    store: SQLiteStore,
    miss: Miss,
    reader: SandboxedReader,
    folder: Path,
    way: str,
) -> None:
    path = folder / "secret.mm"
    found = miss(path)
    old_map(path, "secret")
    disk, other = folder.with_name("disk"), folder.with_name("other")
    other.mkdir()
    folder.rename(disk)
    if way == "empty":
        folder.mkdir()
    folder_sync = FolderSync(store, reader, [other if way == "elsewhere" else folder])
    for _ in range(2):
        folder_sync.sync()
    assert is_known(store, path)
    if way == "empty":
        folder.rmdir()
    disk.rename(folder)
    FolderSync(store, reader, [folder]).sync()
    assert store.find_map(found.id) == found


def test_no_map_is_deleted_soon_after_the_start(
    store: SQLiteStore, miss: Miss, reader: SandboxedReader, folder: Path
) -> None:
    """A disk may be mounted later than the service starts, even one below the folder."""
    path = folder / "secret.mm"
    found = miss(path)
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    assert is_known(store, path)
    old_map(path, "secret")
    folder_sync.sync()
    assert store.find_map(found.id) == found


@pytest.mark.usefixtures("at_once")
def test_many_maps_are_deleted_a_few_at_a_time(
    store: SQLiteStore,
    clock: Clock,
    reader: SandboxedReader,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(purging, "MAPS_AT_ONCE", 2)
    paths = [old_map(folder / f"{number}.mm", str(number)) for number in range(5)]
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    for path in paths:
        path.unlink()
    clock.now -= 31 * DAY
    store.remove_sources([os.fsencode(path) for path in paths])
    folder_sync.sync()
    assert not any(is_known(store, path) for path in paths)
    assert [one.title for one in store.maps(0, 100)] == ["Keep"]
    assert store.check() == []


@pytest.mark.usefixtures("at_once")
def test_maps_that_are_kept_do_not_keep_those_behind_them(
    store: SQLiteStore,
    miss: Miss,
    reader: SandboxedReader,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those behind a link are kept. There may be more of them than one call looks at."""
    monkeypatch.setattr(purging, "MAPS_AT_ONCE", 1)
    monkeypatch.setattr(purging, "MOST_SECONDS", 0.0)
    kept = [folder / f"kept-{number}.mm" for number in range(3)]
    later = folder.with_name("maps2") / "later.mm"
    later.parent.mkdir()
    old_map(later.with_name("stays.mm"), "Stays")
    for path in kept:
        miss(path)
        path.symlink_to(old_map(folder.parent / path.name, "away"))
    miss(later)
    folder_sync = FolderSync(store, reader, [folder, later.parent])
    for _ in range(5):
        folder_sync.sync()
    assert not is_known(store, later)
    assert all(is_known(store, path) for path in kept)
    kept[0].unlink()
    for _ in range(5):
        folder_sync.sync()
    assert not is_known(store, kept[0]), "the next round begins with the first again"
    assert all(is_known(store, path) for path in kept[1:])


@pytest.mark.usefixtures("at_once")
def test_a_folder_that_is_away_is_not_asked_for_missing_maps(
    store: SQLiteStore,
    miss: Miss,
    reader: SandboxedReader,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = folder.with_name("empty") / "secret.mm"
    path.parent.mkdir()
    miss(path)
    asked: list[bytes] = []
    ask = store.long_missing

    def long_missing(folder: bytes, before: int, after: bytes, limit: int) -> list[Source]:
        asked.append(folder)
        return ask(folder, before, after, limit)

    monkeypatch.setattr(store, "long_missing", long_missing)
    FolderSync(store, reader, [path.parent, folder]).sync()
    assert asked == [os.fsencode(folder)]
    assert is_known(store, path)


@pytest.mark.usefixtures("at_once")
def test_a_map_is_not_deleted_while_its_folder_is_empty(
    store: SQLiteStore, miss: Miss, reader: SandboxedReader, folder: Path
) -> None:
    """A disk may be mounted on a folder in the served one, too."""
    kept, deleted = folder / "disk" / "secret.mm", folder / "gone" / "secret2.mm"
    for path in (kept, deleted):
        path.parent.mkdir()
        miss(path)
    deleted.parent.rmdir()
    folder_sync = FolderSync(store, reader, [folder])
    for _ in range(2):
        folder_sync.sync()
    assert is_known(store, kept)
    assert not is_known(store, deleted)
    (kept.parent / "notes.txt").write_text("The disk is mounted.")
    folder_sync.sync()
    assert not is_known(store, kept)


@pytest.mark.usefixtures("at_once")
def test_a_map_is_not_deleted_from_a_folder_that_has_become_empty(
    store: SQLiteStore, clock: Clock, reader: SandboxedReader, folder: Path
) -> None:
    """A folder may be mounted there that is on the same disk, so its number says nothing."""
    path = old_map(folder / "secret.mm", "secret")
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    clock.now -= 31 * DAY
    store.remove_sources([os.fsencode(path)])
    clock.now += 31 * DAY
    disk = folder.rename(folder.with_name("away"))
    folder.mkdir()
    for _ in range(2):
        folder_sync.sync()
    assert is_known(store, path)
    folder.rmdir()
    disk.rename(folder)
    FolderSync(store, reader, [folder]).sync()
    assert {one.title for one in store.maps(0, 10)} == {"Keep", "secret"}
