"""Access that ended after a backup was made does not come back with it.

A catalogue that never was that of the backup has no say in this, and neither has one that is older.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.accounts.audit import done_by_command
from mapshelf.cli import main
from mapshelf.model import AuditEvent, MapsOfClosedAccount, Role, User
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
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


def _session(store: Store, number: int) -> int:
    return store.add_session(ann(store).id, digest(number), "", 2**50, None).id


def test_a_catalogue_that_is_older_than_the_backup_ends_nothing(data: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.db"
    shutil.copy(data / "catalogue.db", older)
    with opened(data) as store:
        add_token(store, 13)
        let_in(store, ann(store), 3)
        store.add_passkey(ann(store).id, passkey(3))
    file = backed_up(data)
    shutil.copy(older, data / "catalogue.db")  # put into place by hand
    restore(file, data)
    with opened(data) as store:
        assert works(store, 1, 3, 11, 13) == [True] * 4


def test_another_catalogue_ends_nothing(data: Path, tmp_path: Path) -> None:
    file = backed_up(data)
    with opened(tmp_path / "other") as store:
        store.add_user("ann")
        for number in range(20, 60):
            add_token(store, number)
    restore(file, tmp_path / "other")
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


def test_everybody_is_signed_out_by_command(data: Path) -> None:
    with opened(data) as store:
        _session(store, 15)
    assert main(["user", "sign-out-all", "--data", str(data)]) == 0
    with opened(data) as store:
        assert works(store, 1, 2, 11, 15) == [True, True, True, False]
    assert main(["user", "sign-out-all", "--tokens", "--data", str(data)]) == 0
    with opened(data) as store:
        assert works(store, 1, 2, 11, 12) == [False] * 4
        assert [
            (one.entry.event, one.entry.target) for one in store.audit_records(0, 0, 100)[-3:]
        ] == [
            (AuditEvent.SESSION_ENDED, "all users"),
            (AuditEvent.SESSION_ENDED, "all users"),
            (AuditEvent.ACCESS_ENDED, "tokens, programs, all users"),
        ]
