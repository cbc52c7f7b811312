"""While an import runs, the library shows its progress and loads new maps by itself."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.import_status import SLOW, ImportStatus, StatusFile
from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from tests.harness import Service, Shelf, outline_of, serve, shelf_with

MAP = MapDraft(id="Garden01", title="A garden", outline=outline_of("A garden", "Beans"))
LOOKING = say("importing.looking")
HALF = say("importing", done=400, total=800)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_with(tmp_path) as shelf:
        yield shelf


def page(site: Service, path: str = "/") -> str:
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200
    return answer.text


def test_the_library_shows_the_progress_of_an_import(shelf: Shelf) -> None:
    status = StatusFile(shelf.settings.data)
    with serve(shelf, site_routes) as site:
        assert say("importing.refresh") not in page(site)
        status.write(ImportStatus())
        assert LOOKING in page(site)
        assert page(site) == page(site)
        status.write(ImportStatus(400, 800))
        assert HALF in page(site)
        answer = site.request("GET", "/owners/reader", signed=False)
        assert HALF in answer.text
        assert '<progress id="imported" max="800" value="400">' in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        assert "ETag" not in answer.headers
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        status.clear()
        status.clear()
        assert HALF not in page(site, "/owners/reader")
        assert "ETag" in site.request("GET", "/", signed=False).headers


def test_scripts_get_the_progress_of_an_import(shelf: Shelf) -> None:
    status = StatusFile(shelf.settings.data)
    with serve(shelf, site_routes) as site:
        first = site.request("GET", "/site/imports", signed=False)
        assert first.headers["Cache-Control"] == "public, no-cache"
        assert first.json() == {"html": "", "revision": 0}
        status.write(ImportStatus(400, 800))
        shelf.put(MAP)
        shelf.publish()
        site.wait_until(lambda: site.get("/site/imports").json()["revision"] > 0)
        assert HALF in site.get("/site/imports").json()["html"]


def test_a_file_that_holds_up_an_import_is_mentioned(shelf: Shelf) -> None:
    status, file = StatusFile(shelf.settings.data), shelf.settings.data / "importing"
    with serve(shelf, site_routes) as site:
        status.write(ImportStatus(400, 800))
        assert say("importing.slow") not in page(site)
        ago = time.time() - SLOW - 1
        os.utime(file, (ago, ago))
        assert say("importing.slow") in page(site)
        assert say("importing.slow") in site.get("/site/imports").json()["html"]
        status.write(ImportStatus(800, 800))  # only the last maps are being written
        os.utime(file, (ago, ago))
        assert say("importing.slow") not in page(site)


def test_progress_is_hidden_in_a_private_catalogue(shelf: Shelf) -> None:
    StatusFile(shelf.settings.data).write(ImportStatus(400, 800))
    with Service(replace(shelf.settings, private=True), "", site_routes) as site:
        assert site.request("GET", "/site/imports", signed=False).status_code == 401
        session = f"__Host-mapshelf_session={shelf.session()}"
        told = site.request("GET", "/site/imports", signed=False, headers={"Cookie": session})
        assert HALF in told.json()["html"]
        shown = site.request("GET", "/", signed=False, headers={"Cookie": session})
        assert HALF in shown.text
        assert "no-cache" not in shown.headers["Cache-Control"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"done": "x", "total": 1}', "\xff"])
def test_a_damaged_status_file_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "importing").write_bytes(content.encode("latin-1"))
    assert StatusFile(tmp_path).read() is None


def test_an_unwritable_status_file_is_no_error(tmp_path: Path) -> None:
    StatusFile(tmp_path / "missing").write(ImportStatus())
    assert StatusFile(tmp_path / "missing").read() is None


def test_an_empty_library_says_what_to_do(shelf: Shelf) -> None:
    with serve(shelf, site_routes) as site:
        assert "<code>mapshelf import ~/Maps</code>" in page(site)
        assert "<code>mapshelf serve ~/Maps</code>" in page(site)
        for elsewhere in ("/?query=nothing", "/owners/reader"):
            assert "mapshelf import" not in page(site, elsewhere)


def test_browsers_get_an_error_page_and_programs_json(shelf: Shelf) -> None:
    with serve(shelf, site_routes) as site:
        kinds = {
            accept: site.request("GET", "/mpas", signed=False, headers={"Accept": accept})
            for accept in ("text/html", "Text/HTML,*/*;q=0.8", "*/*", "application/json, text/html")
        }
    assert {one.status_code for one in kinds.values()} == {404}
    found = [one.headers["Content-Type"].partition(";")[0] for one in kinds.values()]
    assert found == ["text/html", "text/html", "application/json", "application/json"]
