"""Files that are newer than a backup are not published by restoring it, unless they were before.

The folders do not go back with the catalogue, so the restored one does not know these files.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from mapshelf.cli import main
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.model import Map, MapDetails, MapDraft, Visibility
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.tables import Row
from tests.importer.test_former_places import PUBLISHED, shown, visibility_of
from tests.importer.test_lost_files import make_private, map_of, old_map

pytestmark = pytest.mark.process


class Served:
    """A folder, and a catalogue that follows it now and then."""

    def __init__(self, place: Path, reader: SandboxedReader) -> None:
        self.folder = place / "maps"
        self.data = place / "data"
        self._reader = reader

    def file(self, name: str, title: str, seconds: int = 0) -> Path:
        return old_map(self.folder / name, title, seconds)

    @contextmanager
    def synchronized(self) -> Iterator[Store]:
        """Open the catalogue after it has seen all changes of the folder."""
        with closing(open_store(sqlite_url(self.data))) as store:
            synchronization = FolderSync(store, self._reader, [self.folder])
            while synchronization.sync():
                pass
            yield store

    def synchronize(self) -> None:
        with self.synchronized():
            pass

    def back_up(self, name: str = "backup") -> Path:
        file = self.data.with_name(name)
        assert main(["backup", str(file), "--data", str(self.data)]) == 0
        return file

    def restore(self, file: Path) -> None:
        assert main(["restore", str(file), "--data", str(self.data)]) == 0
        assert main(["check", "--data", str(self.data)]) == 0


@pytest.fixture
def served(tmp_path: Path, reader: SandboxedReader) -> Served:
    """One with a published map that stays."""
    served = Served(tmp_path, reader)
    served.file("keep.mm", "Keep")
    served.synchronize()
    return served


def found(store: Store, path: Path) -> Map:
    one = map_of(store, path)
    assert one
    return one


def unchanged(file: Path) -> Path:
    return file


def edited(file: Path) -> Path:
    return old_map(file, "Secret, edited", 5)


def renamed(file: Path) -> Path:
    return file.rename(file.with_name("renamed.mm"))


def copied(file: Path) -> Path:
    return Path(shutil.copy2(file, file.with_name("copy.mm")))


@pytest.mark.parametrize(
    ("visibility", "change"),
    [
        (Visibility.PRIVATE, unchanged),
        (Visibility.UNLISTED, edited),
        (Visibility.PRIVATE, renamed),
        (Visibility.PRIVATE, copied),
    ],
)
def test_a_file_that_is_newer_than_the_backup_is_as_hidden_as_it_was(
    served: Served, visibility: Visibility, change: Callable[[Path], Path]
) -> None:
    """Even if it changes before it is looked for."""
    with served.synchronized() as store:
        store.add_user("ann")
    backup = served.back_up()
    file = served.file("new.mm", "Secret")
    with served.synchronized() as store:
        before = store.edit_map(found(store, file).file_id, MapDetails(visibility=visibility))
        store.put_maps([MapDraft(id=before.id, owner="ann")])
    served.restore(backup)
    now = change(file)
    with served.synchronized() as store:
        assert visibility_of(store, now) is visibility
        assert shown(store) == {"Keep"}
        if change is not copied:
            known = found(store, now)
            assert (known.id, known.file_id, known.owner) == (before.id, before.file_id, "ann")
        store.edit_map(found(store, now).file_id, PUBLISHED)
    old_map(now, "Public", 9)
    with served.synchronized() as store:
        assert "Public" in shown(store), "somebody has decided so"


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_was_removed_is_private_after_a_restore(served: Served, times: int) -> None:
    backup = served.back_up()
    file = served.file("new.mm", "Secret")
    with served.synchronized() as store:
        administrator = store.add_user("admin")
        store.remove_map(found(store, file).file_id, administrator.id)
    for _ in range(times):
        served.restore(backup)
    with served.synchronized() as store:
        assert visibility_of(store, file) is Visibility.PRIVATE
        assert found(store, file).owner == "system"


def test_a_private_map_is_found_under_the_new_name_of_its_file(served: Served) -> None:
    """Whatever it contains, and its former place counts as one."""
    file = served.file("draft.mm", "Draft")
    with served.synchronized() as store:
        before = make_private(store, file)
    backup = served.back_up()
    now = file.rename(file.with_name("final.mm"))
    served.synchronize()
    old_map(now, "Final", 5)
    with served.synchronized() as store:
        assert found(store, now).id == before.id
    served.restore(backup)
    served.file("draft.mm", "Back with its disk", 6)
    with served.synchronized() as store:
        assert (found(store, now).id, found(store, now).title) == (before.id, "Final")
        assert shown(store) == {"Keep"}


@pytest.mark.parametrize("title", ["Draft", "Final"])
def test_a_map_that_was_made_private_and_renamed_is_not_published(
    served: Served, title: str
) -> None:
    file = served.file("draft.mm", "Draft")
    served.synchronize()
    backup = served.back_up()
    now = file.rename(file.with_name("final.mm"))
    with served.synchronized() as store:
        make_private(store, now)
    old_map(now, title)
    served.synchronize()
    served.restore(backup)
    with served.synchronized() as store:
        assert visibility_of(store, now) is Visibility.PRIVATE
        assert shown(store) == {"Keep"}


@pytest.mark.parametrize("older_first", [False, True])
def test_a_public_map_does_not_get_the_private_file_that_took_its_place(
    served: Served, older_first: bool
) -> None:
    """If an older backup is restored first, only a catalogue that was kept knows about that."""
    older = [served.back_up("older")] if older_first else []
    public, private = served.file("a.mm", "Public"), served.file("b.mm", "Secret", 1)
    with served.synchronized() as store:
        hidden, seen = make_private(store, private), found(store, public)
    backup = served.back_up()
    aside = public.rename(served.folder / "c.mm")
    served.synchronize()
    private.rename(public)
    served.synchronize()
    old_map(public, "Secret, edited", 5)
    with served.synchronized() as store:
        assert found(store, public).id == hidden.id
    for file in (*older, backup):
        served.restore(file)
    with served.synchronized() as store:
        assert found(store, public).id == hidden.id
        assert found(store, aside).id == seen.id
        assert shown(store) == {"Keep", "Public"}


def test_a_former_place_counts_after_a_restore(served: Served) -> None:
    backup = served.back_up()
    file = served.file("new.mm", "Secret")
    with served.synchronized() as store:
        make_private(store, file)
    moved = renamed(file)
    served.synchronize()
    served.restore(backup)
    served.file("new.mm", "Secret, from a disk", 5)
    with served.synchronized() as store:
        assert visibility_of(store, moved) is Visibility.PRIVATE
        assert shown(store) == {"Keep"}


@pytest.mark.parametrize("synchronize", [True, False])
def test_an_older_backup_may_be_restored_first(served: Served, synchronize: bool) -> None:
    older = served.back_up("older")
    file = served.file("first.mm", "First")
    with served.synchronized() as store:
        make_private(store, file)
    newer = served.back_up("newer")
    now = file.rename(file.with_name("renamed.mm"))
    served.synchronize()
    old_map(now, "First, edited", 5)
    new = served.file("second.mm", "Second")
    with served.synchronized() as store:
        make_private(store, new)
    served.restore(older)
    if synchronize:
        with served.synchronized() as store:
            assert shown(store) == {"Keep"}
    served.restore(newer)
    with served.synchronized() as store:
        assert shown(store) == {"Keep"}
        assert visibility_of(store, now) is visibility_of(store, new) is Visibility.PRIVATE


def test_a_catalogue_from_before_the_backup_does_not_move_maps(served: Served) -> None:
    file = served.file("draft.mm", "Draft")
    with served.synchronized() as store:
        before = make_private(store, file)
    shutil.copy(served.data / "catalogue.db", served.data.with_name("older.db"))
    now = renamed(file)
    served.synchronize()
    old_map(now, "Draft, edited", 5)
    served.synchronize()
    backup = served.back_up()
    shutil.copy(served.data.with_name("older.db"), served.data / "catalogue.db")
    served.restore(backup)
    with served.synchronized() as store:
        assert found(store, now).id == before.id
        assert visibility_of(store, now) is Visibility.PRIVATE
        assert shown(store) == {"Keep"}


def test_what_the_backup_knows_is_as_visible_as_it_was(served: Served) -> None:
    """Even if another catalogue, in which everything was private, was made meanwhile."""
    backup = served.back_up()
    shutil.rmtree(served.data)
    new = served.file("new.mm", "Secret")
    with served.synchronized() as store:
        make_private(store, served.folder / "keep.mm")
        make_private(store, new)
    served.restore(backup)
    with served.synchronized() as store:
        assert shown(store) == {"Keep"}
        assert visibility_of(store, new) is Visibility.PRIVATE


def test_a_damaged_catalogue_tells_what_can_be_read(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = served.back_up()
    files = [served.file(f"{number}.mm", f"Secret {number}", number) for number in range(3)]
    with served.synchronized() as store:
        for file in files:
            make_private(store, file)
    catalogue = served.data / "catalogue.db"
    with closing(apsw.Connection(str(catalogue))) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("UPDATE maps SET visibility = 'hidden' WHERE title = 'Secret 1'")
        damaged = ("former_places", "sources_map", "sources_digest", "sqlite_autoindex_sources_1")
        rows: list[Row] = database.execute("SELECT name, rootpage FROM sqlite_schema").fetchall()
        pages = [page for name, page in rows if name in damaged]
        size = int(str(database.pragma("page_size")))
    with catalogue.open("r+b") as whole:
        for page in pages:
            whole.seek((page - 1) * size)
            whole.write(b"\xa5" * size)
    assert len(pages) == len(damaged)
    capsys.readouterr()
    served.restore(backup)
    assert "newer than the backup may be published" in capsys.readouterr().err
    with served.synchronized() as store:
        assert [visibility_of(store, file) for file in files] == [Visibility.PRIVATE] * 3
        assert shown(store) == {"Keep"}


def test_a_file_on_a_disk_that_is_away_stays_private(served: Served) -> None:
    backup = served.back_up()
    file = served.file("disk/new.mm", "Secret")
    with served.synchronized() as store:
        make_private(store, file)
    disk = file.parent.rename(served.folder.with_name("disk"))
    file.parent.mkdir()
    served.synchronize()
    served.restore(backup)
    with served.synchronized() as store:
        assert shown(store) == {"Keep"}
    os.rmdir(file.parent)
    disk.rename(file.parent)
    with served.synchronized() as store:
        assert visibility_of(store, file) is Visibility.PRIVATE


def test_what_a_restore_knows_of_files_is_said(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = "newer than the backup may be published"
    older = served.back_up("older")
    served.file("new.mm", "New")
    served.synchronize()
    newer = served.back_up("newer")
    capsys.readouterr()
    served.restore(older)
    assert unknown not in capsys.readouterr().err
    secret = served.file("secret.mm", "Secret")
    with served.synchronized() as store:
        make_private(store, secret)  # its map is added to the copy, which changes its revision
    served.restore(newer)
    assert unknown not in capsys.readouterr().err, "the catalogue that was kept knows them"
    for kept in served.data.glob("before-restore-*"):
        shutil.rmtree(kept)
    served.restore(older)
    capsys.readouterr()
    for kept in served.data.glob("before-restore-*"):
        shutil.rmtree(kept)
    served.restore(newer)
    assert unknown in capsys.readouterr().err
    shutil.rmtree(served.data)
    served.restore(newer)
    assert unknown in capsys.readouterr().err
