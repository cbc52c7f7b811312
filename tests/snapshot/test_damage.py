"""Snapshots that are lost, damaged, incomplete or out of date are rebuilt."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
import xxhash

from mapshelf.errors import SnapshotDamaged, SnapshotMissing, StoreUnavailable
from mapshelf.model import Change, MapDraft
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder, change_applier, working_snapshot
from mapshelf.snapshot.build import orders_writer as ordering
from mapshelf.snapshot.format import checksums
from mapshelf.snapshot.format.checksums import APPEND_FILES, verify
from mapshelf.snapshot.format.manifest import FORMAT, read_manifest
from mapshelf.snapshot.format.manifest import published_length as published_length_of
from mapshelf.snapshot.read import Snapshot
from mapshelf.store.contract.change_feed import MOST_BYTES
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.snapshot.world import World, prove_lists, prove_searches, titles
from tests.store.drafts import outline

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(world: World) -> World:
    """A world with two published snapshots, and every kind of file."""
    world.put(
        *(
            MapDraft(id=f"m{n}", title=f"tea {n}", views=n, owner="ann", outline=outline("zoo"))
            for n in range(20)
        )
    )
    world.published()
    world.put(MapDraft(id="m3", title="changed tea"), MapDraft(id="late", title="late"))
    world.store.delete_maps(["m5"])
    world.published()
    return world


def sound(world: World) -> None:
    snapshot = world.published()
    prove_lists(snapshot, world.listed())
    prove_searches(snapshot, world, ["tea", "zoo", "changed"])


def files_of(folder: Path) -> list[str]:
    """Return the files of a snapshot, without those that readers of the index add."""
    return ["manifest.json", *sorted(read_manifest(folder)["files"])]


def flip(path: Path, place: int) -> None:
    """Change a byte of a file, but not of other links to it."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0x40
    path.unlink()  # otherwise the builder's link to the same file would change, too
    path.write_bytes(data)


def published_length(world: World, path: Path) -> int:
    """Return how many bytes of a file are part of the snapshot."""
    if path.name in APPEND_FILES:
        return published_length_of(read_manifest(world.folder), path.name)
    return path.stat().st_size


# -- damage -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_flipped_byte_in_any_file_is_found(filled: World, tmp_path: Path) -> None:
    names = files_of(filled.folder)
    assert len(names) > 40
    copy = tmp_path / "copy"
    shutil.copytree(filled.folder, copy)
    verify(copy)
    for name in names:
        length = published_length(filled, filled.folder / name)
        for place in {0, length // 2, length - 1} if length else set():
            flip(copy / name, place)
            with pytest.raises(SnapshotDamaged):
                verify(copy)
            flip(copy / name, place)
    verify(copy)


@pytest.mark.slow
def test_a_truncated_or_missing_file_is_found(filled: World, tmp_path: Path) -> None:
    for name in files_of(filled.folder):
        length = published_length(filled, filled.folder / name)
        copy = tmp_path / "copy"
        shutil.copytree(filled.folder, copy)
        if length:
            with (copy / name).open("r+b") as file:
                file.truncate(length - 1)
            for look in (verify, Snapshot):
                with pytest.raises(SnapshotDamaged):
                    look(copy)
        (copy / name).unlink()
        for look in (verify, Snapshot):
            with pytest.raises(SnapshotDamaged):
                look(copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize(
    "name",
    [
        "records.bin",
        "manifest.json",
        "column-start.bin",
        "order-alpha/slots.bin",
        "order-date/sets.bin",
        "changes-views.bin",
    ],
)
def test_a_damaged_snapshot_is_rebuilt(filled: World, name: str) -> None:
    flip(filled.folder / name, 10)
    before = filled.directory.current()
    filled.restart()
    assert filled.builder.advance()
    assert filled.directory.current() > before
    sound(filled)


def test_a_damaged_index_is_rebuilt(filled: World) -> None:
    for path in sorted((filled.folder / "text").iterdir()):
        if path.stat().st_size:
            flip(path, path.stat().st_size // 2)
    filled.restart()
    assert filled.builder.advance()
    sound(filled)


def write_manifest(folder: Path, body: bytes) -> None:
    checksum = xxhash.xxh3_128_hexdigest(body).encode()
    (folder / "manifest.json").write_bytes(checksum + b"\n" + body)


def test_a_snapshot_of_another_format_is_rebuilt(filled: World) -> None:
    _, _, body = (filled.folder / "manifest.json").read_bytes().partition(b"\n")
    old, new = b'"format":%d' % FORMAT, b'"format":%d' % (FORMAT + 1)
    assert old in body
    write_manifest(filled.folder, body.replace(old, new))
    for read in (read_manifest, verify, Snapshot):
        with pytest.raises(SnapshotDamaged, match="format"):
            read(filled.folder)
    filled.restart()
    assert filled.builder.advance()
    sound(filled)


def test_inconsistent_files_are_refused(filled: World) -> None:
    _, _, body = (filled.folder / "manifest.json").read_bytes().partition(b"\n")
    assert b'"maps":20' in body
    write_manifest(filled.folder, body.replace(b'"maps":20', b'"maps":21'))
    with pytest.raises(SnapshotDamaged, match="different numbers of maps"):
        Snapshot(filled.folder)


# -- loss -------------------------------------------------------------------------------------


def lose_everything(world: World) -> None:
    shutil.rmtree(world.directory.path)


def lose_the_folder(world: World) -> None:
    shutil.rmtree(world.folder)


def lose_the_work(world: World) -> None:
    shutil.rmtree(world.directory.path / "work")


def pointer(content: bytes) -> Callable[[World], None]:
    def write(world: World) -> None:
        (world.directory.path / "current").write_bytes(content)

    return write


@pytest.mark.parametrize(
    "harm",
    [
        lose_everything,
        lose_the_folder,
        lose_the_work,
        lambda world: (world.directory.path / "current").unlink(),
        pointer(b""),
        pointer(b"\0" * 12),
        pointer(b"\xff\xfe"),
        pointer(b"../../etc"),
        pointer(b"999999999999"),
    ],
)
def test_lost_files_are_rebuilt(filled: World, harm: Callable[[World], object]) -> None:
    harm(filled)
    filled.restart()
    filled.builder.advance()
    sound(filled)
    filled.put(MapDraft(title="and on it goes"))
    sound(filled)
    kept = [path.name for path in filled.directory.path.iterdir() if path.name.isdigit()]
    assert len(kept) <= 2


def test_an_empty_folder_has_no_current_snapshot(tmp_path: Path) -> None:
    directory = SnapshotDirectory(tmp_path / "none")
    with pytest.raises(SnapshotMissing):
        directory.current()


# -- a builder killed midway ------------------------------------------------------------------


def test_a_builder_killed_while_publishing(filled: World) -> None:
    """Whatever it left behind: folders, incomplete files, unpublished bytes."""
    number = int(filled.directory.current())
    for ahead in (1, 2, 7):
        left = filled.directory.path / f"{number + ahead:012d}"
        left.mkdir()
        (left / "column-start.bin").write_bytes(b"half")
        (left / "manifest.json").write_bytes(b"half a mani")
        (left / "text").mkdir()
    (filled.directory.path / "current.123-456").write_bytes(b"0000")
    with (filled.folder / "records.bin").open("ab") as file:
        file.write(b'{"File_ID":"never published')
    verify(filled.folder)
    assert "changed tea" in titles(filled.snapshot())

    filled.restart()
    for round_number in range(9):
        filled.put(MapDraft(id="m1", title=f"tea after {round_number}"))
        sound(filled)
    assert int(filled.directory.current()) == number + 9


def test_readers_ignore_unpublished_bytes(filled: World) -> None:
    reading = filled.snapshot()
    before = titles(reading)
    with (filled.folder / "records.bin").open("ab") as file:
        file.write(b"x" * 100_000)
    filled.restart()  # truncates them
    assert titles(reading) == before
    filled.put(MapDraft(title="next"))
    sound(filled)
    assert titles(reading) == before


def test_a_restarted_builder_continues_where_the_last_ended(filled: World) -> None:
    seen: list[int] = []
    filled.restart()
    assert not filled.builder.advance(seen.append)
    assert filled.builder.revision == filled.store.revision()
    filled.put(MapDraft(id="m1", title="again"))
    assert filled.builder.advance(seen.append)
    assert seen == [1]
    sound(filled)


# -- a store that fails, or is another --------------------------------------------------------


class Failing(SQLiteStore):
    """A store that is unreachable at the given calls of ``changes``."""

    fail_at: tuple[int, ...] = ()
    calls = 0

    def changes(self, after: int, limit: int, most_bytes: int = MOST_BYTES) -> list[Change]:
        self.calls += 1
        if self.calls in self.fail_at:
            raise StoreUnavailable("away for a moment")
        return super().changes(after, limit, most_bytes)


@pytest.mark.parametrize("published_before", [False, True])
def test_a_brief_outage_of_the_store_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published_before: bool
) -> None:
    """Changes applied before the failure must appear once the builder goes on."""
    monkeypatch.setattr(change_applier, "BATCH", 3)
    world = World(tmp_path)
    store = Failing(tmp_path / "catalogue.db")
    world.builder.close()
    world.builder = Builder(store, world.directory)
    world.put(*(MapDraft(id=f"m{n}", title=f"tea {n}") for n in range(12)))
    if published_before:
        world.published()
    world.store.delete_maps(["m1", "m2"])
    world.put(*(MapDraft(id=f"m{n}", title=f"changed {n}") for n in range(3, 9)))
    for fail_at in (1, 2, 3):
        store.calls, store.fail_at = 0, (fail_at,)
        world.put(*(MapDraft(id=f"m{n}", views=fail_at) for n in range(3, 12)))
        with pytest.raises(StoreUnavailable):
            advance_fully(world)
        if fail_at == 2:
            sound(world)
    assert world.builder.advance()
    sound(world)
    world.close()
    store.close()


def advance_fully(world: World) -> None:
    while world.builder.advance():
        pass


def test_a_failed_publication_is_repeated(filled: World) -> None:
    number = int(filled.directory.current())
    in_the_way = filled.directory.path / f"{number + 1:012d}"
    in_the_way.write_text("a file where the folder should be")
    filled.put(MapDraft(id="m1", title="tea that must show"), MapDraft(title="new tea"))
    filled.store.delete_maps(["m2"])
    revision = filled.builder.revision
    with pytest.raises(OSError, match="exists"):
        filled.builder.advance()
    filled.store.delete_maps(["m1", "m7"])
    filled.put(MapDraft(title="newer tea"))
    assert filled.builder.revision == revision
    in_the_way.unlink()
    assert filled.builder.advance()
    sound(filled)


@pytest.mark.parametrize(
    ("limit", "value"), [("MANY_CHANGES", 0), ("MOST_INSERTED", 0), ("MANY_CHANGES", 2048)], ids=str
)
def test_a_store_that_fails_while_orders_are_written(
    filled: World, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(ordering, limit, value)
    filled.published()
    for attempt in range(4):
        filled.put(MapDraft(id="m1", title=f"tea {attempt}"), MapDraft(title="new tea"))
        filled.store.delete_maps([f"m{attempt + 2}"])
        with monkeypatch.context() as patched:
            patched.setattr(SQLiteStore, "lineage", _away)
            with pytest.raises(StoreUnavailable):
                filled.builder.advance()
        with monkeypatch.context() as patched:
            patched.setattr(working_snapshot, "write_manifest", _away)
            with pytest.raises(StoreUnavailable):
                filled.builder.advance()
        filled.builder.advance()
        sound(filled)


def _away(*_: object) -> NoReturn:
    raise StoreUnavailable("the store is away")


def test_a_wrongly_built_snapshot_is_rebuilt(filled: World) -> None:
    """Its checksums are right, but workers refuse it."""
    folder = filled.folder
    manifest = verify(folder)
    growing = {name: manifest["files"][name] for name in APPEND_FILES}
    slots = folder / "order-alpha" / "slots.bin"
    short = slots.read_bytes()[:-4]
    slots.unlink()
    slots.write_bytes(short)
    (folder / "manifest.json").unlink()
    checksums.write_manifest(folder, manifest, growing, None)
    verify(folder)
    with pytest.raises(SnapshotDamaged):
        Snapshot(folder)
    filled.restart()
    filled.published()
    sound(filled)


def test_a_snapshot_follows_a_store_restored_to_an_earlier_state(
    filled: World, tmp_path: Path
) -> None:
    """An operator restores a backup: the snapshot must not keep showing later changes."""
    filled.builder.close()
    backup = World(tmp_path / "backup")
    backup.put(MapDraft(title="tea of old"))
    backup.builder.close()
    backup.directory = filled.directory
    backup.builder = Builder(backup.store, backup.directory)
    assert backup.builder.advance()
    sound(backup)
    assert titles(backup.snapshot()) == ["tea of old"]
    backup.close()
    filled.builder = Builder(filled.store, SnapshotDirectory(tmp_path / "unused"))


@pytest.mark.parametrize("later", [0, 1, 2])
def test_an_old_copy_that_caught_up_is_not_taken_for_the_same_store(
    tmp_path: Path, later: int
) -> None:
    """An operator copies an old file over the database, and adds maps before serving it."""
    place, old = tmp_path / "catalogue.db", tmp_path / "old.db"
    directory = SnapshotDirectory(tmp_path / "snapshots")

    def put(*names: str) -> None:
        with closing(SQLiteStore(place)) as store:
            store.put_maps([MapDraft(title=name) for name in names])

    def shown() -> list[str]:
        with closing(SQLiteStore(place)) as store, closing(Builder(store, directory)) as builder:
            builder.advance()
            return titles(Snapshot(directory.folder(directory.current())))

    put("first")
    shutil.copy(place, old)
    put("lost")
    assert sorted(shown()) == ["first", "lost"]
    before = directory.current()
    assert sorted(shown()) == ["first", "lost"]
    assert directory.current() == before  # nothing was rebuilt
    shutil.copy(old, place)
    put(*(f"new {number}" for number in range(later)))
    assert sorted(shown()) == ["first", *(f"new {number}" for number in range(later))]


# -- readers and the lock ---------------------------------------------------------------------


def test_an_old_snapshot_serves_after_its_files_are_gone(filled: World) -> None:
    reading = filled.snapshot()
    folder, maps = filled.folder, filled.listed()
    for n in range(4):
        filled.put(MapDraft(id="m1", title=f"newer {n}"))
        filled.store.delete_maps([f"m{n + 10}"])
        filled.published()
    assert not folder.exists()
    prove_lists(reading, maps)
    assert len(titles(reading, text="tea", order="alpha")) == 19
    assert len(titles(reading, text="zoo", order=None)) == 19


def test_snapshots_share_what_did_not_change(filled: World) -> None:
    before = filled.folder
    filled.put(MapDraft(id="m1", title="another"))
    filled.published()
    shared = [before / name for name in APPEND_FILES] + list(before.glob("order-*/*"))
    assert len(shared) > 40
    for path in shared:
        assert path.samefile(filled.folder / path.relative_to(before))


def test_the_previous_snapshot_is_kept_for_workers_about_to_open_it(filled: World) -> None:
    before = filled.folder
    filled.put(MapDraft(title="next"))
    filled.published()
    verify(before)
    assert "next" not in titles(Snapshot(before))


def test_only_one_may_build(tmp_path: Path) -> None:
    directory = SnapshotDirectory(tmp_path / "new" / "snapshots")
    with directory.building() as first, directory.building() as second:
        assert (first, second) == (True, False)
    with directory.building() as again:
        assert again
