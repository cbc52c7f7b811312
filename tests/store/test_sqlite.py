"""Tests of the SQLite store only: durability, foreign files, damage, locks, migrations."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from mapshelf.accounts.attempt_limits import AttemptLimit
from mapshelf.clock import milliseconds
from mapshelf.errors import (
    AlreadyExists,
    InvalidSetting,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    TooManyAttempts,
)
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DAY,
    HOUR,
    MapDraft,
    OutdatedMap,
    PasswordRecord,
    Role,
    TokenKind,
    User,
    Visit,
    VisitKind,
)
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store, scripts, seed
from mapshelf.store.map_collections import LISTED, OF_OWNER
from mapshelf.store.sqlite import change_feed, migrations
from mapshelf.store.sqlite import connection as sqlite_connection
from mapshelf.store.sqlite.change_feed import GONE, SQLiteChangeFeed
from mapshelf.store.sqlite.database import Database
from mapshelf.store.sqlite.links import FILE_NAME
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.disks import mounted
from tests.store.child import ROOT, command
from tests.store.drafts import outline, source


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalogue.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


def fill(store: SQLiteStore, count: int = 200) -> None:
    drafts = [MapDraft(title=f"t{n}", outline=outline(str(n) * 50)) for n in range(count)]
    assert all(outcome.id for outcome in store.put_maps(drafts))


def raw(path: Path, *statements: str) -> None:
    """Run statements on a database over a connection without our settings."""
    database = apsw.Connection(str(path))
    for statement in statements:
        database.execute(statement)
    database.close()


# -- durability -------------------------------------------------------------------------------


def test_both_connections_are_durable(path: Path) -> None:
    both = Database(path, milliseconds, create=True)
    for connection in (both.writer, both.reader):
        with connection.locked() as database:
            assert database.pragma("journal_mode") == "wal"
            assert database.pragma("synchronous") == 2  # FULL
            assert database.pragma("foreign_keys") == 1
    both.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_every_commit_is_synced(tmp_path: Path) -> None:
    """FULL has an effect: the kernel is asked to sync the log at each commit."""
    trace = tmp_path / "trace"
    url = sqlite_url(tmp_path)
    open_store(url).close()
    strace = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    subprocess.run([*strace, *command(url, 1, 40)], check=True, cwd=ROOT, capture_output=True)
    assert trace.read_text().count("sync(") >= 40


def test_an_old_library_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(InvalidSetting, match=r"3\.51\.2 is too old"):
        SQLiteStore(path)
    assert not path.exists()


def test_a_newer_library_is_accepted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.100.0")
    SQLiteStore(path).close()


# -- addresses and files ----------------------------------------------------------------------


def test_urls(tmp_path: Path) -> None:
    odd = tmp_path / "a %41 ü#?&" / "b"
    open_store(sqlite_url(odd)).close()
    assert (odd / "catalogue.db").is_file()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "catalogue.db",
        "mysql://x/y",
        "sqlite://data/c.db",
        "sqlite:c.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:",
        "sqlite://[x",
        "sqlite:///c.db%00",
        "sqlite:///%ff.db",
        "sqlite:///c.db?mode=ro",
        "sqlite:///c.db#x",
    ],
)
def test_urls_without_a_store_are_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidSetting):
        open_store(url)
    assert list(tmp_path.iterdir()) == []


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "new" / "catalogue.db")
    fill(store, 1)
    modes = {
        found.name: stat.S_IMODE(found.stat().st_mode) for found in (tmp_path / "new").iterdir()
    }
    assert modes == dict.fromkeys(("catalogue.db", "catalogue.db-wal", "catalogue.db-shm"), 0o600)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    store.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("linked", [False, True])
def test_a_database_that_root_creates_belongs_to_the_owner_of_its_folder(
    tmp_path: Path, linked: bool
) -> None:
    """Otherwise the first command, run by root, makes one that the service cannot open."""
    os.chown(tmp_path, 12345, 12346)
    place = tmp_path / "elsewhere.db" if linked else tmp_path / "catalogue.db"
    if linked:
        tmp_path.joinpath("catalogue.db").symlink_to(place)
    with closing(open_store(sqlite_url(tmp_path))) as store:
        store.add_user("ann")
        files = [place, *tmp_path.glob("*.db-*")]
        assert len(files) == 3
        assert {(file.stat().st_uid, file.stat().st_gid) for file in files} == {(12345, 12346)}


def test_a_path_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "catalogue.db"):
        with pytest.raises(StoreUnavailable):
            SQLiteStore(path)


# -- foreign files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE theirs (a)",),
        ("CREATE TABLE theirs (a)", "PRAGMA user_version = 1"),
        ("PRAGMA application_id = 7",),
        ("CREATE TABLE theirs (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"),
        ("PRAGMA user_version = 1",),
    ],
)
def test_a_foreign_database_is_refused_and_left_alone(
    path: Path, statements: tuple[str, ...]
) -> None:
    raw(path, *statements)
    path.chmod(0o644)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="something other than a catalogue"):
        SQLiteStore(path)
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"To whom it may concern " * 100)
    path.chmod(0o644)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged):
        SQLiteStore(path)
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_newer_catalogue_is_refused(path: Path) -> None:
    SQLiteStore(path).close()
    raw(path, f"PRAGMA user_version = {len(migrations.MIGRATIONS) + 1}")
    with pytest.raises(StoreDamaged, match="newer version"):
        SQLiteStore(path)


# -- a clock that was ahead -------------------------------------------------------------------


def test_attempts_that_a_clock_counted_in_the_future_limit_nobody(store: SQLiteStore) -> None:
    limit, now = AttemptLimit(b"k" * 32, 2, TooManyAttempts(5)), milliseconds()
    for _ in range(5):
        limit.note(store, now + 400 * DAY)
    for _ in range(2):
        limit.check(store, now)
        limit.count(store, now)
    for attempt in (limit.check, limit.count):
        with pytest.raises(TooManyAttempts):
            attempt(store, now)
    # The tolerance is for clocks that differ slightly.
    with pytest.raises(TooManyAttempts):
        limit.check(store, now - CLOCK_TOLERANCE)


def replace_scripts(monkeypatch: pytest.MonkeyPatch, read: Callable[[str], str]) -> None:
    for module in (scripts, migrations):
        monkeypatch.setattr(module, "read_script", read)


def test_a_catalogue_with_the_schema_of_another_day_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = scripts.read_script
    replace_scripts(monkeypatch, lambda name: f"{script(name)}CREATE TABLE more{name[-8:-4]} (a);")
    SQLiteStore(path).close()
    monkeypatch.undo()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="development version"):
        SQLiteStore(path)
    assert path.read_bytes() == before


WRITTEN_BEFORE = (
    "INSERT INTO users (name, name_key, registered) VALUES ('Ann', 'ann', 5)",
    "INSERT INTO tokens (user_id, digest, label, scopes, created) VALUES"
    " (2, x'01', '', 'read', 6), (2, x'02', '', '', 7)",
    "INSERT INTO maps (file_id, id, title, description, thumbs_up, thumbs_down, views, downloads,"
    " category_id, category, date_added, owner_id, copyright, template, revision)"
    " VALUES (1, 'a', 't', '', 0, 0, 4, 0, 1, '', 0, 2, '', 0, 1)",
    "UPDATE sequence SET revision = 1, file_id = 1",
)
"""What the first version wrote."""


@pytest.mark.parametrize("had", [1, 4])
def test_a_catalogue_of_a_version_before_is_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch, had: int
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:had])
    monkeypatch.setattr(
        migrations,
        "insert_user",
        lambda database, name, now: database.execute(
            "INSERT INTO users (name, name_key, registered) VALUES (?, ?, ?)", (name, name, now)
        ),
    )
    SQLiteStore(path).close()
    monkeypatch.undo()
    raw(path, *WRITTEN_BEFORE)
    store = SQLiteStore(path)
    (found,) = store.maps(0, 9)
    assert [change.map for change in store.changes(0, 9)] == [found], (
        "maps of older versions count as published"
    )
    store.count_visits([Visit(b"k", found.file_id, VisitKind.VIEW, 5)], 5 * HOUR, 9)
    store.apply_visit_counts(6 * HOUR)
    assert [one.views for one in store.maps(0, 9)] == [5]
    assert store.users()[1] == User(2, "Ann", 5, disabled=False, role=Role.MEMBER)
    assert store.password_of("ann") == PasswordRecord(store.users()[1], None)
    with pytest.raises(AlreadyExists):
        store.register(None, "\ua4ee\ua4e0\ua4e0", "encoded", 5)  # Lisu letters that look like ANN
    assert [token.scopes for token in store.tokens("ann")] == ["account maps", ""]
    assert {token.kind for token in store.tokens("ann")} == {TokenKind.PERSONAL}
    store.close()


def test_names_are_compared_as_this_version_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    had = migrations.MIGRATIONS.index("sqlite_0025.sql")
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:had])
    store = SQLiteStore(path)
    store.register(None, "B\u1e9ao", "encoded", 5)
    store.close()
    monkeypatch.undo()
    raw(path, "UPDATE users SET skeleton = 'ba''o' WHERE name LIKE 'B%'")
    store = SQLiteStore(path)
    with pytest.raises(AlreadyExists):
        store.register(None, "B\u1ea3o", "encoded", 5)
    store.close()


UNDONE = (
    "DROP TRIGGER maps_hidden",
    "DROP TABLE hidings",
    "DROP TABLE last_transfer",
    "DROP TABLE lost_files",
    "DROP TABLE former_places",
    "DROP INDEX users_skeleton",
    "ALTER TABLE users DROP COLUMN skeleton",
    "DROP TABLE additions",
    "DROP TABLE served_folders",
    "DROP TABLE former_contents",
    "DROP TABLE inherited",
    "DROP TABLE missing",
    "DROP TRIGGER sequence_mark",
    "DROP TABLE marks",
    "DROP TABLE collection_reports",
    "DROP TABLE collection_decisions",
    "DROP TABLE saved_searches",
    "DROP TABLE collected_maps",
    "DROP TABLE collections",
    "DROP TABLE imported_folders",
    "DROP TABLE renamed_tags",
    "DROP TABLE reports",
    "DROP TABLE decisions",
    "DROP TABLE audit",
    "DROP INDEX votes_user",
    "DROP INDEX users_closing",
    "ALTER TABLE users DROP COLUMN closed",
    "ALTER TABLE users DROP COLUMN closing",
    "DROP TABLE refusals",
    "DROP TABLE identities",
    "DROP TABLE passkeys",
    "DROP TABLE passkey_challenges",
    "DROP TABLE device_requests",
    "DROP TABLE refresh_tokens",
    "DROP TABLE authorization_codes",
    "DROP INDEX tokens_grant",
    "ALTER TABLE tokens DROP COLUMN grant_id",
    "DROP TABLE grants",
    "DROP TABLE programs",
    "DROP TABLE versions",
    "DROP TABLE votes",
    "DROP TABLE removed",
    "DROP TABLE uploads",
    "DROP INDEX maps_withdrawn",
    "DROP INDEX maps_unpublished",
    "ALTER TABLE maps DROP COLUMN tags",
    "ALTER TABLE maps DROP COLUMN visibility",
    "ALTER TABLE maps DROP COLUMN set_by_people",
    "DROP TRIGGER roles_changed",
    "ALTER TABLE users DROP COLUMN role",
    "ALTER TABLE users DROP COLUMN password",
    "DROP INDEX tokens_expired",
    "ALTER TABLE tokens DROP COLUMN kind",
    "DROP TABLE one_time_links",
    "DROP TABLE sign_in_failures",
    "DROP TABLE known_addresses",
)
"""What undoes the migrations from the fifth on."""


def test_maps_from_files_of_the_version_before_are_outdated(path: Path) -> None:
    store = SQLiteStore(path)
    store.put_maps([MapDraft(title="file", source=source(), outline=outline("old"))])
    store.put_maps([MapDraft(title="record", outline=outline("old"))])
    store.close()
    made = ("TABLE images", "TABLE links", "TABLE outdated", "INDEX sources_file")
    raw(path, *UNDONE, *(f"DROP {one}" for one in made), f"PRAGMA user_version = {_before(4)}")
    store = SQLiteStore(path)
    assert store.outdated(0, 9) == [OutdatedMap(1, b"")]
    store.close()


def test_maps_from_files_are_read_again_by_readers_that_find_more(path: Path) -> None:
    store = SQLiteStore(path)
    store.put_maps([MapDraft(title="file", source=source(), outline=outline("old"))])
    store.put_maps([MapDraft(title="record", outline=outline("old"))])
    assert store.outdated(0, 9) == []
    store.close()
    raw(path, *UNDONE, f"PRAGMA user_version = {_before(5)}")
    store = SQLiteStore(path)
    assert store.outdated(0, 9) == [OutdatedMap(1, b"")]
    store.close()


def test_files_and_links_are_found_by_indexes(path: Path) -> None:
    SQLiteStore(path).close()
    name = f"SELECT path FROM sources AS s WHERE {FILE_NAME} = ? LIMIT 9"
    for query in (name, "SELECT topic FROM links WHERE name IN (?, ?)"):
        with closing(apsw.Connection(str(path))) as database:
            found = "X" * query.count("?")
            plan = str(database.execute(f"EXPLAIN QUERY PLAN {query}", found).fetchall())
        assert "USING INDEX" in plan, plan


def test_maps_that_are_not_published_are_found_by_an_index(path: Path) -> None:
    """A page of the feed must not scan a million published maps."""
    SQLiteStore(path).close()
    with closing(apsw.Connection(str(path))) as database:
        for column in ("file_id", "id"):
            query = f"EXPLAIN QUERY PLAN {GONE.format(column)}"
            plan = str(database.execute(query, (0, 9)).fetchall())
            assert "maps_withdrawn (revision>?)" in plan, plan
            assert "TEMP B-TREE" not in plan, plan


def test_collections_are_chosen_from_indexes(path: Path) -> None:
    """Rows have long texts, and reading 10,000 of them delayed other requests."""
    SQLiteStore(path).close()
    with closing(apsw.Connection(str(path))) as database:
        for query, given in ((LISTED, (1,)), (OF_OWNER.format("?"), ("ann", 1))):
            plan = str(database.execute(f"EXPLAIN QUERY PLAN {query}", given).fetchall())
            assert "SCAN" not in plan, plan
            assert "MULTI-INDEX" not in plan, plan
        assert "COVERING INDEX collections_listed" in str(
            database.execute(f"EXPLAIN QUERY PLAN {LISTED}", (1,)).fetchall()
        )


def _before(number: int) -> int:
    """Return the version of a database that has not had this migration."""
    return migrations.user_version(number - 1)


def test_comments_in_a_script_do_not_change_the_schema(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = scripts.read_script
    replace_scripts(monkeypatch, lambda name: "-- A word more.\n\n" + script(name))
    SQLiteStore(path).close()
    monkeypatch.undo()
    SQLiteStore(path).close()


def test_a_catalogue_without_a_schema_mark_is_refused(path: Path) -> None:
    SQLiteStore(path).close()
    raw(path, "PRAGMA user_version = 1")
    with pytest.raises(StoreDamaged, match="development version"):
        SQLiteStore(path)


# -- no catalogue -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["catalogue.db", "folder/catalogue.db", "file/catalogue.db"])
def test_no_catalogue_is_created_unless_wanted(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreMissing, match="there is no catalogue in"):
        open_store(f"sqlite://{tmp_path}/{name}", create=False)
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_an_empty_file_is_left_empty_unless_a_catalogue_is_wanted(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreMissing):
        SQLiteStore(path, create=False)
    assert path.read_bytes() == b""
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_an_existing_catalogue_is_opened(path: Path) -> None:
    SQLiteStore(path).close()
    store = SQLiteStore(path, create=False)
    fill(store, 1)
    store.close()


def test_an_empty_file_becomes_a_catalogue(path: Path) -> None:
    path.touch()
    store = SQLiteStore(path)
    assert store.check() == []
    store.close()


# -- damage -----------------------------------------------------------------------------------


def test_damaged_pages_raise_an_error(path: Path) -> None:
    store = SQLiteStore(path)
    fill(store)
    with closing(apsw.Connection(str(path))) as database:
        query = "SELECT pageno FROM dbstat WHERE name <> 'sqlite_schema'"
        numbers = [number for (number,) in database.execute(query)]
    store.close()
    pages = bytearray(path.read_bytes())
    for number in numbers:
        pages[(number - 1) * 4096 : number * 4096] = b"\xa5" * 4096
    path.write_bytes(pages)
    damaged = SQLiteStore(path)
    for call in (damaged.revision, damaged.users, lambda: damaged.maps(0, 10)):
        with pytest.raises(StoreDamaged):
            call()
    assert faults(damaged)
    damaged.close()


def test_damage_found_while_reading_raises_an_error(path: Path) -> None:
    store = SQLiteStore(path)
    fill(store)
    with closing(apsw.Connection(str(path))) as database:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'maps'"
        rows: list[tuple[Any, ...]] = database.execute(query).fetchall()
        ((root,),) = rows
    store.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xa5" * 4096)
    damaged = SQLiteStore(path)
    with pytest.raises(StoreDamaged):
        damaged.maps(0, 10)
    with pytest.raises(StoreDamaged):
        damaged.put_maps([MapDraft(title="t")])
    assert faults(damaged)
    damaged.close()


def faults(store: SQLiteStore) -> list[str]:
    """Return the faults that ``check`` returns or raises."""
    try:
        return store.check()
    except StoreDamaged as error:
        return [str(error)]


def test_check_reports_what_is_in_the_schema_of_others(store: SQLiteStore, path: Path) -> None:
    raw(path, "CREATE TRIGGER back AFTER INSERT ON audit BEGIN DELETE FROM tokens; END")
    (fault,) = store.check()
    assert "it has the trigger 'back', which Mapshelf did not make" in fault


def test_indexes_and_tables_of_operators_are_sound(store: SQLiteStore, path: Path) -> None:
    raw(path, "CREATE INDEX mine ON maps (title)", "CREATE TABLE _litestream_seq (id INTEGER)")
    assert store.check() == []


def test_check_reports_dangling_references(store: SQLiteStore, path: Path) -> None:
    fill(store, 3)
    raw(path, "PRAGMA foreign_keys = OFF", "UPDATE maps SET owner_id = 99 WHERE file_id = 2")
    assert store.check() == ["row 2 of maps refers to a row of users that is not there"]


def test_check_reports_a_broken_index(store: SQLiteStore, path: Path) -> None:
    fill(store, 3)
    raw(
        path,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX maps_owner ON maps (file_id + 5)'"
        " WHERE name = 'maps_owner'",
    )
    store.close()
    again = SQLiteStore(path)
    assert any("maps_owner" in fault for fault in faults(again))
    again.close()


def test_a_constraint_is_a_store_error(store: SQLiteStore) -> None:
    store.add_token("system", b"1" * 32, label="", scopes="", expires=None)
    with pytest.raises(StoreError):
        store.add_token("system", b"1" * 32, label="", scopes="", expires=None)
    assert len(store.tokens("system")) == 1


# -- locks ------------------------------------------------------------------------------------


def test_a_locked_database_is_unavailable_then_works(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT", 50)
    store = SQLiteStore(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable):
        store.put_maps([MapDraft(title="t")])
    assert store.maps(0, 10) == []  # reads still work
    other.execute("ROLLBACK")
    other.close()
    fill(store, 1)
    assert len(store.maps(0, 10)) == 1
    store.close()


def test_opening_does_not_wait_for_writers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT", 50)
    SQLiteStore(path).close()
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    store = SQLiteStore(path)
    assert store.check() == []
    store.close()
    other.execute("ROLLBACK")
    other.close()


def test_opening_writes_nothing_to_a_catalogue_that_is_up_to_date(path: Path) -> None:
    first = SQLiteStore(path)  # keeps the log in place
    before = {found.name: found.read_bytes() for found in path.parent.glob("*.db*")}
    store = SQLiteStore(path)
    assert store.check() == []
    after = {found.name: found.read_bytes() for found in path.parent.glob("*.db*")}
    assert {name: after[name] == before[name] for name in after if "-shm" not in name} == {
        "catalogue.db": True,
        "catalogue.db-wal": True,
    }
    store.close()
    first.close()


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_written_to_a_database_that_is_no_longer_there(
    tmp_path: Path, replaced: bool
) -> None:
    """What is written to a deleted file would be acknowledged, and lost with the last process."""
    folder = tmp_path / "data"
    with closing(SQLiteStore(folder / "catalogue.db")) as store:
        fill(store, 2)
        folder.rename(tmp_path / "elsewhere")
        if replaced:
            SQLiteStore(folder / "catalogue.db").close()
        with pytest.raises(StoreUnavailable, match="deleted, moved or replaced"):
            fill(store, 1)
        assert len(store.maps(0, 9)) == 2
        shutil.rmtree(folder, ignore_errors=True)
        (tmp_path / "elsewhere").rename(folder)
        fill(store, 1)
        assert len(store.maps(0, 9)) == 3


def test_nothing_is_written_to_a_log_that_is_no_longer_there(path: Path, tmp_path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        fill(store, 2)
        log = path.with_name(path.name + "-wal")
        log.rename(tmp_path / "elsewhere")
        with pytest.raises(StoreUnavailable, match=f"{log} was deleted, moved or replaced"):
            fill(store, 1)
        (tmp_path / "elsewhere").rename(log)
        fill(store, 1)
        assert len(store.maps(0, 9)) == 3
        log.unlink()
        with pytest.raises(StoreUnavailable, match=f"{log} was deleted, moved or replaced"):
            fill(store, 1)
    with closing(SQLiteStore(path)) as store:  # what was written before was saved at the end
        assert len(store.maps(0, 9)) == 3
        assert store.check() == []


def test_no_database_is_opened_without_its_log(path: Path, tmp_path: Path) -> None:
    """What is written meanwhile would be lost once the log is back."""
    killed = tmp_path / "killed"
    with closing(SQLiteStore(path)) as store:
        fill(store, 2)
        shutil.copytree(path.parent, killed, ignore=shutil.ignore_patterns("killed"))
    log = killed / f"{path.name}-wal"
    log.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreUnavailable, match=f"{log} is missing"):
        SQLiteStore(killed / path.name)
    (tmp_path / "elsewhere").rename(log)
    with closing(SQLiteStore(killed / path.name)) as store:
        assert len(store.maps(0, 9)) == 2


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_no_database_is_created_beside_a_log(path: Path, tmp_path: Path, suffix: str) -> None:
    """The log may have the last changes of a database that somebody has moved away."""
    log = path.with_name(path.name + suffix)
    log.write_bytes(b"")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    for place in (path, link):
        with pytest.raises(StoreUnavailable, match=f"put it back, or delete {log} and start again"):
            SQLiteStore(place)
    assert not path.exists()
    log.unlink()
    SQLiteStore(path).close()


def test_a_database_that_cannot_be_written_is_not_opened(path: Path) -> None:
    """SQLite would open it for reading only, and not notice when it can be written again."""
    SQLiteStore(path).close()
    if os.geteuid() != 0 or not mounted("mount", "--bind", path, path):
        pytest.skip("this test needs permission to mount a file")
    try:
        assert mounted("mount", "-o", "remount,bind,ro", path)
        with pytest.raises(StoreUnavailable):
            SQLiteStore(path, create=False)
    finally:
        assert mounted("umount", path)
    with closing(SQLiteStore(path, create=False)) as store:
        store.add_user("ann")


def test_a_short_lock_is_waited_for(store: SQLiteStore, path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    writing = threading.Thread(target=fill, args=(store, 1))
    writing.start()
    writing.join(0.2)
    assert writing.is_alive()
    other.execute("COMMIT")
    writing.join(5)
    assert len(store.maps(0, 10)) == 1
    other.close()


def test_an_exclusively_locked_database_cannot_be_opened_yet(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT", 50)
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable):
        SQLiteStore(path)
    other.execute("ROLLBACK")
    other.close()
    SQLiteStore(path).close()


def test_a_full_disk_is_unavailable_and_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[apsw.Connection] = []
    monkeypatch.setattr(apsw, "connection_hooks", [opened.append])
    store = SQLiteStore(path)
    fill(store, 1)
    for database in opened:
        database.pragma("max_page_count", database.pragma("page_count"))
    with pytest.raises(StoreUnavailable):
        fill(store, 2000)
    assert len(store.maps(0, 10_000)) == 1
    assert store.revision() == 1
    for database in opened:
        database.pragma("max_page_count", 1_000_000)
    fill(store, 10)
    assert len(store.maps(0, 10_000)) == 11
    store.close()


# -- migrations -------------------------------------------------------------------------------


def test_migrations_are_applied_once(path: Path) -> None:
    SQLiteStore(path).close()
    database = apsw.Connection(str(path))
    assert database.pragma("user_version") & 0xFF == len(migrations.MIGRATIONS)
    assert database.pragma("application_id") == migrations.APPLICATION_ID
    schema = list(database.execute("SELECT sql FROM sqlite_schema"))
    database.close()
    SQLiteStore(path).close()
    database = apsw.Connection(str(path))
    assert list(database.execute("SELECT sql FROM sqlite_schema")) == schema
    database.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed, "SOFTWARE", (None,))
    with pytest.raises(AttributeError):
        SQLiteStore(path)
    monkeypatch.undo()
    store = SQLiteStore(path)
    assert store.check() == []
    assert len(store.users()) == 1
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports writes of other processes")
def test_waiting_ends_with_a_write_and_not_by_polling(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    revision = SQLiteChangeFeed.revision

    def looking(feed: SQLiteChangeFeed) -> int:
        found = revision(feed)
        looked.set()
        return found

    monkeypatch.setattr(change_feed, "LONGEST_WAIT", 60.0)
    monkeypatch.setattr(SQLiteChangeFeed, "revision", looking)
    with ThreadPoolExecutor() as pool, closing(SQLiteStore(path)) as writer:
        waiting = pool.submit(store.wait, 0, 60)
        assert looked.wait(30)
        writer.put_maps([MapDraft(title="new")])
        assert waiting.result(30)


def test_several_threads_can_wait_at_once(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_wait = threading.Barrier(4, timeout=30)
    revision, known = SQLiteChangeFeed.revision, threading.local()

    def looking(feed: SQLiteChangeFeed) -> int:
        found = revision(feed)
        if not hasattr(known, "has_looked"):
            known.has_looked = True
            all_wait.wait()
        return found

    monkeypatch.setattr(SQLiteChangeFeed, "revision", looking)
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(store.wait, 0, 30) for _ in range(3)]
        all_wait.wait()
        store.put_maps([MapDraft(title="new")])
        assert all(one.result() for one in waiting)


def test_a_write_is_told_even_if_its_process_died_before_reporting_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SQLiteStore(path)) as store, closing(SQLiteStore(path)) as other:
        monkeypatch.setattr(os, "utime", lambda *_: None)
        before = store.written_stamp()
        assert before == other.written_stamp()
        store.revision()
        assert store.written_stamp() == before, "reading changes nothing"
        other.add_user("ann")
        assert store.written_stamp() != before
