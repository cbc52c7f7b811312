"""Commands with a PostgreSQL database: moving there and back, several nodes, failures."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from mapshelf.errors import InvalidSetting
from mapshelf.settings import without_password
from mapshelf.store import open_store
from tests.cli.process import EXAMPLES, Mapshelf, serving, status_of, wait_for
from tests.cli.test_commands import write_map
from tests.harness import Shelf
from tests.postgres import server

pytestmark = pytest.mark.process


def test_a_catalogue_moves_to_a_server_and_back(
    samples: Mapshelf, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    origin, back = samples.copied_to(tmp_path / "origin"), Mapshelf(tmp_path / "back")
    origin.token()
    url = new_url()
    node = Mapshelf(tmp_path / "node", url)

    for arguments in (
        ("--from", origin.data, "--to", url),
        ("--from", origin.data, "--to", url),
        ("--from", url, "--to", back.data),
    ):
        (told,) = origin.run("migrate", *arguments, placed=False).stdout.splitlines()
        assert told.startswith(f"moved {len(origin.exported())} maps; both exports have")

    exports = [one.run("export").stdout for one in (origin, node, back)]
    assert exports[0] == exports[1] == exports[2]
    assert node.lines("token", "list", "alice") == origin.lines("token", "list", "alice")
    assert node.run("check").stderr == ""


def test_a_refused_move_is_reported_in_a_line(tmp_path: Path, new_url: Callable[[], str]) -> None:
    origin, url = Mapshelf(tmp_path / "origin"), new_url()
    nothing = ("migrate", "--from", tmp_path / "nothing", "--to", url)
    assert "there is no catalogue" in origin.run(*nothing, expect=1, placed=False).stderr
    origin.run("user", "add", "bob")
    Mapshelf(tmp_path / "other", url).run("user", "add", "eve")
    done = origin.run("migrate", "--from", origin.data, "--to", url, expect=1, placed=False)
    assert done.stderr.splitlines() == ["mapshelf: the target contains another catalogue"]
    origin.run("migrate", "--from", origin.data, expect=2, placed=False)


def test_a_move_does_not_undo_what_was_done_in_the_target(
    tmp_path: Path, new_url: Callable[[], str]
) -> None:
    origin, url = Mapshelf(tmp_path / "origin"), new_url()
    node, back = Mapshelf(tmp_path / "node", url), Mapshelf(tmp_path / "back")
    origin.token()
    there = ("migrate", "--from", origin.data, "--to", url)
    for _ in range(2):
        origin.run(*there, placed=False)
    node.run("token", "revoke", "1")
    node.run("user", "add", "eve")
    tokens, users = node.lines("token", "list", "alice"), node.lines("user", "list")
    refusal = origin.run(*there, expect=1, placed=False).stderr
    assert refusal == (
        "mapshelf: the target has changes that the source does not have (users, tokens); to give"
        " them up, migrate to an empty database or a new folder instead\n"
    )
    assert (node.lines("token", "list", "alice"), node.lines("user", "list")) == (tokens, users)
    for target in (back, origin):  # the ways on: an empty target, or the other direction
        target.run("migrate", "--from", url, "--to", target.data, placed=False)
        assert target.lines("token", "list", "alice") == tokens
        assert target.lines("user", "list") == users


def test_two_nodes_of_one_database_show_the_same(
    tmp_path: Path, new_catalogue: Callable[[int], str]
) -> None:
    url = new_catalogue(0)
    first, second = (Mapshelf(tmp_path / name, url) for name in ("first", "second"))
    token = first.token()
    with serving(first, token=token) as one, serving(second, token=token) as other:
        for service in (one, other):
            service.wait_until_ready()
        first.run("import", write_map(tmp_path / "a.mm", "Soil"))
        second.run("import", write_map(tmp_path / "b.mm", "Air"))
        for service in (one, other):
            wait_for(lambda service=service: service.total() == 2)
        assert one.get("/maps")[0][0]["ID"] == other.get("/maps")[0][0]["ID"]
        ready, _ = other.get("/readyz")
        assert ready["database"] == {"reachable": True, "revision": 2}
        second.run("token", "revoke", first.lines("token", "list", "alice")[0].split("\t")[0])
        revoked = time.monotonic()
        for service in (one, other):
            wait_for(lambda service=service: _is_refused(service.url, token))
        # A node without its database would accept known tokens for sixty seconds.
        assert time.monotonic() - revoked < 20


def _is_refused(url: str, token: str) -> bool:
    try:
        urlopen(Request(f"{url}/maps", headers={"Authorization": token}), timeout=10).close()
    except HTTPError as error:
        return error.code == 401
    return False


def test_a_node_with_a_snapshot_starts_without_its_database(tmp_path: Path) -> None:
    with server() as own:
        node = Mapshelf(tmp_path / "node", own.url(own.new_database()))
        with closing(Shelf(node.data, node.database)) as shelf:
            shelf.publish()
            token = shelf.token()
        own.stop()
        with serving(node, token=token) as service:
            wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
            own.start()
            service.wait_until_ready()
            node.run("import", write_map(tmp_path / "a.mm", "Soil"))
            wait_for(lambda: service.total() == 1)


def test_passwords_are_not_shown(tmp_path: Path, new_url: Callable[[], str]) -> None:
    url = new_url().replace("postgres@", "postgres:s3cret@") + "?sslpassword=s3cret"
    mapshelf = Mapshelf(tmp_path / "data", url)
    mapshelf.run("user", "add", "bob")
    done = mapshelf.run("check")
    assert "s3cret" not in done.stdout + done.stderr
    wrong = Mapshelf(tmp_path / "data", url.replace("/test_", "/nowhere_"))
    done = wrong.run("check", expect=1)
    assert done.stderr.startswith("mapshelf: the PostgreSQL database cannot be used now")
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:p@h/d", "postgresql://u@h/d"),
        ("postgresql://u:p@x@h:1,i:2/d?port=1", "postgresql://u@h:1,i:2/d?port=1"),
        ("postgresql://u:p#q/s@h/d", "postgresql://u@h/d"),
        ("postgresql://u:p?q@h/d", "postgresql://..."),
        ("postgresql://u:p\nq@[::1]:5/d", "postgresql://u@[::1]:5/d"),
        ("postgresql://u?r:p@h/d", "postgresql://..."),
        ("postgresql://u@h/d?password=p@q", "postgresql://..."),
        ("postgresql://h/d?user=u&password=p@q/r", "postgresql://..."),
        ("postgresql://u:p", "postgresql://..."),
        ("postgresql://u:p/q", "postgresql://..."),
        ("postgresql://h/d?PASSWORD=p&host=b", "postgresql://h/d?...&host=b"),
        ("postgresql://h/d?pass%77ord=p&user=u", "postgresql://h/d?...&user=u"),
        ("postgresql://h/d?password=p\nq", "postgresql://h/d?..."),
        ("postgresql://h/d?scram_client_key=p", "postgresql://h/d?..."),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql:///d", "postgresql:///d"),
        ("postgresql://h/d?password=p&q&r=s", "postgresql://h/d?...&...&..."),
        ("postgresql://h/d?", "postgresql://h/d?"),
        ("sqlite:///a@b:c", "sqlite:///a@b:c"),
        ("sqlite://u:p@h/d", "sqlite://u@h/d"),
        ("password=p host=h", "..."),
        ("host=h password=p://x user=u", "..."),
        ("host=h password = 'p q' user=u", "..."),
    ],
)
def test_urls_are_shown_without_passwords(url: str, shown: str) -> None:
    assert without_password(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret%zz@h/d",
        "postgresql://u:s3cret\u2100@h/d",
        "postgresql://u:s3cret@[h/d",
        "postgresql:/u:s3cret@h/d",
        "sqlite://u:s3cret@h/d",
        "mysql://u:s3cret@h/d",
        "host=h password=s3cret",
        "postgresql://u:x@s3cret@h/d",
        "postgresql://u:x@h,s3cret@i/d",
    ],
)
def test_a_wrong_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        open_store(url)
    assert "database" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_an_unreachable_server_is_reported_in_a_line(tmp_path: Path) -> None:
    mapshelf = Mapshelf(tmp_path / "data", "postgresql://127.0.0.1:1/d")
    for words in (("serve",), ("export",), ("import", EXAMPLES)):
        (line,) = mapshelf.run(*words, expect=1).stderr.splitlines()
        assert line.startswith("mapshelf: the PostgreSQL database cannot be used now")
    assert "PGHOST" not in os.environ
