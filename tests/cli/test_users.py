"""``mapshelf user`` and ``mapshelf token`` do what their help says."""

import json
import re
import unicodedata
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mapshelf.accounts.feed_addresses import new_feed_secret
from mapshelf.accounts.sessions import Client
from mapshelf.accounts.sign_in import choose_password
from mapshelf.clock import milliseconds
from mapshelf.errors import NotFound
from mapshelf.model import MapsOfClosedAccount
from mapshelf.service.data_folder_lock import lock_data_folder
from mapshelf.settings import Settings, sqlite_url
from mapshelf.store import open_store
from tests.cli.process import EXAMPLES, Mapshelf

pytestmark = pytest.mark.process

TOKEN = re.compile(r"msh_[0-9A-Za-z]{49}")
LINK = re.compile(r"(?P<base>https?://\S+)/link/msl_[0-9A-Za-z]{49}\n")


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    return Mapshelf(tmp_path / "data")


def test_users_are_added_listed_disabled_and_enabled(mapshelf: Mapshelf) -> None:
    mapshelf.run_apart("user", "add", "alice")
    mapshelf.run("user", "add", "carl", "--admin")
    taken = mapshelf.run("user", "add", "ALICE", expect=1)
    also_taken = mapshelf.run("user", "add", "alice", "--admin", expect=1)
    mapshelf.run("user", "disable", "Alice")
    unknown = mapshelf.run("user", "disable", "bob", expect=1)

    rows = [line.split("\t") for line in mapshelf.lines("user", "list")]
    assert [(row[1], *row[3:]) for row in rows] == [
        ("system", "active", "member"),
        ("alice", "disabled", "member"),
        ("carl", "active", "administrator"),
    ]
    assert taken.stderr == (
        "mapshelf: there is a user ALICE already; for a link, run: mapshelf user link ALICE\n"
    )
    assert taken.stdout == ""
    assert also_taken.stderr.endswith(
        "for a link, run: mapshelf user link alice;"
        " for the role, run: mapshelf user role alice administrator\n"
    )
    assert unknown.stderr == "mapshelf: there is no user bob\n"

    mapshelf.run("user", "enable", "Alice")
    mapshelf.run("user", "role", "alice", "administrator")
    mapshelf.run("user", "role", "CARL", "member")
    mapshelf.run("user", "enable", "bob", expect=1)
    mapshelf.run("user", "role", "bob", "member", expect=1)
    rows = [line.split("\t") for line in mapshelf.lines("user", "list")]
    assert [row[3:] for row in rows[1:]] == [["active", "administrator"], ["active", "member"]]


def test_a_name_may_be_encoded_in_any_way(mapshelf: Mapshelf, tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zo\u00eb") for form in ("NFC", "NFD"))
    mapshelf.run("user", "add", decomposed)
    mapshelf.run("user", "add", composed, expect=1)
    mapshelf.run("token", "create", decomposed)
    records = tmp_path / "records.ndjson"
    records.write_text(json.dumps({"ID": "zoe1", "Title": "Zoe", "Owner": decomposed}), "utf-8")
    mapshelf.run("import", str(records))
    mapshelf.run("user", "disable", decomposed)
    rows = [line.split("\t") for line in mapshelf.lines("user", "list")]
    assert [row[1] for row in rows] == ["system", composed]
    assert rows[1][3] == "disabled"


def test_a_new_user_gets_a_link_that_is_good_once(mapshelf: Mapshelf) -> None:
    first = mapshelf.run("user", "add", "alice", "--base-url", "https://maps.example.org/x/")
    second = mapshelf.run("user", "link", "ALICE")

    found = [LINK.fullmatch(done.stdout) for done in (first, second)]
    assert [link and link["base"] for link in found] == [
        "https://maps.example.org/x",
        "http://127.0.0.1:8000",
    ]
    assert first.stderr == (
        "mapshelf: added the member alice\n"
        "mapshelf: send alice this link to choose a password; it works once, within 24 hours:\n"
    )
    assert second.stderr == ""
    client = Client(milliseconds(), "192.0.2.1")
    with closing(mapshelf.store()) as store:
        new = choose_password(store, secret_of(first.stdout), "correct horse", client)
        assert new.user.name == "alice"
        for link in (first.stdout, second.stdout):  # a new password voids all links
            with pytest.raises(NotFound):
                choose_password(store, secret_of(link), "another horse", client)


def secret_of(link: str) -> str:
    return link.strip().rpartition("/")[2]


def test_links_begin_with_the_base_url_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mapshelf.cli import main  # noqa: PLC0415 - not as a process, to set its environment

    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path))
    monkeypatch.setenv("MAPSHELF_BASE_URL", "https://maps.example.org")
    assert main(["user", "add", "alice"]) == 0
    assert main(["user", "link", "alice", "--base-url", "http://[::1]:8001"]) == 0
    bases = [link["base"] for link in LINK.finditer(capsys.readouterr().out)]
    assert bases == ["https://maps.example.org", "http://[::1]:8001"]


def test_links_begin_with_the_address_of_the_running_service(mapshelf: Mapshelf) -> None:
    url = "http://127.0.0.1:8017"
    with lock_data_folder(Settings(data=mapshelf.data, database="", base_url=url)):
        first = mapshelf.run("user", "add", "alice")
        second = mapshelf.run("user", "link", "alice", "--base-url", "http://[::1]:8001")
    third = mapshelf.run("user", "link", "alice")
    bases = [link["base"] for one in (first, second, third) for link in LINK.finditer(one.stdout)]
    assert bases == [url, "http://[::1]:8001", "http://127.0.0.1:8000"]


def test_links_are_refused_for_those_who_cannot_sign_in(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")
    mapshelf.run("user", "disable", "alice")
    said = [
        mapshelf.run("user", "link", name, expect=1).stderr for name in ("alice", "bob", "system")
    ]
    assert said == [
        "mapshelf: the user alice is disabled\n",
        "mapshelf: there is no user bob\n",
        "mapshelf: nobody can sign in as system\n",
    ]


def test_an_owner_that_an_import_registered_can_be_given_a_link(mapshelf: Mapshelf) -> None:
    mapshelf.run("import", EXAMPLES / "Health", "--owner", "alice")
    assert LINK.fullmatch(mapshelf.run("user", "link", "alice").stdout)


def test_a_reserved_name_is_given_away_by_command(mapshelf: Mapshelf) -> None:
    folder = EXAMPLES / "Health"
    mapshelf.run("import", folder, "--owner", "alice")
    with closing(mapshelf.store()) as store:
        (alice,) = (one.id for one in store.users() if one.name == "alice")
        store.close_account(alice, MapsOfClosedAccount.REMOVE, None)
        while store.finish_closing():
            pass
    again = mapshelf.run("import", folder, "--owner", "Alice")
    assert again.stderr == (
        "mapshelf: --owner Alice: this user has deleted the account, so the maps belong to system;"
        " to give the name to somebody, run: mapshelf user add Alice\n"
    )
    assert [line.split("\t")[1] for line in mapshelf.lines("user", "list")] == ["system"]
    link = mapshelf.run("user", "link", "alice", expect=1)
    assert link.stderr == "mapshelf: there is no user alice\n"
    given = mapshelf.run("user", "add", "alice")
    assert LINK.fullmatch(given.stdout)
    assert "alice was a user who owned imported maps and deleted the account" in given.stderr
    assert [line.split("\t")[1] for line in mapshelf.lines("user", "list")] == ["system", "alice"]
    assert not mapshelf.run("import", folder, "--owner", "alice").stderr
    with closing(mapshelf.store()) as store:
        assert {one.owner for one in store.maps(0, 100)} == {"alice"}


@pytest.mark.parametrize("name", ["/", ".", "..", "Deleted user 5", "ann  lee"])
def test_nobody_gets_a_name_that_cannot_be_used(mapshelf: Mapshelf, name: str) -> None:
    done = mapshelf.run("user", "add", name, expect=2)
    assert done.stderr.startswith("mapshelf: This username cannot be used: ")
    assert not mapshelf.data.exists()
    with closing(open_store(sqlite_url(mapshelf.data), create=True)) as store:
        store.add_user(name)
    mapshelf.run("user", "role", name, "administrator")
    assert "/link/" in mapshelf.run("user", "link", name).stdout


def test_a_wrong_base_url_adds_nobody(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice", "--base-url", "maps.example.org", expect=2)
    assert not mapshelf.data.exists()


@pytest.mark.parametrize(
    ("options", "scopes"),
    [
        ([], "account maps"),
        (["--scope", "maps"], "maps"),
        (["--scope", "maps:write", "--scope", "maps", "--scope", "maps"], "maps maps:write"),
        (["--scope", "account"], "account"),
    ],
    ids=str,
)
def test_scopes_of_a_new_token(mapshelf: Mapshelf, options: list[str], scopes: str) -> None:
    mapshelf.token("alice")  # a token from before there were scopes
    mapshelf.run("token", "create", "alice", *options)
    rows = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]
    assert [row[-1] for row in rows] == ["account maps", scopes]


def test_a_feed_address_is_listed_as_one(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")
    with closing(open_store(sqlite_url(mapshelf.data))) as store:
        new_feed_secret(store, store.users()[-1], "192.0.2.1")
    (row,) = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]
    assert row[-1] == "feeds"


def test_token_create_prints_the_token_and_only_it(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")

    done = mapshelf.run("token", "create", "alice", "--label", "laptop", "--expires", "30")

    assert TOKEN.fullmatch(done.stdout.removesuffix("\n"))
    (row,) = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]
    assert row[1:3] == ["laptop", "active"]
    assert done.stdout.strip() not in "".join(row)


@pytest.mark.parametrize(("options", "days"), [((), 90), (("--expires", "30"), 30)])
def test_a_token_expires(mapshelf: Mapshelf, options: tuple[str, ...], days: int) -> None:
    mapshelf.run("user", "add", "alice")
    mapshelf.run("token", "create", "alice", *options)
    (row,) = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]
    created, expires = (datetime.fromisoformat(cell.split()[1]) for cell in row[3:5])
    assert expires - created == timedelta(days=days)


def test_token_create_is_refused_for_unknown_and_disabled_users(mapshelf: Mapshelf) -> None:
    mapshelf.run("user", "add", "alice")
    mapshelf.run("user", "disable", "alice")

    disabled = mapshelf.run("token", "create", "alice", expect=1)
    unknown = mapshelf.run("token", "create", "bob", expect=1)

    assert disabled.stderr == "mapshelf: the user alice is disabled\n"
    assert unknown.stderr == "mapshelf: there is no user bob\n"


def test_token_revoke(mapshelf: Mapshelf) -> None:
    mapshelf.token()
    (row,) = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]

    mapshelf.run("token", "revoke", row[0])

    (row,) = [line.split("\t") for line in mapshelf.lines("token", "list", "alice")]
    assert row[2] == "revoked"
    assert mapshelf.run("token", "revoke", "99", expect=1).stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("serve", "--registration", "everybody"), ("closed", "invite", "open")),
        (("user", "role", "alice", "boss"), ("member", "administrator")),
    ],
)
def test_unknown_choices_are_refused_with_the_known_ones(
    mapshelf: Mapshelf, words: tuple[str, ...], offered: tuple[str, ...]
) -> None:
    refused = mapshelf.run(*words, expect=2).stderr.splitlines()[-1]
    assert all(name in refused for name in offered)
    assert "<" not in refused
