"""``mapshelf client`` does what its help says."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import Mapshelf

pytestmark = pytest.mark.process


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    return Mapshelf(tmp_path / "data")


def test_programs_are_added_listed_and_removed(mapshelf: Mapshelf) -> None:
    uri = "https://program.example/back"
    made = mapshelf.run("client", "add", "Web", "--redirect-uri", uri)
    found = re.fullmatch(
        r"client_id\t([0-9a-f]{32})\nclient_secret\tmsp_[0-9A-Za-z]{49}\n", made.stdout
    )
    assert found
    uris = ("--redirect-uri", "http://localhost/", "--redirect-uri", "com.example.app:/x")
    public = mapshelf.lines("client", "add", "App", "--public", *uris, "--id", "app")
    assert public == ["client_id\tapp"]
    known = ("--id", "a1" * 20, "--secret", "b2" * 20, "--legacy")
    old = mapshelf.lines("client", "add", "Old", *known, "--redirect-uri", "http://localhost:5/")
    assert old == [f"client_id\t{'a1' * 20}"]

    rows = [line.split("\t") for line in mapshelf.lines("client", "list")]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        (found[1], "Web", "confidential", uri),
        ("app", "App", "public", "http://localhost/ com.example.app:/x"),
        ("a1" * 20, "Old", "legacy", "http://localhost:5/"),
    ]

    mapshelf.run("client", "remove", "app")
    gone = mapshelf.run("client", "remove", "app", expect=1)
    assert gone.stderr == "mapshelf: there is no program with the id app\n"
    assert len(mapshelf.lines("client", "list")) == 2


def test_a_secret_may_come_from_standard_input(mapshelf: Mapshelf) -> None:
    """There, other users of the machine cannot see it."""
    words = mapshelf.command("client", "add", "Old", "--id", "old", "--secret", "-")
    done = subprocess.run(words, input="s" * 30 + "\n", capture_output=True, text=True, check=True)
    assert done.stdout == "client_id\told\n"
    taken = mapshelf.run("client", "add", "Old", "--id", "old", expect=1)
    assert taken.stderr == "mapshelf: there is a program with the id old already\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--redirect-uri", "http://program.example/"),
        ("--redirect-uri", "https://program.example/#x"),
        ("--secret", "short"),
        ("--public", "--secret", "s" * 30),
        ("--public", "--legacy"),
        ("--id", "a b"),
    ],
)
def test_unsafe_registrations_are_refused(mapshelf: Mapshelf, options: tuple[str, ...]) -> None:
    refused = mapshelf.run("client", "add", "Program", *options, expect=2)
    assert refused.stderr.startswith("mapshelf: ")
    assert refused.stderr.count("\n") == 1
    assert mapshelf.lines("client", "list") == []
