"""A first import in a real browser: maps appear, and refused files are listed."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.model import Refusal, RefusalKind, Role
from mapshelf.site.messages import say
from tests.cli.process import wait_for
from tests.cli.test_commands import write_map
from tests.harness import Shelf, shelf_with
from tests.site.browser import Reader, served
from tests.site.people.test_in_browser import check, heading
from tests.site.people.test_moderation_in_browser import arrive, visitor
from tests.site.shelves import GARDEN

HALF = say("importing", done=400, total=800)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("imports")) as empty:
        yield empty


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data) as address:
        yield address


def test_an_empty_library_shows_imported_maps_by_itself(
    browser: Browser, house: str, shelf: Shelf
) -> None:
    reader = visitor(browser, house)
    page = reader.open("/")
    expect(page.get_by_text("mapshelf import ~/Maps")).to_be_visible()
    expect(page.locator(".filling")).to_be_hidden()
    check(page)
    status = StatusFile(shelf.settings.data)
    status.write(ImportStatus(400, 800))
    expect(page.get_by_label(HALF)).to_be_visible()
    expect(page.get_by_text("mapshelf import ~/Maps")).to_be_hidden()
    expect(page.get_by_text(say("empty.filling"), exact=True)).to_be_visible()
    check(page)
    shelf.put(GARDEN)
    expect(page.get_by_role("link", name=GARDEN.title)).to_be_visible()
    status.clear()
    expect(page.locator("#importing")).to_be_hidden()
    check(page)
    reader.close()


def test_without_a_script_a_link_refreshes_the_library(
    browser: Browser, house: str, shelf: Shelf
) -> None:
    reader = Reader(browser, house, java_script_enabled=False)
    status = StatusFile(shelf.settings.data)
    status.write(ImportStatus())
    page = reader.open("/?order_by=alpha")
    expect(page.get_by_text(say("importing.looking"))).to_be_visible()
    status.write(ImportStatus(400, 800))
    page.get_by_role("link", name=say("importing.refresh")).click()
    expect(page.get_by_label(HALF)).to_be_visible()
    assert page.url.endswith("/?order_by=alpha")
    status.clear()
    page.get_by_role("link", name=say("importing.refresh")).click()
    expect(page.locator("#importing")).to_be_hidden()
    reader.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_refused_files_are_read_and_dismissed(
    browser: Browser, house: str, shelf: Shelf, scripts: bool
) -> None:
    names = [f"/maps/{number}{scripts}/{'long' * 30}.mm" for number in range(2)]
    shelf.store.note_refusals([Refusal(name, "why", RefusalKind.REFUSED) for name in names])
    shelf.store.note_refusals([Refusal("/maps/Readme.md", "no map", RefusalKind.SKIPPED)])
    reader = visitor(browser, house, java_script_enabled=scripts)
    page = arrive(shelf, reader, f"chief{scripts}", Role.ADMINISTRATOR)
    page.get_by_role("link", name="Imports").click()
    heading(page, "Imports")
    if scripts:
        check(page)
    count = page.get_by_role("button", name="Dismiss /maps").count()
    page.get_by_role("button", name="Dismiss /maps").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(say("done.imports.one"))).to_be_visible()
    expect(page.get_by_role("button", name="Dismiss /maps")).to_have_count(count - 1)
    page.get_by_role("button", name="Dismiss all").first.press("Enter")
    expect(page.get_by_text(say("imports.none"))).to_be_visible()
    reader.close()


def test_maps_of_a_served_folder_appear_during_the_import(browser: Browser, tmp_path: Path) -> None:
    folder, data = tmp_path / "maps", tmp_path / "data"
    folder.mkdir()
    data.mkdir()
    with served(data, str(folder), "--owner", "ann") as address:
        wait_for(lambda: httpx.get(address).status_code == 200)  # in the first snapshot
        reader = Reader(browser, address)
        page = reader.open("/")
        for number in range(3):
            write_map(folder / f"{number}.mm", f"Map {number}")
        expect(page.locator(".card")).to_have_count(3)
        expect(page.locator(".card .facts").first).to_contain_text("ann")
        reader.close()
