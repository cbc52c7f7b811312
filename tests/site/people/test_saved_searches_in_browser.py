"""Saving searches and reporting collections, in a real browser on a small phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from mapshelf.model import CollectionDetails, MapDraft, Role, Visibility
from mapshelf.site.messages import say
from tests.harness import Shelf, outline_of, shelf_with
from tests.person import user_named
from tests.site.browser import served
from tests.site.people.test_in_browser import check, heading
from tests.site.people.test_moderation_in_browser import arrive, visitor


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = [
        MapDraft(id=f"map{word}", title=f"{word} {'very ' * 20}long", outline=outline_of(word))
        for word in ("beans", "beets")
    ]
    with shelf_with(tmp_path_factory.mktemp("searches"), *drafts) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data) as address:
        yield address


@pytest.mark.parametrize("scripts", [True, False])
def test_a_search_is_saved_renamed_and_deleted(
    browser: Browser, house: str, shelf: Shelf, *, scripts: bool
) -> None:
    reader = visitor(browser, house, java_script_enabled=scripts)
    page = arrive(shelf, reader, f"ann{scripts}")
    reader.go(page, "/")
    page.get_by_role("checkbox", name="Titles only").check()
    page.fill("#query", "beans")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    page.get_by_role("link", name="Save this search").click()
    heading(page, "Saved searches")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("“beans” · Titles only")
    page.get_by_role("textbox", name="Name").fill("Beans " + "and more " * 20)
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text(say("done.search.saved"))).to_be_visible()
    if scripts:
        check(page)
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Name").fill("Beans")
    if scripts:
        check(page)
    page.get_by_role("button", name="Rename").press("Enter")
    page.get_by_role("link", name="Beans", exact=True).click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.get_by_role("checkbox", name="Titles only")).to_be_checked()
    reader.go(page, "/account/searches")
    page.locator("summary").click()
    page.get_by_role("button", name="Delete Beans").click()
    expect(page.get_by_text(say("searches.none"))).to_be_visible()
    reader.close()


def test_a_collection_is_reported_and_hidden(browser: Browser, house: str, shelf: Shelf) -> None:
    guest, chief = (visitor(browser, house) for _ in range(2))
    page = arrive(shelf, guest, "guest")
    owner = user_named(shelf, shelf.store.users()[0].name).id
    details = CollectionDetails("Vegetables " * 10, "", Visibility.PUBLISHED)
    found = shelf.store.add_collection(owner, details, [])
    guest.go(page, f"/collected/{found.id}")
    check(page)
    page.get_by_role("link", name="Report this collection").press("Enter")
    page.get_by_label("It is advertising").check()
    check(page)
    page.get_by_role("button", name="Send the report").press("Enter")
    expect(page.get_by_text(say("done.reported"))).to_be_visible()
    other = arrive(shelf, chief, "chief", Role.ADMINISTRATOR)
    other.get_by_role("link", name="Reports").click()
    check(other)
    other.get_by_role("button", name="Hide the collection").press("Enter")
    expect(other.get_by_text(say("done.reports.collection.hide"))).to_be_visible()
    check(other)
    other.get_by_role("button", name="Undo").press("Enter")
    expect(other.get_by_text(say("done.reports.undo"))).to_be_visible()
    guest.close()
    chief.close()
