"""Many equal files: which of them were renamed is found at a bounded cost per file."""

import os
from pathlib import Path

import pytest

from mapshelf.importer import equal_files, lost_files
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.importer.scan import is_gone
from mapshelf.model import Map, MapDetails, Source, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process

LONG_AGO = 1_600_000_000

MANY = 130
"""Equal files, which are written in several batches."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "maps"
    folder.mkdir()
    return folder


@pytest.fixture
def looks(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that gets an item for each source that is loaded, or looked for on the disk."""
    looked: list[object] = []
    sources_of = store.sources_of

    def counted(digest: bytes) -> list[Source]:
        found = sources_of(digest)
        looked.extend(found)
        return found

    def noted(path: bytes) -> bool:
        looked.append(path)
        return is_gone(path)

    monkeypatch.setattr(store, "sources_of", counted)
    monkeypatch.setattr(lost_files, "is_gone", noted)
    return looked


def old_map(path: Path, title: str, seconds: int = 0) -> Path:
    """Write a map that has not changed for a long time."""
    path.parent.mkdir(exist_ok=True)
    write_map(path, title)
    os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))
    return path


def places(store: Store) -> dict[str, str]:
    """Return the ids of all maps by the names of their files."""
    return {store.origin(one.file_id)[0]: one.id for one in store.maps(0, 10_000)}


def make_private(store: Store, count: int) -> list[Map]:
    return [
        store.edit_map(one.file_id, MapDetails(visibility=Visibility.PRIVATE))
        for one in store.maps(0, count)
    ]


@pytest.mark.parametrize("private", [False, True])
def test_each_of_many_equal_files_costs_as_much_as_one_of_few(
    store: Store, folder: Path, reader: SandboxedReader, looks: list[object], *, private: bool
) -> None:
    old_map(folder / "000.mm", "Same")
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    if private:  # and so are its copies
        make_private(store, 1)
    paths = [old_map(folder / f"{number:03}.mm", "Same") for number in range(MANY)]
    folder_sync.sync()
    assert len(looks) < 5 * MANY
    assert {one.visibility is Visibility.PRIVATE for one in store.maps(0, 1000)} == {private}
    assert len(places(store)) == MANY
    looks.clear()
    for path in paths:
        old_map(path, "Changed", 9)
    folder_sync.sync()
    # Those that may be copies are looked at in each batch, which has many files.
    assert len(looks) < (10 * MANY if private else 2 * MANY)
    assert len(places(store)) == MANY


def test_published_maps_that_change_are_not_compared_with_equal_files(
    store: Store, folder: Path, reader: SandboxedReader, looks: list[object]
) -> None:
    paths = [old_map(folder / name, "Same") for name in ("a.mm", "b.mm")]
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    looks.clear()
    old_map(paths[0], "Changed", 9)
    folder_sync.sync()
    # Only whether there is a renamed file with the new content is looked for.
    assert looks == []


def test_many_equal_files_are_renamed_to_the_nearest(
    store: Store, folder: Path, reader: SandboxedReader, looks: list[object]
) -> None:
    for number in range(MANY):
        old_map(folder / "a" / f"{number:03}.mm", "Same")
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    make_private(store, 50)
    maps, before = store.maps(0, 1000), places(store)
    looks.clear()
    (folder / "a").rename(folder / "b")
    (folder / "b" / "000.mm").rename(folder / "b" / "zzz.mm")
    old_map(folder / "b" / "yyy.mm", "Same")
    folder_sync.sync()
    after = places(store)
    # yyy.mm is read before zzz.mm, and is the only one left then: which is which, nobody knows.
    assert after["b/yyy.mm"] == before["a/000.mm"]
    assert after.keys() - {"b/yyy.mm", "b/zzz.mm"} == {f"b/{n:03}.mm" for n in range(1, MANY)}
    assert all(after[f"b/{n:03}.mm"] == before[f"a/{n:03}.mm"] for n in range(1, MANY))
    # Their names alone do not tell which of them are private, because all have the same time.
    assert {one.visibility for one in store.maps(0, 1000)} == {Visibility.PRIVATE}
    assert [one.id for one in store.maps(0, 1000) if one in maps] == [one.id for one in maps[:50]]
    assert len(looks) < 10 * MANY


def test_many_equal_files_that_were_missing_come_back_in_their_folder_only(
    store: Store, folder: Path, reader: SandboxedReader, looks: list[object]
) -> None:
    here, there = folder / "here", folder / "there"
    there.mkdir()
    paths = [old_map(here / f"{number:03}.mm", "Same") for number in range(MANY)]
    kept = old_map(here / "other.mm", "Other")
    folder_sync = FolderSync(store, reader, [here, there])
    folder_sync.sync()
    make_private(store, MANY)
    before = places(store)
    for path in paths:
        path.unlink()
    folder_sync.sync()
    assert len(store.maps(0, 1000)) == 1
    looks.clear()
    for number in range(MANY // 2):
        old_map(here / "again" / f"{number:03}.mm", "Same")
        old_map(there / f"{number:03}.mm", "Same")
    folder_sync.sync()
    after = places(store)
    assert all(after[f"again/{n:03}.mm"] == before[f"{n:03}.mm"] for n in range(MANY // 2))
    new = {after[f"{n:03}.mm"] for n in range(MANY // 2)}
    assert new.isdisjoint(before.values())
    assert {one.visibility for one in store.maps(0, 1000) if one.title == "Same"} == {
        Visibility.PRIVATE
    }
    assert len(looks) < 15 * MANY
    assert kept.exists()


def test_a_bounded_number_of_equal_files_is_looked_for(
    store: Store,
    folder: Path,
    reader: SandboxedReader,
    looks: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(equal_files, "MOST_GONE", 20)
    for number in range(50):
        old_map(folder / "a" / f"{number:03}.mm", "Same")
    folder_sync = FolderSync(store, reader, [folder])
    folder_sync.sync()
    before = set(places(store).values())
    looks.clear()
    (folder / "a").rename(folder / "b")
    folder_sync.sync()
    after = set(places(store).values())
    assert (len(after), len(after & before)) == (50, 20)
    assert sum(isinstance(one, bytes) for one in looks) == 20 + 20
