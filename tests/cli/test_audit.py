"""``mapshelf audit`` shows the audit log."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.model import AuditEntry, AuditEvent
from tests.cli.process import Mapshelf

pytestmark = pytest.mark.process


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    made = Mapshelf(tmp_path / "data")
    made.run("user", "add", "ann")
    return made


def test_commands_are_noted(mapshelf: Mapshelf) -> None:
    token = mapshelf.run("token", "create", "ann", "--label", "Portal").stdout.strip()
    mapshelf.run("token", "revoke", "1")
    mapshelf.run("user", "role", "ann", "administrator")
    mapshelf.run("user", "disable", "ann")
    mapshelf.run("user", "enable", "ann")
    mapshelf.run("user", "disable", "nobody", expect=1)
    added = mapshelf.lines(
        "client", "add", "Portal", "--redirect-uri", "https://a.example/", "--id", "p1"
    )
    mapshelf.run("client", "remove", "p1")
    text = mapshelf.run("audit").stdout
    rows = [line.split("\t") for line in text.splitlines()]
    assert [row[1:5] for row in rows] == [
        ["user.added", "", "user ann", "command line"],
        ["link.made", "", "user ann", "command line"],
        ["token.made", "", "user ann, token Portal", "command line"],
        ["token.revoked", "", "token 1", "command line"],
        ["user.role", "", "user ann", "command line"],
        ["user.disabled", "", "user ann", "command line"],
        ["user.enabled", "", "user ann", "command line"],
        ["client.added", "", "client p1", "command line"],
        ["client.removed", "", "client p1", "command line"],
    ]
    secret = added[1].split("\t")[1]
    assert token not in text
    assert secret not in text


def test_some_of_the_log_for_programs(mapshelf: Mapshelf) -> None:
    with closing(mapshelf.store()) as store:
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "token x", 2, "ann", "192.0.2.1"))
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "token y", 3, "anna", "192.0.2.1"))
    found = [json.loads(line) for line in mapshelf.lines("audit", "--user", "ANN", "--json")]
    assert [one["event"] for one in found] == ["user.added", "link.made", "token.made"]
    last = found[-1]
    assert last.pop("at") == last.pop("last")
    assert last == {
        "count": 1,
        "event": "token.made",
        "user": "ann",
        "target": "token x",
        "address": "192.0.2.1",
    }
    assert len(mapshelf.lines("audit", "--since", "1")) == 4
    # A name with a comma is one user.
    mapshelf.run("user", "add", "ann, map x")
    with closing(mapshelf.store()) as store:
        for name in ("ann", "anna, user ann"):
            target = f"map Abc12345, user {name}"
            store.add_audit_entry(
                AuditEntry(AuditEvent.USER_DISABLED, target, 4, "root", "192.0.2.1")
            )
    found = [json.loads(line) for line in mapshelf.lines("audit", "--user", "ann", "--json")]
    assert [one["target"] for one in found[2:]] == ["token x", "map Abc12345, user ann"]
    mapshelf.run("audit", "--since", "0", expect=2)
    mapshelf.run("audit", "--since", "91", expect=2)
