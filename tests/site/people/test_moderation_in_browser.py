"""Reporting, moderating, exporting and deleting accounts, in a real browser on a small phone."""

import json
import zipfile
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from mapshelf.model import MapDetails, Role
from tests.harness import Shelf, shelf_with
from tests.person import PASSWORD, link_of, user_named
from tests.site.browser import Reader, served
from tests.site.people.test_in_browser import PHONE, check, heading, type_password
from tests.site.shelves import GARDEN
from tests.store.drafts import upload


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("order"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data) as address:
        yield address


def visitor(browser: Browser, house: str, **settings: object) -> Reader:
    return Reader(
        browser, house, viewport=PHONE, has_touch=True, is_mobile=True, bypass_csp=True, **settings
    )


def arrive(shelf: Shelf, reader: Reader, name: str, role: Role = Role.MEMBER) -> Page:
    page = reader.open(link_of(shelf, name, role))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    heading(page, name)
    return page


@pytest.mark.parametrize("scripts", [True, False])
def test_from_a_report_to_a_decision_and_back(
    browser: Browser, house: str, shelf: Shelf, scripts: bool
) -> None:
    with_browser = {"java_script_enabled": scripts}
    guest, chief = (visitor(browser, house, **with_browser) for _ in range(2))
    page = arrive(shelf, guest, f"guest{scripts}")
    page.get_by_role("link", name="Mapshelf").first.click()
    page.get_by_role("link", name=GARDEN.title).first.click()
    page.get_by_role("link", name="Report this map").click()
    heading(page, "Report this map")
    if scripts:
        check(page)
    page.get_by_label("It is advertising").focus()
    page.keyboard.press("Space")
    page.get_by_label("Note").fill("It sells seeds.\nOne line more.")
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("status")).to_have_text("Thank you. An administrator will look at it.")
    if scripts:
        check(page)

    page = arrive(shelf, chief, f"chief{scripts}", Role.ADMINISTRATOR)
    page.get_by_role("link", name="Reports 1 map").click()
    expect(page.get_by_text("It sells seeds.")).to_be_visible()
    if scripts:
        check(page)
    page.get_by_role("button", name="Hide the map").click()
    expect(page.get_by_role("status")).to_contain_text("The map has been hidden.")
    if scripts:
        check(page)
    page.get_by_role("button", name="Undo the decision").first.click()
    expect(page.get_by_role("status")).to_contain_text("The decision has been undone.")
    page.get_by_role("button", name="Dismiss the reports").click()
    expect(page.get_by_text("There are no open reports.")).to_be_visible()
    guest.close()
    chief.close()


def test_an_account_is_exported_and_deleted(browser: Browser, house: str, shelf: Shelf) -> None:
    reader = visitor(browser, house)
    page = arrive(shelf, reader, "ann")
    user = user_named(shelf, "ann")
    mine, _ = shelf.store.publish(upload(), MapDetails(title="Mine"), user.id, None)
    page.get_by_role("link", name="Export your data").click()
    check(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download your data").click()
    with zipfile.ZipFile(download.value.path()) as packed:
        assert json.loads(packed.read("account.json"))["user"]["name"] == "ann"
        assert json.loads(packed.read("maps.ndjson"))["ID"] == mine.id
    page.get_by_role("link", name="Back to the account").click()
    page.get_by_role("link", name="Delete account").click()
    check(page)
    page.get_by_label("Keep them").check()
    page.get_by_label("Password", exact=True).fill(f"{PASSWORD}!")
    page.get_by_role("button", name="Delete my account").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong username or password.")
    check(page)
    assert "403" in reader.complaints.pop(), "browsers log a 403"
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Delete my account").click()
    heading(page, "Your account has been deleted")
    check(page)
    page.get_by_role("link", name="Account", exact=True).click()
    heading(page, "Sign in")
    found = shelf.store.find_map(mine.id)
    assert found
    assert found.owner == "system"
    reader.close()
