"""Visits to a service with two workers are counted once, despite a restart and ``kill -9``."""

import time
from contextlib import closing
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from mapshelf.settings import sqlite_url
from mapshelf.store import open_store
from tests.cli.process import Mapshelf, Service, serving, wait_for
from tests.cli.test_commands import write_map
from tests.visits.browsers import FIREFOX

pytestmark = pytest.mark.process

LATER = 2**60
VISITORS = 30
TRUSTED = ("--trusted-proxy", "127.0.0.0/8")
LONGEST = 90
"""Seconds before the end of an hour in which no test begins: a new hour counts everybody anew."""


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    left = 3600 - time.time() % 3600
    if left < LONGEST:
        time.sleep(left)
    mapshelf = Mapshelf(tmp_path / "data")
    mapshelf.run("import", write_map(tmp_path / "soil.mm", "Soil"))
    return mapshelf


def page_of(service: Service) -> str:
    (found,), _ = service.get("/maps")
    return f"/mindmaps/{found['ID']}/soil"


def visit(service: Service, path: str, visitor: int) -> None:
    """Send a request over a new connection, so that any worker may get it."""
    headers = {"User-Agent": FIREFOX, "X-Forwarded-For": f"198.51.100.{visitor}"}
    with urlopen(Request(service.url + path, headers=headers), timeout=10) as answer:
        assert answer.status == 200


def counted(mapshelf: Mapshelf) -> tuple[int, int]:
    """Apply the counts to the map; return its views and downloads."""
    with closing(open_store(sqlite_url(mapshelf.data))) as store:
        store.apply_visit_counts(LATER)
        (found,) = store.maps(0, 9)
        return found.views, found.downloads


def test_each_visitor_counts_once_despite_a_kill_and_a_restart(mapshelf: Mapshelf) -> None:
    token = mapshelf.token()
    with serving(mapshelf, *TRUSTED, token=token, workers=2) as service:
        service.wait_until_ready()
        page = page_of(service)
        for _ in range(3):
            for n in range(VISITORS):
                visit(service, page, n)
            visit(service, f"{page}.md", 1)
        wait_for(lambda: counted(mapshelf) == (VISITORS, 1))
        wait_for(lambda: service.get("/maps")[0][0]["Views"] == str(VISITORS))
        visit(service, page, VISITORS)
        service.kill()
    known, downloads = counted(mapshelf)
    assert VISITORS <= known <= VISITORS + 1  # only the last visit may be lost
    assert downloads == 1
    # After a restart within the hour, no visitor is counted again.
    with serving(mapshelf, *TRUSTED, token=token) as service:
        service.wait_until_ready()
        for n in range(VISITORS + 1):
            visit(service, page, n)
    assert counted(mapshelf) == (VISITORS + 1, 1)
    assert "198.51.100" not in written_in(mapshelf.data)
    mapshelf.run("check")


def test_counting_can_be_switched_off(mapshelf: Mapshelf) -> None:
    with serving(mapshelf, *TRUSTED, "--no-counting") as service:
        service.wait_until_ready()
        visit(service, page_of(service), 1)
    assert counted(mapshelf) == (0, 0)


@pytest.mark.parametrize("address", ["proxy.example", "10.0.0.1/8", "", "300.1.1.1"])
def test_proxies_are_configured_by_address(tmp_path: Path, address: str) -> None:
    refused = Mapshelf(tmp_path / "data").run("serve", "--trusted-proxy", address, expect=2)
    assert "a trusted proxy must be an address" in refused.stderr


def written_in(folder: Path) -> str:
    """Return the content of all files in a folder as text."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_bytes().decode("latin-1") for path in files)
