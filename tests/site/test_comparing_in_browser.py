"""Comparing maps and listing duplicates, in a real browser on a small phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from mapshelf.model import MapDraft, Role
from tests.harness import Shelf, outline_of, shelf_with
from tests.site.browser import served
from tests.site.people.test_in_browser import check, heading
from tests.site.people.test_moderation_in_browser import arrive, visitor

TOPICS = [f"{word} and soil" for word in ("compost", "mulch", "clay", "sand", "peat", "lime")]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = (
        MapDraft(id="Garden01", title="Garden", outline=outline_of("Garden", *TOPICS)),
        MapDraft(id="Garden02", title="Garden", outline=outline_of("Garden", *TOPICS)),
        MapDraft(
            id="Garden03",
            title="Newer garden",
            outline=outline_of("Garden", *TOPICS[1:], "a pond", "a very long word " * 20),
        ),
        MapDraft(id="Cellar01", title="Cellar", outline=outline_of("Wine cellar", "Bottles")),
    )
    with shelf_with(tmp_path_factory.mktemp("compared"), *drafts) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data) as address:
        yield address


@pytest.mark.parametrize("scripts", [True, False])
def test_two_maps_are_compared_and_swapped(browser: Browser, house: str, *, scripts: bool) -> None:
    reader = visitor(browser, house, java_script_enabled=scripts)
    page = reader.open("/mindmaps/Garden01/garden/compare/Garden03")
    heading(page, "What changed")
    added, removed = page.locator("#added"), page.locator("#removed")
    expect(added).to_contain_text("2 branches added")
    expect(removed).to_contain_text("1 branch removed")
    expect(page.locator("section", has=added)).to_contain_text("a pond")
    expect(page.locator("section", has=removed)).to_contain_text("compost and soil")
    drawing = page.get_by_role("img", name="The map with its differences marked")
    expect(drawing).to_be_visible()
    if scripts:
        page.wait_for_function("document.querySelector('.compared img').naturalWidth > 0")
        check(page)
    page.get_by_role("link", name="Swap the two").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#added")).to_contain_text("1 branch added")
    page.get_by_role("link", name="Newer garden").click()
    heading(page, "Newer garden")
    reader.close()


def test_a_map_is_compared_with_its_twin_from_its_page(browser: Browser, house: str) -> None:
    reader = visitor(browser, house)
    page = reader.open("/mindmaps/Garden01/garden")
    page.get_by_role("link", name="Compare with “Garden”").click()
    expect(page.get_by_text("Both have the same topics.")).to_be_visible()
    check(page)
    reader.close()


def test_administrators_find_duplicates(browser: Browser, house: str, shelf: Shelf) -> None:
    reader = visitor(browser, house)
    page = arrive(shelf, reader, "chief", Role.ADMINISTRATOR)
    page.get_by_role("link", name="Duplicate maps").click()
    heading(page, "Duplicate maps")
    expect(page.locator(".panel")).to_have_count(1)
    expect(page.locator(".panel li")).to_have_count(2)
    expect(page.get_by_text("Cellar")).to_have_count(0)
    check(page)
    page.get_by_role("link", name="Compare with “Garden”").focus()
    page.keyboard.press("Enter")
    heading(page, "What changed")
    reader.close()


def test_members_do_not_get_the_page_of_duplicates(
    browser: Browser, house: str, shelf: Shelf
) -> None:
    reader = visitor(browser, house)
    page = arrive(shelf, reader, "guest")
    expect(page.get_by_role("link", name="Duplicate maps")).to_have_count(0)
    reader.close()
