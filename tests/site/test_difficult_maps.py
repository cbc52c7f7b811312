"""Maps that are hard to show, in a real browser: formulas, many topics, low screens, printing."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.examples import is_full
from tests.harness import shelf_with
from tests.site.accessibility import faults
from tests.site.browser import Reader, served, settled
from tests.site.conftest import ReaderWith
from tests.site.difficult import ARROW_COUNT, DIFFICULT, LEVEL_COUNT
from tests.site.shelves import NOTED
from tests.site.test_reading import (
    LEAST_LETTERS,
    box_of,
    go_to,
    inside,
    overlap,
    pages_of,
    scale_of,
)

MOST_DRAWN = 3000
"""The most elements of a drawing that a browser can move thirty times a second."""

LOW = {"landscape": (640, 400), "zoomed": (320, 256)}
SEEN = ("r", "l0-0", "l3-2", "l7-5", "far", "s7")
"""Topics of ``NOTED``: the centre, short and long notes, a distant one, one on another sheet."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with these maps."""
    folder = tmp_path_factory.mktemp("difficult")
    with shelf_with(folder, *DIFFICULT, NOTED):
        pass
    with served(folder) as running:
        yield running


# -- formulas ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 1280])
def test_a_wide_formula_scrolls_by_itself(reader_with: ReaderWith, width: int) -> None:
    page = reader_with(viewport={"width": width, "height": 700}).open("/mindmaps/Wide0001")
    page.wait_for_function("() => document.querySelectorAll('.outline math').length === 4")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.locator(".outline .mathematics").filter(has=page.locator("math"))
    scrolls = "one => one.scrollWidth > one.clientWidth + 1000"
    assert wide.evaluate_all(f"all => all.filter({scrolls}).length") == 3
    formula = page.locator('[id="t=leaf"] .mathematics')
    formula.focus()
    expect(formula).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    for topic in ("alone", "beside", "leaf"):
        go_to(page, topic)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        panel = page.locator(".detail")
        if panel.is_visible():
            assert panel.evaluate("one => one.scrollWidth <= one.clientWidth"), topic
    assert not faults(page)


# -- letters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?view=table",
        "/?query=zed",
        "/mindmaps/Heavy001",
        "/mindmaps/Heavy001/x/compare/Wide0001",
        "/mindmaps/Wide0001/x/compare/Heavy001",
    ],
)
def test_a_letter_with_hundreds_of_marks_does_not_widen_the_page(
    reader_with: ReaderWith, path: str, width: int
) -> None:
    page = reader_with(viewport={"width": width, "height": 700}).open(path)
    assert "\u0363" in (page.text_content("main") or "")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# -- many topics and arrows -------------------------------------------------------------------


def drawn(page: Page) -> int:
    count: int = page.locator("#paper *").count()
    return count


@pytest.mark.parametrize("topic", ["r", "t2500", f"t{LEVEL_COUNT - 1}"])
def test_only_topics_near_the_view_are_drawn(reader: Reader, topic: str) -> None:
    page = reader.open(f"/mindmaps/Level001#t={topic}")
    assert page.locator("#stage").get_attribute("data-topics") == str(LEVEL_COUNT + 1)
    expect(page.locator(f'[data-topic="{topic}"]')).to_be_visible()
    for _ in range(6):
        settled(page)
        assert 10 < drawn(page) < MOST_DRAWN
        page.locator("#stage").press("-")


def test_only_arrows_near_the_view_are_drawn(reader: Reader) -> None:
    page = reader.open("/mindmaps/Arrows01")
    page.get_by_role("button", name="Unfold everything").click()
    settled(page)
    go_to(page, "l0-0")
    page.locator("#stage").press("+")
    page.locator("#stage").press("+")
    settled(page)
    everywhere = page.evaluate(
        "fetch(document.getElementById('stage').dataset.drawing)"
        ".then((one) => one.json()).then((data) => data.sheets[0].arrows.length)"
    )
    assert 0 < everywhere <= ARROW_COUNT
    near = page.locator(".arrow").count()
    assert 0 < near < everywhere
    assert page.locator(".around rect").count() < 40
    assert drawn(page) < MOST_DRAWN


def test_panning_draws_topics_that_come_into_view(reader: Reader) -> None:
    page = reader.open("/mindmaps/Level001#t=t2500")
    settled(page)
    stage = box_of(page, "#stage")
    x, y = stage["x"] + 60, stage["y"] + stage["height"] - 100
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 120):
        page.mouse.move(x, y - 25 * step)
    moved = box_of(page, '[data-topic="t2590"]')
    page.mouse.up()
    assert box_of(page, '[data-topic="t2590"]') == pytest.approx(moved, abs=0.6)
    lines = page.locator(".lines path").count()
    assert 10 < lines < MOST_DRAWN


# -- arrows -----------------------------------------------------------------------------------


def test_an_arrow_from_a_topic_to_itself_is_a_loop(reader: Reader, address: str) -> None:
    page = reader.open("/mindmaps/Loops001")
    arrows = page.locator(".arrow")
    expect(arrows).to_have_count(3)
    expect(arrows.first).to_contain_text("until it works")
    loop = box_of(page, ".arrow .curve")
    body = box_of(page, '[data-topic="again"] .body')
    assert loop["y"] + loop["height"] <= body["y"] + 2  # the width of its stroke
    assert loop["width"] > 8 * scale_of(page)
    assert loop["height"] > 8 * scale_of(page)
    in_page = page.locator(".arrow .curve").evaluate_all(
        "all => all.map(one => one.getAttribute('d'))"
    )
    go_to(page, "again")
    expect(page.locator(".detail .more li")).to_have_text(["↻ Again: until it works"])
    whole = httpx.get(f"{address}/thumbnails/Loops001.svg", timeout=60).text
    assert whole.count('stroke-dasharray="5 3"') == 3
    assert "until it works" in whole
    page.locator('[data-topic="once"] .handle').click()
    expect(arrows).to_have_count(2)
    assert [one[:1] for one in in_page] == ["M"] * 3


def test_find_searches_labels_of_arrows(reader: Reader) -> None:
    page = reader.open("/mindmaps/Loops001")
    page.locator(".finder input").fill("until it")
    expect(page.locator(".found-count")).to_have_text("1 of 1")
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "again")
    expect(page.locator(".detail mark")).to_have_text("until it")
    page.locator(".finder input").fill("climbs")
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "inside")


@pytest.mark.parametrize(
    ("public_id", "words"), [("Arrows01", "leaf 3"), ("Noted001", "secret 4 2")]
)
def test_found_topics_are_large_enough_to_read(reader: Reader, public_id: str, words: str) -> None:
    page = reader.open(f"/mindmaps/{public_id}")
    page.locator(".finder input").fill(words)
    expect(page.locator("#stage .current")).to_have_count(1)
    settled(page)
    letters = page.locator("#stage .current > text").first.get_attribute("font-size")
    assert float(letters or 0) * scale_of(page) >= LEAST_LETTERS - 0.1


# -- low screens ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", LOW)
def test_the_linked_topic_is_visible_on_a_low_screen(reader_with: ReaderWith, size: str) -> None:
    width, height = LOW[size]
    reader = reader_with(viewport={"width": width, "height": height})
    screen = FloatRect(x=0, y=0, width=width, height=height)
    # Opening the map takes time: without ``full``, each topic is tested at one of the sizes only.
    for topic in SEEN if is_full() else SEEN[[*LOW].index(size) :: len(LOW)]:
        page = reader.open(f"/mindmaps/Noted001#t={topic}")
        expect(page.locator("#stage .current")).to_have_attribute("data-topic", topic)
        settled(page)
        body = box_of(page, "#stage .current .body")
        assert inside(body, screen), topic
        for other in (".bar", ".finder", ".detail", ".sheets", ".stage .tools"):
            if page.locator(other).is_visible():
                assert not overlap(body, box_of(page, other)), (topic, other)
        page.close()


# -- printing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("public_id", ["Tall0001", "Corners1", "Loops001"])
def test_each_tile_is_one_page_and_none_is_empty(
    reader: Reader, public_id: str, paper: str
) -> None:
    page = reader.open(f"/mindmaps/{public_id}")
    page.get_by_role("button", name="Unfold everything").click()
    settled(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    tiles = page.locator(".page svg").count()
    empty = page.evaluate(
        """() => {
            const boxes = [...document.querySelectorAll("#paper .body")].map((one) => {
                const [, x, y] = /translate\\(([-\\d.]+) ([-\\d.]+)/.exec(
                    one.parentNode.getAttribute("transform")).map(Number);
                const box = one.getBBox();
                return [x, y, x + box.width, y + box.height];
            });
            return [...document.querySelectorAll(".page svg")].filter((tile) => {
                const [x, y, width, height] = tile.getAttribute("viewBox").split(" ").map(Number);
                return !boxes.some(([x0, y0, x1, y1]) => (
                    x0 < x + width && x1 > x && y0 < y + height && y1 > y));
            }).length;
        }"""
    )
    assert empty == 0
    if tiles > 1:
        said = page.locator(".page .title").all_inner_texts()
        assert [re.sub(r".* · ", "", one) for one in said] == [
            f"{number} / {tiles}" for number in range(1, tiles + 1)
        ]
    page.evaluate("document.querySelector('.beside').remove()")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    for own_size in (True, False):
        printed = page.pdf(format=paper, prefer_css_page_size=own_size)
        assert len(pages_of(printed)) == tiles, own_size


def test_a_picture_higher_than_a_page_is_printed_whole(reader: Reader) -> None:
    page = reader.open("/mindmaps/Pictured")
    printed = page.pdf(format="A4")
    assert len(pages_of(printed)) <= 4, "expected the drawing and at most two pictures per page"
    page.emulate_media(media="print")
    pictures = page.locator("#outline .inside")
    expect(pictures).to_have_count(4)
    for number in range(4):
        pictures.nth(number).scroll_into_view_if_needed()
        box = pictures.nth(number).bounding_box()
        assert box is not None
        assert 300 < box["height"] < 450
        assert box["width"] == pytest.approx(box["height"] / 8, abs=2)


def test_marked_words_fit_their_box(reader: Reader) -> None:
    page = reader.open("/mindmaps/Marked01")
    words = page.locator('[data-topic="marked"] > text')
    expect(words).to_have_count(1)
    looks = words.locator("tspan").evaluate_all(
        "all => all.map((one) => { const style = getComputedStyle(one);"
        " return [one.textContent, style.fontWeight, style.fontStyle, style.textDecorationLine]; })"
    )
    assert looks == [
        ["bold", "600", "normal", "none"],
        ["italic", "400", "italic", "none"],
        ["one", "400", "normal", "underline"],
        ["make", "400", "normal", "none"],
    ]
    page.evaluate("document.fonts.ready")
    width = words.evaluate(
        "one => one.removeAttribute('textLength') ?? one.getComputedTextLength()"
    )
    room = page.evaluate(
        "fetch(document.getElementById('stage').dataset.drawing)"
        ".then((one) => one.json()).then((data) => data.sheets[0].topics[2][4][0][1])"
    )
    assert width == pytest.approx(room, abs=0.5), (
        "the width was measured in other fonts than the text is drawn in"
    )
    code = page.locator('[data-topic="marked"] rect.code').bounding_box()
    make = words.locator("tspan").last.bounding_box()
    assert code is not None
    assert make is not None
    assert code["x"] <= make["x"]
    assert make["x"] + make["width"] <= code["x"] + code["width"]
    assert not faults(page)
