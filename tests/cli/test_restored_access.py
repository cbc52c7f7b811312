"""Access that ended after a backup was made does not come back with it.

A catalogue that never was that of the backup has no say in this, and neither has one that is older.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from mapshelf.accounts.audit import done_by_command
from mapshelf.cli import main
from mapshelf.clock import milliseconds
from mapshelf.model import AuditEvent, MapsOfClosedAccount, Passkey, Role, User
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.tables import Row
from tests.store.contract.oauth import PROGRAM, PUBLIC, let_in, tokens
from tests.store.contract.passkeys import passkey
from tests.store.contract.sign_in import digest

ISSUER = "https://id.example"


@contextmanager
def opened(data: Path) -> Iterator[Store]:
    store = open_store(sqlite_url(data), create=not data.exists())
    try:
        yield store
    finally:
        store.close()


def backed_up(data: Path, name: str = "file") -> Path:
    file = data.parent / name
    assert main(["backup", str(file), "--data", str(data)]) == 0
    return file


def restore(file: Path, data: Path) -> None:
    assert main(["restore", str(file), "--data", str(data)]) == 0


def aside(data: Path) -> Path:
    (folder,) = data.glob("before-restore-*")
    return folder


def ann(store: Store) -> User:
    (user,) = (one for one in store.users() if one.name == "ann")
    return user


def add_token(store: Store, number: int, user: str = "ann") -> int:
    """Add a personal token with the digest ``digest(number)``; return its id."""
    with store.auditing(done_by_command(AuditEvent.TOKEN_MADE, f"token {number}")):
        added = store.add_token(user, digest(number), label="", scopes="maps", expires=None)
    return added.id


def add_passkey(store: Store, number: int) -> Passkey:
    """Add a passkey that is newer than all that has happened, even in this millisecond."""
    added = replace(passkey(number), created=milliseconds() + 1000)
    with store.auditing(done_by_command(AuditEvent.PASSKEY_ADDED)):
        store.add_passkey(ann(store).id, added)
    return added


def works(store: Store, *numbers: int) -> list[bool]:
    """Return which tokens with these digests are accepted."""
    found = store.find_credentials([digest(number) for number in numbers])
    return [
        digest(number) in found and found[digest(number)].token.revoked is None
        for number in numbers
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A catalogue: Ann has let two programs in, and has all that one can sign in with."""
    folder = tmp_path / "data"
    with opened(folder) as store:
        user = store.add_user("ann")
        store.add_program(PROGRAM)
        store.add_program(PUBLIC)
        let_in(store, user, 1)
        let_in(store, user, 2, "p2")
        store.add_passkey(user.id, passkey(1))
        store.add_passkey(user.id, passkey(2))
        store.link_identity(user.id, ISSUER, "1", "ann")
        store.link_identity(user.id, ISSUER, "2", "ann")
        store.set_password(user.id, "encoded", keep=None)
        add_token(store, 11)
        add_token(store, 12)
    return folder


def test_everything_is_as_before_if_nothing_ended(data: Path) -> None:
    restore(backed_up(data), data)
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [True] * 4
        assert store.use_refresh_token(digest(101), tokens(3), 9, 0)
        assert len(store.programs()) == len(store.passkeys(ann(store).id)) == 2
        assert len(store.identities(ann(store).id)) == 2


@pytest.mark.parametrize("times", [1, 2])
def test_programs_that_were_withdrawn_stay_so_after_a_restore(data: Path, times: int) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.withdraw_grants(ann(store).id, "p1")
    for _ in range(times):  # the second time, the catalogue is the restored one
        restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 2) == [False, True]
        assert store.use_refresh_token(digest(101), tokens(3), 9, 0) is None
        assert [grant.program_id for grant in store.grants(ann(store).id, 9)] == ["p2"]


def test_programs_that_revoked_their_own_token_stay_so_after_a_restore(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        assert store.revoke_program_token(digest(1), "p1")
        assert store.revoke_program_token(digest(102), "p2")
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 2) == [False, False]
        assert store.use_refresh_token(digest(101), tokens(3), 9, 0)
        assert store.use_refresh_token(digest(102), tokens(4), 9, 0) is None


def test_programs_that_were_removed_stay_so_after_a_restore(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.remove_program("p1")
        store.remove_program("p2")
        # Perhaps because its secret was stolen.
        store.add_program(replace(PUBLIC, secret=b"new", created=9))
    restore(file, data)
    with opened(data) as store:
        assert store.programs() == []
        assert works(store, 1, 2) == [False, False]


def test_a_grant_that_a_thief_ended_stays_so_after_a_restore(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        assert store.use_refresh_token(digest(101), tokens(3), 9, 0)
        assert store.use_refresh_token(digest(101), tokens(4), 9, 0) is None
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1) == [False]
        assert store.use_refresh_token(digest(101), tokens(5), 9, 0) is None


def test_a_program_that_renewed_its_tokens_goes_on_after_a_restore(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        assert store.use_refresh_token(digest(101), tokens(3), 9, 0)
    restore(file, data)
    with opened(data) as store:
        assert store.use_refresh_token(digest(103), tokens(4), 10, 0)
        assert works(store, 4) == [True]
        assert store.use_refresh_token(digest(101), tokens(5), 10, 0) is None, "it was used"
        assert works(store, 1, 4) == [False, False], "so somebody stole it"


def test_passkeys_and_linked_accounts_that_were_removed_stay_so_after_a_restore(
    data: Path,
) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.remove_passkey(ann(store).id, passkey(1).id)
        store.unlink_identity(ann(store).id, ISSUER, "1")
        store.link_identity(store.add_user("bob").id, ISSUER, "1", "bob")
    restore(file, data)
    with opened(data) as store:
        assert store.passkeys(ann(store).id) == [passkey(2)]
        assert [one.subject for one in store.identities(ann(store).id)] == ["2"]


def test_tokens_of_an_account_that_was_deleted_stay_revoked_after_a_restore(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.close_account(ann(store).id, MapsOfClosedAccount.REMOVE, "encoded")
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [False] * 4
        assert not store.passkeys(ann(store).id)
        assert not store.identities(ann(store).id)


def test_a_restore_that_is_undone_brings_back_what_was_made_since_the_backup(data: Path) -> None:
    """What ended in the restored catalogue, and was there from the start, stays ended."""
    file = backed_up(data)
    with opened(data) as store:
        add_token(store, 13)
        let_in(store, ann(store), 3)
        added = add_passkey(store, 3)
    restore(file, data)
    with opened(data) as store:
        add_token(store, 14)
        store.end_session(ann(store).id, _session(store, 15))
        store.withdraw_grants(ann(store).id, "p2")
    restore(backed_up(aside(data), "../again"), data)
    with opened(data) as store:
        assert works(store, 1, 3, 11, 13) == [True] * 4
        assert works(store, 2) == [False], "it was withdrawn in the restored one"
        assert works(store, 14) == [False], "it was made there"
        assert added in store.passkeys(ann(store).id)


def test_an_undone_restore_brings_back_a_passkey_whose_audit_entry_is_missing(data: Path) -> None:
    """The restored catalogue has given the number of the entry to another one, and forgot it."""
    file = backed_up(data)
    with opened(data) as store:
        added = add_passkey(store, 3)
    restore(file, data)
    with opened(data) as store:
        add_token(store, 14)
    execute(data, "DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)")
    restore(backed_up(aside(data), "../again"), data)
    with opened(data) as store:
        assert added in store.passkeys(ann(store).id)


def execute(data: Path, sql: str) -> list[Row]:
    database = apsw.Connection(str(data / "catalogue.db"))
    rows: list[Row] = database.execute(sql).fetchall()
    database.close()
    return rows


def _session(store: Store, number: int) -> int:
    return store.add_session(ann(store).id, digest(number), "", 2**50, None).id


def test_a_catalogue_that_is_older_than_the_backup_ends_nothing(data: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.db"
    shutil.copy(data / "catalogue.db", older)
    with opened(data) as store:
        add_token(store, 13)
        let_in(store, ann(store), 3)
        added = add_passkey(store, 3)
    file = backed_up(data)
    shutil.copy(older, data / "catalogue.db")  # put into place by hand
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 3, 11, 13) == [True] * 4
        assert added in store.passkeys(ann(store).id)


def _ended_between_two_restores(data: Path) -> Path:
    """Restore a backup from before the access that ended, and return one from just before that."""
    older = backed_up(data, "older")
    with opened(data) as store:
        token, added = add_token(store, 13), add_passkey(store, 3)
        let_in(store, ann(store), 3)
    newer = backed_up(data, "newer")
    with opened(data) as store:
        with store.auditing(done_by_command(AuditEvent.TOKEN_REVOKED)):
            store.revoke_token(token)
        store.withdraw_grants(ann(store).id, "p1")
        store.remove_passkey(ann(store).id, added.id)
    restore(older, data)
    return newer


def test_what_ended_stays_so_if_an_older_backup_was_restored_first(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = _ended_between_two_restores(data)
    kept = aside(data) / "catalogue.db"
    before = kept.read_bytes()
    capsys.readouterr()
    restore(newer, data)
    assert "tokens revoked in the former catalogue stay revoked" in capsys.readouterr().err
    with opened(data) as store:
        assert works(store, 2, 3, 11, 13) == [True, False, True, False]
        assert store.use_refresh_token(digest(103), tokens(4), 9, 0) is None
        assert store.passkeys(ann(store).id) == [passkey(1), passkey(2)]
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


@pytest.mark.parametrize("kept", ["nothing", "no database", "a damaged one", "a log", "a loop"])
def test_a_restore_says_if_the_former_catalogue_comes_from_before_the_backup(
    data: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What former restores have kept is of no use."""
    newer = _ended_between_two_restores(data)
    database = aside(data) / "catalogue.db"
    if kept == "no database":
        database.write_bytes(b"none")
    elif kept == "a damaged one":
        database.write_bytes(database.read_bytes()[:4096] + b"\xa5" * 100_000)
    elif kept == "a log":
        database.with_name("catalogue.db-wal").write_bytes(b"")
    else:
        database.unlink()
        if kept == "a loop":
            database.symlink_to(database)
    capsys.readouterr()
    restore(newer, data)
    _says_that_access_may_be_valid_again(capsys.readouterr().err)


def _says_that_access_may_be_valid_again(said: str) -> None:
    assert (
        "the former catalogue is another one, or comes from before this backup, so tokens,"
        " programs, passkeys and linked accounts that ended since then may be valid again" in said
    )
    assert "run: mapshelf user sign-out-all --tokens" in said
    assert "stay revoked" not in said


def test_a_killed_restore_that_kept_the_catalogue_in_use_does_not_matter(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.withdraw_grants(ann(store).id, "p1")
    (data / "before-restore-1").mkdir()
    (data / "before-restore-1" / "catalogue.db").hardlink_to(data / "catalogue.db")
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 2) == [False, True]


def test_another_catalogue_ends_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = backed_up(data)
    with opened(tmp_path / "other") as store:
        store.add_user("ann")
        for number in range(20, 60):
            add_token(store, number)
    capsys.readouterr()
    restore(file, tmp_path / "other")
    _says_that_access_may_be_valid_again(capsys.readouterr().err)
    with opened(tmp_path / "other") as store:
        assert works(store, 1, 2, 11, 12) == [True] * 4
        assert len(store.passkeys(ann(store).id)) == 2


def test_entries_that_have_expired_do_not_make_it_another_catalogue(data: Path) -> None:
    file = backed_up(data)
    with opened(data) as store:
        store.purge_audit(2**50)
        store.withdraw_grants(ann(store).id, "p1")
        add_token(store, 13)
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 2, 11) == [False, True, True]


@pytest.mark.parametrize(
    ("begins", "why"),
    [
        (None, "there was no former catalogue"),
        (0, "the former one cannot be read"),
        (4096, "the former one cannot be read"),
    ],
)
def test_a_restore_says_if_it_does_not_know_what_ended(
    data: Path, begins: int | None, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The former catalogue is damaged from a byte on, or lost."""
    file, database = backed_up(data), data / "catalogue.db"
    with opened(data) as store:
        store.withdraw_grants(ann(store).id, "p1")
    whole = database.read_bytes()
    database.unlink()
    if begins is not None:
        database.write_bytes(whole[:begins] + b"\xa5" * (len(whole) - begins))
    capsys.readouterr()
    restore(file, data)
    said = capsys.readouterr().err
    assert f"{why}, so tokens and programs that were revoked since then are valid again" in said
    assert "run: mapshelf user sign-out-all --tokens" in said
    assert "stay revoked" not in said


def test_a_damaged_index_ends_only_what_is_revoked(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite reports no error if an index lacks a row; it just does not find it."""
    file, database = backed_up(data), data / "catalogue.db"
    with opened(data) as store:
        store.revoke_token(store.tokens("ann")[0].id)
    index = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_programs_1'"
    ((page,),) = execute(data, index)
    ((size,),) = execute(data, "PRAGMA page_size")
    whole = bytearray(database.read_bytes())
    whole[whole.index(b"p1", (page - 1) * size) + 1] ^= 4
    database.write_bytes(whole)
    capsys.readouterr()
    restore(file, data)
    assert "the former one cannot be read" in capsys.readouterr().err
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [True, True, False, True]
        assert [program.id for program in store.programs()] == ["p1", "p2"]


@pytest.mark.parametrize(("table", "column"), [("sequence", "file_id"), ("tokens", "revoked")])
def test_a_restore_replaces_a_catalogue_with_impossible_values(
    data: Path, table: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = backed_up(data)
    database = apsw.Connection(str(data / "catalogue.db"))
    database.pragma("writable_schema", True)
    database.execute("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '')")
    database.close()
    execute(data, f"UPDATE {table} SET {column} = 'x'")
    database = apsw.Connection(str(data / "catalogue.db"))
    database.pragma("writable_schema", True)
    database.execute(
        "UPDATE sqlite_schema SET sql = sql || 'STRICT' WHERE name = ? AND type = 'table'", (table,)
    )
    database.close()
    capsys.readouterr()
    restore(file, data)
    assert "the former one cannot be read" in capsys.readouterr().err
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [True] * 4


def test_a_restore_names_those_who_have_more_access_again(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(data) as store:
        for name in ("bob", "carl", "dora", "eve"):
            store.add_user(name, Role.ADMINISTRATOR)
        for number in range(22):
            store.set_password(store.add_user(f"u{number}").id, "old", keep=None)
    file = backed_up(data)
    with opened(data) as store:
        users = {user.name: user.id for user in store.users()}
        store.set_role("bob", Role.MEMBER)
        store.disable_user("carl")
        store.close_account(users["dora"], MapsOfClosedAccount.REMOVE, None)
        for number in range(22):
            store.set_password(users[f"u{number}"], "new", keep=None)
    capsys.readouterr()
    restore(file, data)
    _, *lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "mapshelf: users whose deleted accounts are back: dora",
        "mapshelf: users who are enabled again: carl",
        "mapshelf: users who are administrators again: bob",
        "mapshelf: users who have a former password again: "
        + ", ".join([*(f"u{number}" for number in range(20)), "and 2 more"]),
    ]


def test_everybody_is_signed_out_by_command(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(data) as store:
        _session(store, 15)
    capsys.readouterr()
    assert main(["user", "sign-out-all", "--data", str(data)]) == 0
    ended = "mapshelf: ended all sessions, and links to choose a password or register"
    assert capsys.readouterr().err == f"{ended}\n"
    with opened(data) as store:
        assert works(store, 1, 2, 11, 15) == [True, True, True, False]
    assert main(["user", "sign-out-all", "--tokens", "--data", str(data)]) == 0
    assert capsys.readouterr().err == (
        f"{ended}; revoked all tokens and authorizations of programs."
        " Passkeys and linked accounts stay\n"
    )
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [False] * 4
        assert [
            (one.entry.event, one.entry.target) for one in store.audit_records(0, 0, 100)[-3:]
        ] == [
            (AuditEvent.SESSION_ENDED, "all users"),
            (AuditEvent.SESSION_ENDED, "all users"),
            (AuditEvent.ACCESS_ENDED, "tokens, programs, all users"),
        ]
