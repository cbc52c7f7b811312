"""``make sbom`` lists the installed packages, and ``make audit`` reports known advisories.

The tests use a local server of advisories.
"""

import json
import os
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.cli.process import REPOSITORY, free_port

pytestmark = pytest.mark.process

ADVISORY = {
    "id": "GHSA-test-0001",
    "modified": "2026-01-01T00:00:00Z",
    "summary": "for tests",
    "affected": [{"package": {"ecosystem": "PyPI", "name": "jinja2"}, "versions": []}],
}


def make(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run make in a folder with the necessary files of the repository."""
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy(REPOSITORY / name, folder / name)
    if (REPOSITORY / ".tools").exists():
        (folder / ".tools").symlink_to(REPOSITORY / ".tools")
    environment = {**os.environ, "UV_HTTP_RETRIES": "0", "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        ["make", "--silent", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def advisories(affected: str) -> Iterator[str]:
    """Run a server with an advisory about one package; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = [
                {"vulns": [{"id": ADVISORY["id"], "modified": ADVISORY["modified"]}]}
                if query["package"]["name"] == affected
                else {}
                for query in asked["queries"]
            ]
            self.answer({"results": found})

        def do_GET(self) -> None:
            self.answer(ADVISORY)

        def answer(self, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_bill_of_materials_has_what_is_installed(tmp_path: Path) -> None:
    done = make(tmp_path, "sbom")
    assert done.returncode == 0, done.stderr
    bill = json.loads((tmp_path / "dist" / "mapshelf.cdx.json").read_text("utf-8"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "mapshelf")
    listed = {component["name"]: component for component in bill["components"]}
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {Requirement(text).name for text in project["dependencies"]}
    assert needed <= set(listed)
    assert "cryptography" in listed, "indirect dependencies are missing"
    assert "pytest" not in listed
    for name in needed:
        assert listed[name]["purl"] == f"pkg:pypi/{name}@{listed[name]['version']}"


@pytest.mark.parametrize(("affected", "ok"), [("jinja2", False), ("none", True)])
def test_advisories_are_reported(affected: str, ok: bool, tmp_path: Path) -> None:
    with advisories(affected) as address:
        done = make(tmp_path, "audit", f"ARGUMENTS=--service-url {address}")
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == ok, said
    assert (str(ADVISORY["id"]) in said) != ok, said
    assert "NOTHING WAS CHECKED" not in said


def test_an_audit_without_a_server_fails(tmp_path: Path) -> None:
    done = make(tmp_path, "audit", f"ARGUMENTS=--service-url http://127.0.0.1:{free_port()}")
    assert done.returncode != 0
    assert "NOTHING WAS CHECKED" in done.stderr
