"""All parts of a map can be used with the keyboard alone or touch alone, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.harness import shelf_with
from tests.linked import linking
from tests.readers.illustrated import picture
from tests.site.accessibility import faults
from tests.site.browser import Reader, served
from tests.site.conftest import ReaderWith
from tests.site.shelves import TOUR

TOUR_PAGE = "/mindmaps/Tour0001"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
MOST_TABS = 60


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with a map that has every feature, and two linked maps."""
    folder = tmp_path_factory.mktemp("reached")
    here = linking("Linker01", "/maps/here.mm", "there.mm", title="Here")
    there = linking("Linked01", "/maps/there.mm", "here.mm", title="There")
    with shelf_with(folder, TOUR, here, there):
        pass
    with served(folder) as running:
        yield running


@pytest.fixture
def keyboard(browser: Browser, address: str) -> Iterator[Reader]:
    """A reader without a mouse."""
    reader = Reader(browser, address, viewport={"width": 1280, "height": 800})
    yield reader
    reader.close()


@pytest.fixture
def finger(reader_with: ReaderWith) -> Reader:
    """A reader with a touch screen."""
    return reader_with(**PHONE)


def with_pictures(reader: Reader) -> None:
    reader.context.route("**/images/*", lambda route: route.fulfill(body=picture("red", (120, 90))))


def tab_to(page: Page, wanted: Locator) -> None:
    """Press the tab key until ``wanted`` has the focus."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not reached")


def find(page: Page, words: str, topic: str) -> None:
    """Go to a topic by its text, with the keyboard."""
    page.locator("#stage").focus()
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.type(words)
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", topic)
    page.keyboard.press("Escape")


def test_relationships_can_be_followed_by_keyboard(keyboard: Reader) -> None:
    with_pictures(keyboard)
    page = keyboard.open(TOUR_PAGE)
    find(page, "Urgent", "urgent")
    panel = page.locator(".detail")
    expect(panel).to_contain_text("← One: depends on")
    tab_to(page, panel.get_by_role("link", name="One"))
    page.keyboard.press("Enter")
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "one")
    expect(page.locator("#stage")).to_be_focused()
    expect(panel).to_contain_text("→ Urgent: depends on")
    assert not faults(page)


def test_a_relationship_leads_into_what_is_folded(keyboard: Reader) -> None:
    with_pictures(keyboard)
    page = keyboard.open(f"{TOUR_PAGE}#t=yellow-box")
    tab_to(page, page.locator(".detail").get_by_role("link", name="Deeper"))
    page.keyboard.press("Enter")
    expect(page.locator('[data-topic="deeper"]')).to_be_visible()
    expect(page.locator(".detail .more li")).to_have_text(
        ["→ Yellow box", "← Deep: within a folded branch"]
    )


def test_pictures_formulas_and_sheets_can_be_reached_by_keyboard(keyboard: Reader) -> None:
    with_pictures(keyboard)
    page = keyboard.open(TOUR_PAGE)
    find(page, "flower", "a-flower")
    large = page.locator(".detail img")
    expect(large).to_have_attribute("alt", "A daisy")
    assert large.evaluate("one => one.complete && one.naturalWidth > 0")
    assert not faults(page)
    find(page, "\\frac", "root")
    expect(page.locator('[data-topic="root"] .formula')).to_be_visible()
    tab_to(page, page.get_by_role("tab", name="Tour"))
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-topic="second-canvas"]')).to_be_visible()
    assert not faults(page)


def test_links_between_maps_can_be_followed_by_keyboard(keyboard: Reader) -> None:
    page = keyboard.open("/mindmaps/Linker01")
    find(page, "links", "t")
    tab_to(page, page.locator(".detail").get_by_role("link", name="There"))
    assert not faults(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/mindmaps/Linked01/there")


def test_a_map_can_be_used_by_touch(finger: Reader) -> None:
    with_pictures(finger)
    page = finger.open(f"{TOUR_PAGE}#t=one")
    panel = page.locator(".detail")
    panel.get_by_role("link", name="Urgent").tap()
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "urgent")
    expect(panel).to_contain_text("← One: depends on")
    panel.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()
    page.goto(f"{page.url.partition('#')[0]}#t=a-flower")
    expect(panel.locator("img")).to_have_attribute("alt", "A daisy")
    panel.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()
    page.locator('[data-topic="a-flower"] image').tap()
    expect(panel.locator("img")).to_have_attribute("alt", "A daisy")
    assert not faults(page)
    page.get_by_role("tab", name="Another").tap()
    expect(page.locator('[data-topic="second-canvas"]')).to_be_visible()
    finger.go(page, "/mindmaps/Linker01#t=t")
    panel.get_by_role("link", name="There").tap()
    page.wait_for_url("**/mindmaps/Linked01/there")
