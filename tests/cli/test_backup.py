"""A backup is the whole catalogue of one moment; a restore brings it back, or changes nothing.

``MAPSHELF_BACKUP_ROUNDS=100 pytest tests/cli/test_backup.py -k under_writes -s`` makes more backups
under writes than the default, and prints what they contained.
"""

import fcntl
import os
import random
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NoReturn

import apsw
import pytest

from mapshelf.cli import main
from mapshelf.metrics.exposition import expose
from mapshelf.metrics.overview import look
from mapshelf.model import HOUR, MapDraft, Visit, VisitKind
from mapshelf.settings import snapshots_folder, sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.manifest import read_manifest
from mapshelf.store import Store, open_store, restoring
from mapshelf.store.sqlite import migrations
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from mapshelf.tokens import token_digest
from tests.cli.process import Mapshelf, serving, wait_for
from tests.harness import Shelf
from tests.metrics.exposed import Exposed, parse
from tests.store.child import acknowledged, start
from tests.store.drafts import outline

ROUNDS = int(os.environ.get("MAPSHELF_BACKUP_ROUNDS", "3"))
ROUNDS_OF_A_CATALOGUE = 10
"""Rounds before the catalogue begins anew: it grows with each."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a catalogue of two maps."""
    folder = tmp_path / "data"
    with closing(open_store(sqlite_url(folder))) as store:
        put(store, "Soil", "Water")
    return folder


@pytest.fixture
def backup(data: Path, tmp_path: Path) -> Path:
    """A backup of the catalogue in ``data``."""
    file = tmp_path / "file"
    assert main(["backup", str(file), "--data", str(data)]) == 0
    return file


def put(store: Store, *titles: str) -> None:
    outcomes = store.put_maps([MapDraft(title=title, outline=outline(title)) for title in titles])
    assert all(outcome.id for outcome in outcomes)


def titles(data: Path) -> set[str]:
    with closing(open_store(sqlite_url(data), create=False)) as store:
        return {found.title for found in store.maps(0, 100)}


def restore(file: Path, data: Path) -> int:
    return main(["restore", str(file), "--data", str(data)])


def refusal(file: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Try to restore, which must fail with one line and change nothing; return the line."""
    before = {path: path.read_bytes() for path in data.glob("catalogue*")}
    capsys.readouterr()
    assert restore(file, data) == 1
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    assert titles(data) == {"Soil", "Water"}
    assert not [
        path for path in data.iterdir() if path.name.startswith(("before", "catalogue.db."))
    ]
    assert before.keys() <= set(data.iterdir())
    return line


def test_the_result_of_the_last_backup_is_shown(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> tuple[str, Exposed]:
        capsys.readouterr()
        assert main(["status", "--data", str(data)]) == 0
        shown = " ".join(capsys.readouterr().out.split())  # long texts are wrapped
        line = shown.partition(" backup ")[2].partition(" disk ")[0]
        return line, parse(expose(look(data, None)).decode())

    line, metrics = told()
    assert "none made by Mapshelf" in line
    assert metrics.value("backup_failing") == 0
    assert "mapshelf_backup_last_success_timestamp_seconds" not in metrics.types

    began = int(time.time())
    assert main(["backup", str(tmp_path / "file"), "--data", str(data)]) == 0
    line, metrics = told()
    assert "made 0 seconds ago" in line or "made 1 seconds ago" in line
    assert metrics.value("backup_last_success_timestamp_seconds") >= began
    assert metrics.value("backup_bytes") == (tmp_path / "file").stat().st_size

    assert main(["backup", str(tmp_path / "file"), "--data", str(data)]) == 1  # it exists
    line, metrics = told()
    assert "failing for" in line
    assert "already exists" in line
    assert metrics.value("backup_failing") == 1
    assert metrics.value("backup_last_success_timestamp_seconds") >= began

    assert main(["backup", str(tmp_path / "another"), "--data", str(data)]) == 0
    line, metrics = told()
    assert "failing" not in line
    assert metrics.value("backup_failing") == 0


# -- making a backup ----------------------------------------------------------------------------


def test_a_backup_is_one_private_file_with_its_checksum(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "backups" / "file"
    file.parent.mkdir()

    assert main(["backup", str(file), "--data", str(data)]) == 0

    digest = sha256(file.read_bytes()).hexdigest()
    said = capsys.readouterr().out
    assert said.startswith(f"backed up 2 maps, revision 2, to {file} (")
    assert said.endswith(f"its SHA-256 is {digest}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    with closing(apsw.Connection(str(file), apsw.SQLITE_OPEN_READONLY)) as database:
        assert database.execute("SELECT count(*) FROM maps").fetchall() == [(2,)]


def test_a_backup_contains_no_data_about_visitors(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    with closing(open_store(sqlite_url(data))) as store:
        salt = store.visitor_salt(1)
        store.count_visits([Visit(b"visitor's key 16", 1, VisitKind.VIEW, 5)], 5 * HOUR, 9)
        assert main(["backup", str(file), "--data", str(data)]) == 0
        assert salt == store.visitor_salt(1)
    whole = file.read_bytes()
    assert salt not in whole
    assert b"visitor's key 16" not in whole


def test_no_file_is_overwritten(
    data: Path, backup: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = backup.read_bytes()
    assert main(["backup", str(backup), "--data", str(data)]) == 1
    assert "already exists" in capsys.readouterr().err
    assert backup.read_bytes() == before


def test_a_name_that_sqlite_cannot_open_is_refused(
    data: Path, backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = tmp_path / "\udcff"
    assert main(["backup", str(name), "--data", str(data)]) == 1
    assert "needs a UTF-8 name" in capsys.readouterr().err
    backup.rename(name)
    assert restore(name, data) == 0


def test_a_backup_is_made_in_a_folder_behind_a_link(data: Path, tmp_path: Path) -> None:
    (tmp_path / "disk" / "backups").mkdir(parents=True)
    (tmp_path / "link").symlink_to("disk")
    file = tmp_path / "link" / "backups" / "file"
    assert main(["backup", str(file), "--data", str(data)]) == 0
    assert restore(file, data) == 0


def test_two_backups_do_not_write_the_same_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    other = file.with_name("file.unfinished")
    other.write_bytes(b"left behind, or being written")
    with other.open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        assert main(["backup", str(file), "--data", str(data)]) == 1
        assert "another backup" in capsys.readouterr().err
        assert other.stat().st_size
    assert main(["backup", str(file), "--data", str(data)]) == 0
    assert not other.exists()


def test_a_file_of_somebody_else_does_not_become_a_backup(data: Path, tmp_path: Path) -> None:
    """In a folder like ``/tmp``, others may have put a file where the backup begins."""
    file, precious = tmp_path / "file", tmp_path / "precious"
    precious.write_text("precious")
    file.with_name("file.unfinished").hardlink_to(precious)
    with precious.open("rb") as theirs:
        assert main(["backup", str(file), "--data", str(data)]) == 0
        assert theirs.read() == b"precious"
    assert file.stat().st_nlink == 1


def test_a_full_disk_is_not_filled(
    data: Path,
    tmp_path: Path,
    backup: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert main(["backup", str(tmp_path / "other"), "--data", str(data)]) == 1
    assert "is too full" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == [data, backup]
    assert "is too full" in refusal(backup, data, capsys)


def test_a_damaged_catalogue_is_not_backed_up(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (data / "catalogue.db").open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xa5" * 4096 * 20)
    assert main(["backup", str(tmp_path / "file"), "--data", str(data)]) == 1
    assert "damaged" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [data]


def test_no_backup_is_made_without_a_catalogue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "file"), "--data", str(tmp_path / "data")]) == 1
    assert "there is no catalogue in" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["backup", "file"], "pg_dump"),
        (["restore", "file"], "pg_restore"),
        (["serve", "--backup-dir", "folder"], "pg_dump"),
    ],
)
def test_backups_of_postgresql_need_its_own_tools(
    tmp_path: Path, words: list[str], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", str(tmp_path), "--database", "postgresql://nowhere/maps"]
    assert main([*words, *where]) == 2
    assert f"use {instead}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# -- restoring a backup -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_restore_brings_back_the_backup_and_keeps_the_old_catalogue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file = tmp_path / "data", tmp_path / "file"
    with closing(Shelf(data, sqlite_url(data))) as shelf:
        put(shelf.store, "Soil", "Water")
        good, stolen, session = shelf.token(), shelf.token(), shelf.session()
        assert main(["backup", str(file), "--data", str(data)]) == 0
        put(shelf.store, "Fire")
        identity, version = shelf.store.identity(), shelf.store.tokens_version()
        shelf.store.revoke_token(shelf.store.tokens("reader")[1].id)
    capsys.readouterr()

    assert restore(file, data) == 0

    out, err = capsys.readouterr()
    done, kept = out.splitlines()
    aside = Path(kept.removeprefix("the former catalogue is now in "))
    assert done == "restored 2 maps, revision 2"
    assert "sign in again" in err
    assert titles(data) == {"Soil", "Water"}
    assert titles(aside) == {"Soil", "Water", "Fire"}
    assert stat.S_IMODE((data / "catalogue.db").stat().st_mode) == 0o600
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    with closing(open_store(sqlite_url(data))) as store:
        known = store.find_credentials([*map(token_digest, (good, stolen, session))])
        assert {digest: found.token.revoked is None for digest, found in known.items()} == {
            token_digest(good): True,
            token_digest(stolen): False,  # what was revoked meanwhile
        }
        assert store.identity() != identity
        assert store.tokens_version() != version
        put(store, "Air")
        assert max(found.file_id for found in store.maps(0, 9)) == 4, "3 was used before"
    assert main(["check", "--data", str(data)]) == 0
    again = tmp_path / "again"
    assert main(["backup", str(again), "--data", str(aside)]) == 0
    assert restore(again, data) == 0
    assert titles(data) == {"Soil", "Water", "Fire"}


def test_a_restore_needs_no_catalogue_that_is_there(
    backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert restore(backup, tmp_path / "new" / "data") == 0
    assert capsys.readouterr().out == "restored 2 maps, revision 2\n"
    assert titles(tmp_path / "new" / "data") == {"Soil", "Water"}


@pytest.mark.slow
def test_old_snapshots_are_not_used_for_the_restored_catalogue(data: Path, backup: Path) -> None:
    """Revisions go back, and later reach the revision of the old snapshot again."""
    directory = SnapshotDirectory(snapshots_folder(data))
    with closing(open_store(sqlite_url(data))) as store:
        put(store, "Fire", "Earth")
        with directory.building(), closing(Builder(store, directory)) as builder:
            builder.advance()
    kept = data.with_name("kept")
    shutil.copytree(directory.path, kept)

    assert restore(backup, data) == 0
    assert not directory.has_current()

    shutil.rmtree(directory.path)
    kept.rename(directory.path)  # as if it was put back, or another node had it
    assert main(["check", "--data", str(data)]) == 1
    with closing(open_store(sqlite_url(data))) as store:
        put(store, "Air", "Light", "Sound")
        with directory.building(), closing(Builder(store, directory)) as builder:
            builder.advance()
    assert read_manifest(directory.folder(directory.current()))["maps"] == 5
    assert main(["check", "--data", str(data)]) == 0


def insert_user(database: apsw.Connection, name: str, now: int) -> None:
    """Add a user with the columns of the first version."""
    query = "INSERT INTO users (name, name_key, registered) VALUES (?, ?, ?)"
    database.execute(query, (name, name, now))


def test_a_backup_of_an_older_version_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, file = tmp_path / "old", tmp_path / "file"
    old.mkdir()
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:-1])
    monkeypatch.setattr(migrations, "insert_user", insert_user)
    SQLiteStore(old / "catalogue.db").close()
    monkeypatch.undo()
    with closing(apsw.Connection(str(old / "catalogue.db"))) as database:
        ann = "INSERT INTO users (name, name_key, registered) VALUES ('Ann', 'ann', 5)"
        database.execute(ann)
    before = (old / "catalogue.db").read_bytes()

    assert main(["backup", str(file), "--data", str(old)]) == 0
    assert (old / "catalogue.db").read_bytes() == before, (
        "a backup must not migrate the old database"
    )
    assert restore(file, tmp_path / "new") == 0
    with closing(open_store(sqlite_url(tmp_path / "new"), create=False)) as store:
        assert [user.name for user in store.users()] == ["system", "Ann"]
        assert store.check() == []


@pytest.mark.slow
def test_backups_of_all_versions_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their schemas are compared with what the migrations of their version make."""
    scripts = migrations.MIGRATIONS
    for had in range(1, len(scripts) + 1):
        old, file = tmp_path / f"old{had}", tmp_path / f"file{had}"
        old.mkdir()
        monkeypatch.setattr(migrations, "MIGRATIONS", scripts[:had])
        monkeypatch.setattr(migrations, "insert_user", insert_user)
        SQLiteStore(old / "catalogue.db").close()
        monkeypatch.undo()
        with closing(apsw.Connection(str(old / "catalogue.db"))) as database:
            database.execute("ANALYZE")  # an operator may have done that
        assert main(["backup", str(file), "--data", str(old)]) == 0
        assert restore(file, old) == 0
        assert main(["check", "--data", str(old)]) == 0


def test_a_damaged_catalogue_is_replaced_and_kept_with_its_log(data: Path, backup: Path) -> None:
    (data / "catalogue.db").write_bytes(b"no database " * 1000)
    (data / "catalogue.db-wal").write_bytes(b"log")
    assert restore(backup, data) == 0
    assert titles(data) == {"Soil", "Water"}
    (aside,) = data.glob("before-restore-*")
    assert (aside / "catalogue.db").read_bytes().startswith(b"no database")
    assert (aside / "catalogue.db-wal").read_bytes() == b"log"


def test_restoring_after_a_newer_version(
    data: Path, backup: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in ``docs/upgrading.md``: a newer catalogue is refused, put aside, and replaced."""
    with closing(apsw.Connection(str(data / "catalogue.db"))) as database:
        newer(database)
    migrated = (data / "catalogue.db").read_bytes()
    capsys.readouterr()
    assert main(["check", "--data", str(data)]) == 1
    assert "newer version" in capsys.readouterr().err
    assert (data / "catalogue.db").read_bytes() == migrated
    assert restore(backup, data) == 0
    assert titles(data) == {"Soil", "Water"}
    (aside,) = data.glob("before-restore-*")
    assert (aside / "catalogue.db").exists()


# -- refusals that change nothing ----------------------------------------------------------------


LAST_LINE: Final = b"\nmapshelf backup 1, SHA-256 %s\n"
"""What a backup has after the database; ``%s`` is the checksum of the database."""


def with_line(database: bytes) -> bytes:
    """Return a database followed by the last line of a valid backup."""
    return database + LAST_LINE % sha256(database).hexdigest().encode()


def foreign(database: apsw.Connection) -> None:
    database.execute("PRAGMA application_id = 7")


def emptied(database: apsw.Connection) -> None:
    database.execute("DELETE FROM sequence")


def newer(database: apsw.Connection) -> None:
    database.execute(f"PRAGMA user_version = {len(migrations.MIGRATIONS) + 1}")


def doing(*statements: str) -> Callable[[bytes, Path], bytes]:
    """Return a function that forges a backup in whose database these statements were executed."""

    def change(database: apsw.Connection) -> None:
        for statement in statements:
            database.execute(statement)

    return lambda whole, folder: changed(change, whole, folder)


def changed(change: Callable[[apsw.Connection], None], whole: bytes, folder: Path) -> bytes:
    path = folder / "changed.db"
    path.write_bytes(whole[: -len(LAST_LINE % bytes(64))])
    with closing(apsw.Connection(str(path))) as database:
        change(database)
    return with_line(path.read_bytes())


def flipped(whole: bytes, place: int) -> bytes:
    return whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda whole, _: b"", "it is not a backup"),
        (lambda whole, _: b"To whom it may concern " * 100, "it is not a backup"),
        (lambda whole, _: whole[: len(whole) // 2], "it is cut off"),
        (lambda whole, _: whole[:-1], "it is cut off"),
        (lambda whole, _: whole + b"\n", "it is cut off"),
        (lambda whole, _: flipped(whole, len(whole) // 2), "its checksum is wrong"),
        (lambda whole, _: flipped(whole, len(whole) - 9), "its checksum is wrong"),
        (lambda whole, _: whole[4096:], "its checksum is wrong"),
        (lambda whole, _: with_line(b"no database " * 1000), "damaged"),
        (lambda whole, _: with_line(b""), "damaged"),
        (lambda whole, _: with_line(whole[: 4096 * 5]), "damaged"),
        (lambda whole, folder: changed(foreign, whole, folder), "something other than a catalogue"),
        (lambda whole, folder: changed(newer, whole, folder), "a newer version of Mapshelf"),
        (lambda whole, folder: changed(emptied, whole, folder), "its tables are damaged"),
        (
            doing("CREATE TRIGGER back AFTER INSERT ON audit BEGIN DELETE FROM tokens; END"),
            "it has the trigger 'back', which Mapshelf did not make",
        ),
        (doing("CREATE VIEW people AS SELECT 1"), "it has the view 'people'"),
        (doing("DROP TRIGGER roles_changed"), "it lacks the trigger roles_changed"),
        (
            doing("ALTER TABLE users ADD COLUMN more TEXT AS ('x')"),
            "the table 'users' is not as Mapshelf made it",
        ),
        (
            doing(
                "DROP TRIGGER roles_changed",
                "CREATE TRIGGER roles_changed AFTER UPDATE OF role ON users"
                " BEGIN DELETE FROM tokens; END",
            ),
            "the trigger 'roles_changed' is not as Mapshelf made it",
        ),
        (
            doing(
                "CREATE TABLE x (a)",
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET name = CAST(x'ff' AS TEXT) WHERE name = 'x'",
            ),
            "damaged",
        ),
    ],
    ids=range(20),
)
def test_damaged_backups_are_refused(
    backup: Path,
    made: Callable[[bytes, Path], bytes],
    reason: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, data = backup.with_name("other"), backup.with_name("data")
    file.write_bytes(made(backup.read_bytes(), backup.parent))
    line = refusal(file, data, capsys)
    assert line.startswith(f"mapshelf: {file} cannot be restored: ")
    assert reason in line


def test_paths_that_are_not_files_are_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refusal(tmp_path / "pipe", data, capsys)
    assert "is not a file" in refusal(tmp_path, data, capsys)
    assert "No such file" in refusal(tmp_path / "none", data, capsys)


def test_a_catalogue_in_use_is_not_replaced(
    data: Path, backup: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (data / "serve.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        line = refusal(backup, data, capsys)
    assert line == (
        f"mapshelf: mapshelf serve uses the data folder {data}: stop it first, then restore"
    )
    monkeypatch.setattr("mapshelf.store.sqlite.copies.OTHERS_AWAITED", 1)
    with closing(open_store(sqlite_url(data))):
        assert "uses the catalogue" in refusal(backup, data, capsys)
    assert restore(backup, data) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("linked", [True, False])
def test_a_restore_by_root_keeps_the_owner_of_the_files(
    data: Path, backup: Path, linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not linked:
        monkeypatch.setattr(os, "link", lambda *_, **__: full())
    (data / "serve.lock").unlink(missing_ok=True)
    for path in (data, *data.rglob("*")):
        os.chown(path, 12345, 12346)
    assert restore(backup, data) == 0
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (data, *data.rglob("*"))}
    assert owners == {(12345, 12346)}
    assert len(list(data.glob("before-restore-*/catalogue.db"))) == 1

    for path in data.glob("catalogue.db*"):
        path.unlink()
    assert restore(backup, data) == 0  # without an old database, the owner is that of the folder
    assert (data / "catalogue.db").stat().st_uid == 12345


def test_a_restore_replaces_the_database_behind_a_link(
    data: Path, backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk, database = tmp_path / "disk", data / "catalogue.db"
    disk.mkdir()
    with closing(open_store(sqlite_url(data))) as store:
        put(store, "Fire")
    database.rename(disk / "maps.db")
    database.symlink_to("../disk/maps.db")
    capsys.readouterr()

    assert restore(backup, data) == 0

    aside = Path(capsys.readouterr().out.splitlines()[1].partition(" is now in ")[2])
    assert aside.parent == disk
    assert titles(aside) == {"Soil", "Water", "Fire"}
    assert database.readlink() == Path("../disk/maps.db")
    assert titles(data) == {"Soil", "Water"}
    assert not list(data.glob("before-restore-*"))


def test_a_restore_is_refused_while_the_disk_behind_a_link_is_missing(
    data: Path, backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "catalogue.db").unlink()
    (data / "catalogue.db").symlink_to(tmp_path / "disk" / "maps.db")
    assert restore(backup, data) == 1
    assert "it is a link to" in capsys.readouterr().err
    assert not (tmp_path / "disk").exists()


def full(*_: object) -> NoReturn:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["pieces_of_copy", "make_successor"])
def test_a_restore_that_fails_half_way(
    data: Path,
    backup: Path,
    step: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(restoring, step, full)
    assert refusal(backup, data, capsys).endswith("cannot be replaced: No space left on device")


def test_a_restore_that_cannot_keep_the_old_catalogue(
    data: Path, backup: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def full_for_old_ones(path: Path, mode: int = 0o777, **given: bool) -> None:
        if path.name.startswith("before-restore-"):
            full()
        make(path, mode, **given)

    monkeypatch.setattr(Path, "mkdir", full_for_old_ones)
    assert refusal(backup, data, capsys).endswith("cannot be replaced: No space left on device")


# -- under writes, and with a service -----------------------------------------------------------


class Told:
    """The acknowledged writes of a writer, as far as they were read."""

    def __init__(self, reports: Iterator[dict[str, Any]]) -> None:
        self._queue: SimpleQueue[dict[str, Any]] = SimpleQueue()
        Thread(target=self._take, args=(reports,), daemon=True).start()

    def _take(self, reports: Iterator[dict[str, Any]]) -> None:
        for one in reports:
            self._queue.put(one)

    def wait(self, count: int) -> None:
        """Wait until ``count`` writes are acknowledged."""
        wait_for(lambda: self._queue.qsize() >= count)

    def so_far(self) -> list[dict[str, Any]]:
        return [self._queue.get() for _ in range(self._queue.qsize())]


@pytest.mark.process
def test_nothing_acknowledged_before_a_backup_under_writes_is_missing(tmp_path: Path) -> None:
    dice, checked = random.Random(17), 0
    for number in range(ROUNDS):
        live = tmp_path / f"live {number // ROUNDS_OF_A_CATALOGUE}"
        file, data = tmp_path / f"{number}.backup", tmp_path / f"restored {number}"
        open_store(sqlite_url(live)).close()
        with start(sqlite_url(live), number, 10**6) as writer:
            told = Told(acknowledged(writer))
            told.wait(dice.randrange(1, 40))
            before = told.so_far()
            assert main(["backup", str(file), "--data", str(live)]) == 0
            assert writer.poll() is None, "the writer must still run"
            writer.kill()
        assert restore(file, data) == 0
        assert main(["check", "--data", str(data)]) == 0
        with closing(open_store(sqlite_url(data))) as store:
            prove(store, before)
        checked += len(before)
        shutil.rmtree(data)
        file.unlink()
    print(f"{ROUNDS} backups restored, {checked} writes acknowledged before them")


def prove(store: Store, reports: list[dict[str, Any]]) -> None:
    """Check that the writes are there, unless later ones of the same writer undid them."""
    found = {one.id: one for one in store.maps(0, 10**9)}
    changes = store.changes(0, 10**9)
    assert changes[-1].revision == store.revision()
    deleted = {change.file_id for change in changes if change.map is None}
    lost = 0
    for report in reports:
        match report["kind"]:
            case "put":
                lost += sum(one not in found for one in report["ids"])
            case "change":
                assert found[report["id"]].views >= report["views"]
            case "token":
                digest = report["digest"].encode()
                assert digest in store.find_credentials([digest])
            case "upload":
                assert found[report["id"]].title == report["title"]
            case "vote":
                assert found[report["id"]].thumbs_up + found[report["id"]].thumbs_down == 1
    assert lost <= len(deleted)


@pytest.mark.process
def test_a_service_is_backed_up_while_it_runs_and_shows_what_was_restored(tmp_path: Path) -> None:
    mapshelf, folder, log = Mapshelf(tmp_path / "data"), tmp_path / "backups", tmp_path / "log"
    token = mapshelf.token()
    with closing(mapshelf.store()) as store:
        put(store, "Soil", "Water")
    with (
        log.open("wb") as stream,
        serving(mapshelf, "--backup-dir", folder, token=token, log=stream) as service,
    ):
        service.wait_until_ready()
        wait_for(lambda: "backed up 2 maps" in log.read_text())
        (file,) = folder.glob("*.backup")
        with closing(mapshelf.store()) as store:
            put(store, "Fire")
        wait_for(lambda: service.total() == 3)
        mapshelf.run("backup", tmp_path / "file")
        done = mapshelf.run("restore", file, expect=1)
        assert "stop it first" in done.stderr

    mapshelf.run("restore", file)
    with serving(mapshelf, token=token) as service:
        service.wait_until_ready()
        assert service.total() == 2
    mapshelf.run("restore", tmp_path / "file")
    assert titles(mapshelf.data) == {"Soil", "Water", "Fire"}
    assert mapshelf.run("check").stderr == ""
    assert "Traceback" not in log.read_text()
