"""Reading a map in a browser: notes, search, sheets, touch targets and printing."""

import re
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.site.accessibility import faults_in_both_schemes
from tests.site.browser import Reader, settled
from tests.site.conftest import ReaderWith

PAGE = "/mindmaps/Noted001"
SIZES: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "small": {"viewport": {"width": 700, "height": 600}},
    "desk": {"viewport": {"width": 1280, "height": 800}},
}
TOPICS = ("r", "b3", "l0-0", "l1-5", "l3-2", "l7-5", "far", "s7")
LEAST_LETTERS = 11
LEAST_TARGET = 24


def box_of(page: Page, selector: str) -> FloatRect:
    found = page.locator(selector).first.bounding_box()
    assert found
    return found


def overlap(one: FloatRect, other: FloatRect) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def inside(inner: FloatRect, outer: FloatRect) -> bool:
    return (
        inner["x"] >= outer["x"] - 1
        and inner["y"] >= outer["y"] - 1
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
    )


def go_to(page: Page, topic: str) -> None:
    page.evaluate("topic => { location.hash = `#t=${topic}`; }", topic)
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", topic)
    settled(page)


def scale_of(page: Page) -> float:
    transform = page.locator("#stage > svg > g").get_attribute("transform") or ""
    found = re.search(r"scale\(([\d.]+)\)", transform)
    assert found
    return float(found[1])


@pytest.mark.parametrize("size", SIZES)
def test_a_note_never_covers_its_topic(reader_with: ReaderWith, size: str) -> None:
    page = reader_with(**SIZES[size]).open(f"{PAGE}#t={TOPICS[0]}")
    for topic in TOPICS:
        go_to(page, topic)
        stage, body = box_of(page, "#stage"), box_of(page, "#stage .current .body")
        assert inside(body, stage), topic
        letters = page.locator("#stage .current > text").first.get_attribute("font-size")
        assert float(letters or 0) * scale_of(page) >= LEAST_LETTERS - 0.1, topic
        if page.locator(".detail").is_visible():
            panel = box_of(page, ".detail")
            assert inside(panel, stage), topic
            assert not overlap(body, panel), topic
        assert not overlap(body, box_of(page, ".finder")), topic


def test_unfolding_everything_shows_the_whole_map(reader: Reader) -> None:
    page = reader.open(PAGE)
    page.get_by_role("button", name="Unfold everything").click()
    settled(page)
    expect(page.locator("[data-topic]")).to_have_count(1 + 8 + 48 + 1)
    stage = box_of(page, "#stage")
    for press in (None, "Show everything"):
        if press:
            page.mouse.click(stage["x"] + 5, stage["y"] + stage["height"] / 2)
            page.get_by_role("button", name="Zoom in").click(click_count=3)
            page.get_by_role("button", name=press).click()
            settled(page)
        for selector in (".topics", ".arrows", ".lines"):
            assert inside(box_of(page, f"#stage {selector}"), stage), selector


def test_find_searches_notes_and_tags(reader: Reader) -> None:
    page = reader.open(PAGE)
    find = page.locator(".finder input")
    current, count = page.locator("#stage .current"), page.locator(".found-count")
    find.fill("secret 6 2")
    expect(count).to_have_text("1 of 1")
    expect(current).to_have_attribute("data-topic", "l6-2")
    expect(page.locator(".detail mark")).to_have_text("Secret 6 2")
    settled(page)
    assert not overlap(box_of(page, "#stage .current .body"), box_of(page, ".detail"))
    find.fill("orchard")
    expect(current).to_have_attribute("data-topic", "b3")
    find.fill("sheet number 12")
    expect(current).to_have_attribute("data-topic", "s12")
    find.fill("secret 6")
    expect(count).to_have_text("1 of 6")
    find.press("Enter")
    expect(count).to_have_text("2 of 6")
    find.press("Shift+Enter")
    expect(count).to_have_text("1 of 6")
    find.fill("nowhere at all")
    expect(count).to_have_text("Not found")


def test_many_sheets_are_reached_by_keyboard(reader: Reader) -> None:
    page = reader.open(PAGE)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(39)
    tabs.first.focus()
    page.keyboard.press("End")
    expect(tabs.last).to_be_focused()
    expect(page.locator('[data-topic="s39"]')).to_be_visible()
    assert inside(box_of(page, '[role="tab"]:focus'), box_of(page, ".sheets"))
    page.keyboard.press("ArrowRight")
    expect(tabs.first).to_be_focused()
    expect(page.locator('[data-topic="r"]')).to_be_visible()


def test_touch_targets_are_large_enough(reader_with: ReaderWith) -> None:
    page = reader_with(**SIZES["phone"]).open(f"{PAGE}#t=l0-0")
    settled(page)
    assert scale_of(page) > 0.85
    reach = [
        f"{selector}:{at}:{box}"
        for selector in (".handle .reach", ".tools button", ".sheets button", ".detail button")
        for at, box in enumerate(boxes(page, selector))
        if min(box["width"], box["height"]) < LEAST_TARGET - 1.5
    ]
    assert not reach


def boxes(page: Page, selector: str) -> list[FloatRect]:
    found: list[FloatRect] = page.locator(selector).evaluate_all(
        """all => all.map((one) => {
            const {x, y, width, height} = one.getBoundingClientRect();
            return {x, y, width, height};
        })"""
    )
    return [box for box in found if box["width"]]


def test_a_swipe_beside_the_drawing_scrolls_the_page(reader_with: ReaderWith) -> None:
    phone = reader_with(**SIZES["phone"])
    for selector, moves in ((".finder", True), (".words", True), ("#stage .current", False)):
        page = phone.open(f"{PAGE}#t=l0-0")  # a new page: the last one may still be scrolling
        settled(page)
        before = page.locator("#stage > svg > g").get_attribute("transform")
        start = page.evaluate("scrollY")
        box = box_of(page, selector)
        swipe(phone, page, box["x"] + box["width"] / 2, box["y"] + 10)
        assert (page.evaluate("scrollY") > start + 50) is moves, selector
        transform = page.locator("#stage > svg > g").get_attribute("transform")
        assert (transform == before) is moves, selector


def swipe(phone: Reader, page: Page, x: float, y: float) -> None:
    session = phone.context.new_cdp_session(page)
    for step in range(9):
        kind = "touchStart" if step == 0 else "touchMove"
        point = {"x": x, "y": y - 30 * step, "id": 0}
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(400)


def test_tables_in_notes_scroll_and_keep_their_words(reader: Reader) -> None:
    page = reader.open(f"{PAGE}#t=l0-0")
    table = page.locator(".detail table")
    expect(table).to_be_visible()
    assert table.evaluate("one => one.scrollWidth > one.clientWidth")
    assert page.locator(".detail td").first.evaluate("one => one.getClientRects().length") == 1
    height = page.locator(".detail td").first.evaluate("one => one.offsetHeight")
    assert height < 60, "words are broken across lines"
    gap = page.locator(".detail .note").evaluate("one => one.offsetHeight")
    assert gap < 200, "line breaks of the source are shown"


def test_the_page_of_a_map_is_accessible(reader_with: ReaderWith) -> None:
    page = reader_with(**SIZES["phone"]).open(f"{PAGE}#t=l0-0")
    settled(page)
    page.locator(".finder input").fill("before")
    assert not faults_in_both_schemes(page)


def test_a_page_past_the_end_links_to_the_last_page(reader: Reader) -> None:
    page = reader.open("/owners/many?offset=9600")
    expect(page.locator(".nothing")).to_contain_text("This list has only 3 pages.")
    page.get_by_role("link", name="To the last page").click()
    expect(page.locator(".pager")).to_contain_text("Page 3 of 3")


def test_a_map_is_printed_on_as_many_pages_as_it_takes(reader: Reader) -> None:
    page = reader.open("/mindmaps/Garden01")
    printed = page.pdf(prefer_css_page_size=True)
    assert pages_of(printed)[0] == "landscape"
    assert page.locator(".page").count() == 0, "the pages for printing are still there"
    page.goto(PAGE)
    page.get_by_role("button", name="Unfold everything").click()
    several = pages_of(page.pdf(prefer_css_page_size=True))
    assert len(several) > len(pages_of(printed)) + 4
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    expect(page.locator(".page .title").first).to_contain_text(" · 1 / ")
    tiles = page.locator(".page svg").evaluate_all(
        "all => all.map((one) => [...one.getAttribute('viewBox').split(' ').map(Number),"
        " one.clientWidth, one.clientHeight])"
    )
    drawn = page.evaluate(
        "() => { const b = document.getElementById('paper').getBBox();"
        " return [b.x, b.y, b.x + b.width, b.y + b.height]; }"
    )
    assert min(tile[0] for tile in tiles) <= drawn[0]
    assert min(tile[1] for tile in tiles) <= drawn[1]
    assert max(tile[0] + tile[2] for tile in tiles) >= drawn[2]
    assert max(tile[1] + tile[3] for tile in tiles) >= drawn[3]
    assert all(tile[4] <= 950 and tile[5] <= 950 for tile in tiles)
    assert not page.locator(".bar, .stage, .side, .related").filter(visible=True).count()
    expect(page.locator("#outline")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def pages_of(printed: bytes) -> list[str]:
    """Return the orientation of every page of a PDF."""
    sides = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed)
    return ["landscape" if float(wide) > float(high) else "portrait" for wide, high in sides]
