"""The pages in a real browser, with a real service."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import MapDraft
from mapshelf.render.contrast import contrast, tint
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.formulas import drawings, formulas_of
from mapshelf.render.layout import layout
from mapshelf.render.layout_style import PAGE as LOOK
from mapshelf.render.themes import DARK, LIGHT
from mapshelf.render.visible_topics import whole, with_formulas
from tests.examples import is_full
from tests.render.tour import PICTURE
from tests.site.accessibility import faults, faults_in_both_schemes
from tests.site.browser import Reader, settled
from tests.site.conftest import ReaderWith
from tests.site.shelves import ARABIC, CHINESE, GARDEN, STRIKES, TOUR

PAGE = "/mindmaps/Garden01/a-kitchen-garden"
ARABIC_PAGE, CHINESE_PAGE, LARGE_PAGE, TOUR_PAGE = (
    "/mindmaps/Arabic01",
    "/mindmaps/Chinese1",
    "/mindmaps/Large001",
    "/mindmaps/Tour0001",
)
EVERYWHERE = (
    *("/", "/?query=garden", "/owners/many", "/owners/many?order_by=alpha&view=table"),
    *(PAGE, f"{PAGE}?embed=1", ARABIC_PAGE),
)


def struck(page: Page) -> object:
    return page.evaluate("window.struck")


# -- the library ------------------------------------------------------------------------------


def test_browse_filter_and_page(reader: Reader) -> None:
    page = reader.open("/")
    expect(page.locator("h1")).to_have_text("All maps")
    page.get_by_role("link", name="many", exact=False).first.click()
    expect(page.locator("h1")).to_have_text("Maps of many")
    assert page.url.endswith("/owners/many")
    page.locator(".facet a", has_text="History").click()
    expect(page.locator(".total")).to_have_text("30 maps")
    page.get_by_role("link", name="A to Z").click()
    first = page.locator(".card .name a").all_inner_texts()
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".pager")).to_contain_text("Page 2 of 2")
    assert not set(first) & set(page.locator(".card .name a").all_inner_texts())
    page.get_by_role("link", name="Remove the filter History").click()
    expect(page.locator(".total")).to_have_text("61 maps")


def test_thumbnails_that_cannot_be_drawn_yet_are_asked_for_again(reader: Reader) -> None:
    busy = {"left": 3}

    def answer(route: Route) -> None:
        busy["left"] -= 1
        if busy["left"] >= 0:
            route.fulfill(status=503, headers={"Cache-Control": "no-store"})
        else:
            route.continue_()

    reader.context.route("**/thumbnails/**", answer)
    page = reader.open("/")
    page.wait_for_function(
        """() => [...document.querySelectorAll(".card img")].slice(0, 8)
            .every((one) => one.complete && one.naturalWidth > 0)"""
    )
    expect(page.locator("img.waiting")).to_have_count(0)


def test_search_as_you_type(reader: Reader) -> None:
    page = reader.open("/")
    page.keyboard.press("/")
    page.keyboard.type("sow in apr", delay=20)
    expect(page.locator(".hit mark").first).to_be_visible()
    expect(page.locator(".branches a").first).to_contain_text("Carrots › Sow in April")
    expect(page).to_have_url(re.compile(r"/\?query=sow\+in\+apr$"))
    expect(page.locator("#query")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("1 map")
    page.locator(".branches a").first.click()
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "sow-in-april")


def test_an_empty_result_and_a_cleared_search(reader: Reader) -> None:
    page = reader.open("/")
    page.fill("#query", "zzzzqqqq")
    expect(page.locator(".nothing")).to_be_visible()
    page.fill("#query", "")
    expect(page.locator("h1")).to_have_text("All maps")


def test_back_restores_the_list(reader: Reader) -> None:
    page = reader.open("/owners/many")
    page.fill("#query", "map number 7")
    expect(page.locator(".hit").first).to_contain_text("Map number 7")
    page.locator(".hit .name a").first.click()
    expect(page.locator("#stage")).to_be_visible()
    page.go_back()
    expect(page.locator(".hit").first).to_contain_text("Map number 7")
    expect(page.locator("#query")).to_have_value("map number 7")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Maps of many")
    expect(page.locator("#query")).to_have_value("")
    page.go_forward()
    expect(page.locator(".hit").first).to_contain_text("Map number 7")


@pytest.mark.parametrize("view", ["cards", "table"])
def test_arrow_keys_walk_through_a_list(reader: Reader, view: str) -> None:
    page = reader.open(f"/owners/many?order_by=alpha&view={view}")
    names = page.locator(".choosing .name > a")
    page.keyboard.press("ArrowDown")
    expect(names.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown" if view == "table" else "ArrowRight")
    expect(names.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(names.nth(0)).to_be_focused()
    with page.expect_navigation(url="**/mindmaps/**", wait_until="commit"):
        page.keyboard.press("Enter")


def test_several_maps_are_chosen(reader: Reader) -> None:
    page = reader.open("/owners/many")
    boxes = page.locator(".choosing .pick input")
    expect(boxes.first).to_be_hidden()
    page.get_by_text("Choose several").click()
    boxes.nth(0).check()
    boxes.nth(2).check()
    assert not faults(page)
    page.get_by_role("button", name="Add to a collection").click()
    expect(page).to_have_url(re.compile(r"/signin\?next="))


def test_a_search_is_narrowed_by_choices(reader_with: ReaderWith) -> None:
    for size in ((1440, 900), (360, 740)):
        page = reader_with(viewport={"width": size[0], "height": size[1]}).open("/")
        page.fill("#query", "carrots")
        expect(page.locator(".hit")).to_have_count(1)
        title_only = page.get_by_role("checkbox", name="Titles only")
        page.locator("#query").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(title_only).to_be_focused()
        page.keyboard.press("Space")
        expect(page.locator(".nothing")).to_be_visible()
        expect(page).to_have_url(re.compile(r"query=carrots&title_only=true$"))
        page.go_back()
        expect(page.locator(".hit")).to_have_count(1)
        expect(title_only).not_to_be_checked()
        page.get_by_label("With notes").check()
        expect(page).to_have_url(re.compile(r"with_notes=true$"))
        assert not faults(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_map_is_searched_from_the_box_above_it(reader_with: ReaderWith) -> None:
    page = reader_with(viewport={"width": 1440, "height": 900}).open(PAGE)
    page.fill("#query", "sow in april")
    page.get_by_role("button", name="In this map").click()
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "sow-in-april")
    expect(page.locator(".finder input")).to_be_focused()
    page = reader_with(java_script_enabled=False).open(PAGE)
    page.fill("#query", "sow")
    page.get_by_role("button", name="In this map").click()
    page.locator(".branches a", has_text="Sow in April").click()
    expect(page).to_have_url(re.compile("#t=sow-in-april$"))
    expect(page.locator("#outline")).to_contain_text("Sow in April")


def test_search_within_a_list_stays_there(reader: Reader) -> None:
    page = reader.open("/owners/many")
    page.fill("#query", "map number 7")
    expect(page.locator(".hit").first).to_contain_text("Map number 7")
    assert "/owners/many?query=" in page.url


@pytest.mark.parametrize("path", ["/", "/?query=map"])
def test_the_library_loads_few_bytes(reader: Reader, path: str) -> None:
    """Bytes as the browser counts them, with headers. Titles in other scripts load no fonts."""
    page = reader.context.new_page()
    session = reader.context.new_cdp_session(page)
    loaded: list[float] = []
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    session.on("Network.loadingFinished", lambda one: loaded.append(one["encodedDataLength"]))
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    page.goto(path)
    page.wait_for_load_state("networkidle")
    assert len(loaded) > 10
    assert sum(loaded) < 200_000
    assert not [url for url in asked if url.endswith(".ttf")]


# -- the map ----------------------------------------------------------------------------------


def test_the_map_is_drawn_and_folds(reader: Reader) -> None:
    page = reader.open(PAGE)
    topics = page.locator("[data-topic]")
    expect(topics).to_have_count(10)
    page.locator('[data-topic="vegetables"] .handle').click()
    expect(topics).to_have_count(7)
    expect(page.locator('[data-topic="vegetables"]')).to_contain_text("+3")
    page.get_by_role("button", name="Fold everything", exact=True).click()
    expect(topics).to_have_count(4)
    page.get_by_role("button", name="Unfold everything").click()
    expect(topics).to_have_count(10)


def test_the_map_can_be_used_with_the_keyboard(reader: Reader) -> None:
    page = reader.open(PAGE)
    page.locator("#stage").focus()
    current = page.locator("#stage .current")
    for key, wanted in (
        ("Home", "a-kitchen-garden"),
        ("ArrowRight", "vegetables"),
        ("ArrowRight", "carrots"),
        ("ArrowDown", "beans"),
        ("ArrowLeft", "vegetables"),
    ):
        page.keyboard.press(key)
        expect(current).to_have_attribute("data-topic", wanted)
    page.keyboard.press("Space")
    expect(page.locator("[data-topic]")).to_have_count(7)
    expect(page.locator("[aria-live]")).to_contain_text("Vegetables")
    page.keyboard.press("/")
    page.keyboard.type("thyme")
    expect(current).to_have_attribute("data-topic", "thyme")
    expect(page.locator(".found-count")).to_have_text("1 of 1")


def test_a_topic_shows_its_note_and_links(reader: Reader) -> None:
    page = reader.open(PAGE)
    page.locator('[data-topic="beans"]').click()
    expect(page.locator(".detail")).to_contain_text("They climb.")
    link = page.locator(".detail a")
    expect(link).to_have_attribute("href", "https://example.org/beans")
    assert "nofollow" in (link.get_attribute("rel") or "")
    assert page.url.endswith("#t=beans")


def test_pan_and_zoom(reader: Reader) -> None:
    page = reader.open(PAGE)
    world = page.locator("#stage > svg > g")
    before = world.get_attribute("transform")
    box = page.locator("#stage").bounding_box()
    assert box
    x, y = box["x"] + 300, box["y"] + box["height"] - 120
    page.mouse.move(x, y)
    page.mouse.wheel(0, 100)
    page.wait_for_timeout(100)
    assert world.get_attribute("transform") == before, "the page scrolled instead of the map"
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y - 30, steps=4)
    page.mouse.up()
    moved = world.get_attribute("transform")
    assert moved != before
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(world).not_to_have_attribute("transform", moved or "")


def test_two_fingers_zoom(phone: Reader) -> None:
    page = phone.open(PAGE)
    world = page.locator("#stage > svg > g")
    before = scale(page)
    session = phone.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[int, int]) -> None:
        sent = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": sent})

    touch("touchStart", (160, 350), (200, 350))
    for step in range(1, 5):
        touch("touchMove", (160 - 15 * step, 350), (200 + 15 * step, 350))
    touch("touchEnd")
    expect(world).to_be_attached()
    assert scale(page) > 1.5 * before


def scale(page: Page) -> float:
    transform = page.locator("#stage > svg > g").get_attribute("transform") or ""
    found = re.search(r"scale\(([\d.]+)\)", transform)
    assert found
    return float(found[1])


def test_a_link_to_a_topic_opens_there(reader: Reader) -> None:
    page = reader.open(f"{PAGE}#t=early-in-the-morning")
    current = page.locator("#stage .current")
    expect(current).to_have_attribute("data-topic", "early-in-the-morning")
    expect(current).to_be_in_viewport()
    page.evaluate("location.hash = '#t=sage'")
    expect(current).to_have_attribute("data-topic", "sage")


def test_a_link_into_a_folded_part_unfolds_it(reader: Reader) -> None:
    page = reader.open(f"{LARGE_PAGE}#t=b7-3-50")
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "b7-3-50")


def test_a_very_large_map_stays_usable(reader: Reader) -> None:
    page = reader.open(LARGE_PAGE)
    expect(page.locator("#stage.alive")).to_be_visible()
    assert 10 < page.locator("[data-topic]").count() < 300
    page.locator(".finder input").fill("leaf 108")
    expect(page.locator(".found-count")).to_have_text("1 of 100")
    page.get_by_role("button", name="Unfold everything").click()
    expect(page.locator("[data-topic]").first).to_be_visible()
    settled(page)
    assert page.locator("[data-topic]").count() < 300, "topics too small to read are drawn"
    assert page.locator(".lines path").count() < 300
    for _ in range(30):
        page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("[data-topic] text").first).to_be_attached()
    assert page.locator("[data-topic]").count() < 1500, "topics far outside the view are drawn"
    # The text below the map has all topics, so that the browser can search them.
    assert page.locator("#outline [id]").count() == 1 + 10 + 100 + 10_900


def test_downloads(reader: Reader, tmp_path: Path) -> None:
    page = reader.open(PAGE)
    for name, wanted in (("Markdown", "A kitchen garden.md"), ("Original", "Garden.mm")):
        with page.expect_download() as started:
            page.locator(".files a", has_text=name).click()
        assert started.value.suggested_filename == wanted
        started.value.save_as(tmp_path / wanted)
        assert (tmp_path / wanted).stat().st_size > 0


def test_only_the_embedded_map_can_be_framed(reader_with: ReaderWith, address: str) -> None:
    reader = reader_with()
    reader.context.route(
        "**/elsewhere",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<iframe id="a" src="{address}{PAGE}?embed=1" width=800 height=600></iframe>'
            f'<iframe id="b" src="{address}{PAGE}"></iframe>',
        ),
    )
    page = reader.open("/elsewhere")
    expect(page.frame_locator("#a").locator("#stage.alive")).to_be_visible()
    expect(page.frame_locator("#b").locator("#stage")).to_have_count(0)
    assert any("frame" in complaint.lower() for complaint in reader.complaints)
    reader.complaints.clear()


# -- accessibility ------------------------------------------------------------------------------


def test_all_of_it_works_without_scripts(reader_with: ReaderWith) -> None:
    page = reader_with(java_script_enabled=False).open("/")
    page.fill("#query", "carrots")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    page.locator(".hit .name a").click()
    expect(page.locator(".still img")).to_be_visible()
    expect(page.locator("#outline")).to_contain_text("Sow in April")
    page.locator("summary", has_text="Vegetables").click()
    expect(page.get_by_text("Sow in April")).not_to_be_visible()


@pytest.mark.parametrize(
    "path",
    [*EVERYWHERE, "/mindmaps/Deepest1", "/mindmaps/Bare0001", "/mindmaps/none", "/?query=zzqq"],
)
def test_pages_are_accessible_and_fit_the_screen(reader_with: ReaderWith, path: str) -> None:
    reader = reader_with(bypass_csp=True)
    page = reader.open(path)
    if "Deepest1" not in path:  # too slow: axe would check all 150 levels, which are alike
        assert not faults_in_both_schemes(page, serious=True)
    for width in (1440, 768, 320):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    reader.complaints = [one for one in reader.complaints if "404" not in one]


def test_right_to_left_maps_are_mirrored(reader: Reader) -> None:
    page = reader.open(ARABIC_PAGE)
    first = page.locator('[data-topic="الحروف-الشمسية"]').bounding_box()
    second = page.locator('[data-topic="الحروف-القمرية"]').bounding_box()
    assert first
    assert second
    assert first["x"] < second["x"]
    expect(page.locator("#outline .sheet")).to_have_attribute("dir", "rtl")


def test_addresses_of_any_script_work(reader: Reader) -> None:
    page = reader.open(f"{CHINESE_PAGE}#t=为什么读这本书")
    expect(page.locator("#stage .current")).to_have_attribute("data-topic", "为什么读这本书")
    assert page.url.startswith(reader.address + "/mindmaps/Chinese1/%E8%AF%BB")


@pytest.mark.parametrize("draft", [GARDEN, CHINESE, ARABIC, TOUR], ids=lambda draft: draft.id)
def test_the_browser_places_topics_as_the_server_does(reader: Reader, draft: MapDraft) -> None:
    """``static/layout.js`` computes the same layout as ``render.layout``."""
    with_pictures(reader)
    page = reader.open(f"/mindmaps/{draft.id}")
    page.get_by_role("button", name="Unfold everything").click()
    assert draft.outline
    sheet = decode_outline(draft.outline).sheets[0]
    shown = with_formulas(whole(sheet), drawings(formulas_of(sheet.topics())))
    placed = layout(shown, LOOK, right_to_left=reads_leftwards(sheet.root))
    for node in placed.nodes:
        drawn = page.locator(f'[data-topic="{node.topic.id}"]').get_attribute("transform") or ""
        x, y = map(float, re.findall(r"-?[\d.]+", drawn))
        assert (x, y) == pytest.approx((node.left, node.y), abs=0.2), node.topic.text
    boxes = page.eval_on_selector_all(
        ".around rect", "all => all.map(one => [one.x, one.y].map(side => side.baseVal.value))"
    )
    lines = [(one.box.left, one.box.top) for one in placed.boundaries]
    for found, wanted in zip(sorted(map(tuple, boxes)), sorted(lines), strict=True):
        assert found == pytest.approx(wanted, abs=0.2)


# -- icons, images and colours of the author ------------------------------------------------------


def with_pictures(reader: Reader) -> list[str]:
    """Serve a picture for every image in a topic; return the list of requested addresses."""
    asked: list[str] = []
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><path d="M0 0H4V3"/></svg>'
    )

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(content_type="image/svg+xml", body=drawn)

    reader.context.route("**/maps/*/images/**", answer)
    return asked


def test_icons_marks_and_tags_are_drawn(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    titles = page.locator('[data-topic="urgent"] .icon title')
    assert titles.all_text_contents() == ["priority 1", "flag red", "star"]
    expect(page.locator('[data-topic="begun"] .icon text')).to_have_text("3")
    assert page.locator('[data-topic="planned"] .icon title').all_text_contents() == [
        "priority 2",
        "task done",
    ]
    expect(page.locator('[data-topic="other"] .emoji')).to_have_text("\U0001f680")
    beside = page.locator('[data-topic="beside"]')
    assert beside.locator(".tag").all_text_contents() == ["home", "garden work"]
    expect(beside.locator(".mark")).to_have_count(3)


def test_details_shown_by_other_programs_are_drawn(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    cells = page.locator('[data-topic="beside"] .cell')
    assert cells.locator("text").all_text_contents()[:3] == ["Cost", "12", "Where"]
    assert cells.locator("text").all_text_contents()[3].startswith("a <b>far</b> away")
    expect(cells.locator("title")).to_have_count(1)  # the full value of the one that is cut off
    numbered = page.locator('[data-topic="numbered"]')
    assert numbered.locator("text").all_text_contents() == ["1.1 Numbered", "In short"]
    expect(page.locator("#outline .number")).to_have_text(["1", "1.1"])
    # One arrow has no target topic: it ends where the author put its end, relative to its topic.
    pointer = page.locator(".arrow .curve").last.get_attribute("d") or ""
    (x0, y0), *_, (x3, y3) = points_of(pointer)
    assert (x3 - x0, y3 - y0) == pytest.approx((-60, 30), abs=0.2)
    heads = page.locator(".arrow").evaluate_all(
        "all => all.map(one => one.querySelectorAll('.head').length)"
    )
    assert sorted(heads) == [1, 1, 1, 2]
    # Below a topic without a line to its parent there is a straight line as long as the topic.
    bare = page.locator(".lines path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert len([path for path in bare if "C" not in path and path.count("H") == 1]) >= 2


def points_of(path: str) -> list[tuple[float, float]]:
    numbers = list(map(float, re.findall(r"-?[\d.]+", path)))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_formulas_are_drawn_and_in_the_text(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    square = page.locator('[data-topic="area"] .formula')
    expect(square.locator("title")).to_have_text("r^2")
    drawn = square.locator("path")
    expect(drawn).to_have_attribute("d", drawings(["r^2"])["r^2"].path)
    words = page.locator('[data-topic="area"] text').evaluate("one => getComputedStyle(one).fill")
    assert drawn.evaluate("one => getComputedStyle(one).fill") == words
    expect(page.locator('[data-topic="$x_1$"] text')).to_have_count(0)
    expect(page.locator('[data-topic="unknown"] text')).to_have_text(["Unknown", r"\unknown{x}"])
    expect(page.locator('#outline [id="t=root"] math')).to_have_attribute(
        "alttext", r"\sqrt{\frac{a}{b}}"
    )
    box = page.locator('#outline [id="t=root"] mfrac').bounding_box()
    assert box
    assert box["height"] > 15, "the fraction has no height: MathML is not laid out"
    # "Find in this map" finds the LaTeX source, and screen readers read it out.
    page.get_by_role("searchbox", name="Find in this map").fill("\\frac")
    expect(page.locator("#stage .match")).to_have_attribute("data-topic", "root")
    expect(page.locator("#stage [aria-live]")).to_contain_text(r"\sqrt{\frac{a}{b}}, Level 3")


def test_pictures_are_loaded_when_they_are_visible(reader: Reader) -> None:
    asked = with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    picture = page.locator('[data-topic="a-flower"] image')
    expect(picture).to_have_attribute("href", re.compile(f"/maps/Tour0001/images/{PICTURE}.png"))
    expect(picture).to_have_attribute("aria-label", "A daisy")
    assert len({url.partition("?")[0] for url in asked}) == 2
    expect(page.locator("#outline img").first).to_have_attribute("alt", "A daisy")
    expect(page.locator("#outline img").first).to_have_attribute("loading", "lazy")


def test_relationships_end_at_what_is_shown(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    arrows = page.locator(".arrow")
    # The author folded "Four". One arrow now starts at "Four"; one within it is not drawn.
    expect(page.locator('[data-topic="deeper"]')).to_have_count(0)
    expect(arrows).to_have_count(4)
    expect(page.locator(".arrows text")).to_have_text(["depends on", "about"])
    page.locator('[data-topic="four"] .handle').click()
    expect(arrows).to_have_count(5)
    page.locator('[data-topic="groups"] .handle').click()
    expect(arrows).to_have_count(4)
    expect(page.locator(".around text")).to_have_text(["A whole branch", "Around a floating one"])
    expect(page.locator('[data-topic="in-short"]')).to_have_count(0)


def test_colours_of_the_author_can_be_replaced(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)

    def colour(topic: str, part: str, name: str) -> str:
        script = f"one => getComputedStyle(one).{name}"
        return str(page.locator(f'[data-topic="{topic}"] > {part}').first.evaluate(script))

    assert colour("yellow-box", ".body", "fill") == "rgb(255, 255, 136)"
    assert colour("red-words", "text", "fill") != colour("one", "text", "fill")
    boundaries = page.locator(".around rect")
    look = "all => all.map(one => [getComputedStyle(one).fill, getComputedStyle(one).fillOpacity])"
    tinted = [fill for fill, opacity in boundaries.evaluate_all(look) if opacity == "1"]
    assert [hexadecimal(fill) for fill in tinted] == [tint("#22aa44", LIGHT.ground)]
    button = page.get_by_role("button", name="Colours of the author")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    assert colour("yellow-box", ".body", "fill") == "rgba(0, 0, 0, 0)"
    assert colour("red-words", "text", "fill") == colour("one", "text", "fill")
    assert {opacity for _, opacity in boundaries.evaluate_all(look)} == {"0.07"}
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_readable_in_any_colours_of_the_author(
    reader_with: ReaderWith, scheme: str
) -> None:
    reader = reader_with(color_scheme=scheme, viewport={"width": 1440, "height": 900})
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    ground = {"light": LIGHT, "dark": DARK}[scheme].ground
    for name in ("red-words", "yellow-box", "hexagon", "pale-line", "inherits", "styles"):
        text, body = (
            str(
                page.locator(f'[data-topic="{name}"] > {part}').first.evaluate(
                    "one => getComputedStyle(one).fill"
                )
            )
            for part in ("text", ".body")
        )
        behind = ground if body == "rgba(0, 0, 0, 0)" else hexadecimal(body)
        assert contrast(hexadecimal(text), behind) >= 4.5, name
    assert not faults(page, serious=True)


def hexadecimal(colour: str) -> str:
    return "#" + "".join(f"{int(value):02x}" for value in re.findall(r"\d+", colour)[:3])


def test_a_map_opens_folded_unless_too_few_topics_are_left(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    expect(page.locator(".topic.folded")).to_have_count(1)
    expect(page.locator('[data-topic="four"]')).to_contain_text("+2")
    page = reader.open("/mindmaps/Folded01")
    expect(page.locator("[data-topic]")).to_have_count(21)


def test_sheets_are_named_and_floating_topics_are_not_sheets(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    sheets = page.get_by_role("tablist", name="Sheets").get_by_role("tab")
    assert sheets.all_inner_texts() == ["Tour", "Another"]
    sheets.nth(1).click()
    expect(page.locator('[data-topic="only-this"]')).to_be_visible()
    expect(page.locator(".arrow")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(sheets.nth(0)).to_be_focused()
    expect(sheets.nth(0)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".arrow")).not_to_have_count(0)


def test_everything_is_in_the_text(reader: Reader) -> None:
    with_pictures(reader)
    page = reader.open(TOUR_PAGE)
    words = page.locator("#outline")
    for said in (
        *("priority 1", "flag red", "garden work", "State: done", "Priority: 2", "Cost: 12"),
        *("plan.pdf", "Far away", "Its child", "Anywhere", "In short", "More of it"),
        *("One → Urgent: depends on", "Some of them: Two, Three", "gone.png", "Another"),
    ):
        expect(words).to_contain_text(said)
    page.locator('[data-topic="beside"]').click()
    expect(page.locator(".detail")).to_contain_text("plan.pdf")
    expect(page.locator(".detail")).to_contain_text("Cost: 12")


# -- hostile maps -------------------------------------------------------------------------------


def test_no_text_of_a_map_runs_as_a_script(reader: Reader) -> None:
    page = reader.open("/")
    for number in range(len(STRIKES)):
        # An embedded map shows less, so only ``full`` tests all of them embedded.
        for embedded in ("", "?embed=1") if is_full() or number % 4 == 0 else ("",):
            path = f"/mindmaps/Strike{number:02}{embedded}"
            page.goto(path, wait_until="domcontentloaded")
            page.wait_for_selector("#stage.alive")
            assert struck(page) is None, path
            assert page.url.startswith(reader.address)
            hrefs = page.eval_on_selector_all("a[href]", "all => all.map(one => one.protocol)")
            assert set(hrefs) <= {"http:", "https:", "mailto:"}, path
            for place in page.locator("[data-topic]").all()[:2]:
                place.dispatch_event("mouseover")
            page.keyboard.press("Tab")
            assert struck(page) is None, path


def test_no_text_in_a_list_runs_as_a_script(reader: Reader) -> None:
    page = reader.open("/?query=struck")
    while True:
        assert struck(page) is None
        if not page.locator("a[rel=next]").count():
            break
        page.locator("a[rel=next]").click()
        page.wait_for_load_state("networkidle")
    for text in STRIKES:
        page.fill("#query", text)
        page.wait_for_timeout(250)
        assert struck(page) is None, text
    for path in ("/?order_by=alpha", "/?query=%3Cscript%3Ewindow.struck%3D1%3C%2Fscript%3E"):
        reader.go(page, path)
        assert struck(page) is None
