"""Every real map gets a page and a picture, and no markup in it becomes part of the page.

The authors of these maps did not know Mapshelf. The maps have HTML in topics, links to anywhere,
notes as long as chapters, and eleven languages. A parser of the standard library compares the pages
with a list of allowed elements, attributes and addresses in this module. If a template forgets to
escape a text, something appears that is not in the list.
"""

import asyncio
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import Map, Outline, Verdict
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.render import formula_markup
from mapshelf.site import site_routes
from tests.examples import examples, few, some
from tests.harness import Service, Shelf, serve, shelf_with
from tests.site.browser import Reader, served
from tests.site.test_pages import Reading

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "dev"
ICON = Path(__file__).resolve().parents[2] / "src/mapshelf/site/static/icon.svg"
LOOKED_AT = 120
"""Files whose pages and pictures are checked; the profile ``thorough`` checks all of them."""

LARGEST = examples(10)
"""How many of these are the largest files."""

OPENED = 24
"""Maps that are opened in a browser."""

AT_ONCE = 8
"""Concurrent requests for pictures: with more of them, some would wait too long and be refused."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.exists(), reason=f"the corpus of real maps is not at {CORPUS}"),
]

FRAME = {
    *("html", "head", "meta", "title", "link", "script", "body", "header", "a", "img", "span"),
    *("form", "input", "button", "main", "article", "div", "h1", "h2", "h3", "p", "bdi", "time"),
    *("picture", "source", "section", "dl", "dt", "dd", "ul", "li", "label", "textarea", "footer"),
    *("details", "summary", "svg", "circle", "path"),
}
NOTES = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "hr", "i", "li", "ol"),
    *("p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u"),
}
ATTRIBUTES = {
    *formula_markup.ATTRIBUTES,
    "alttext",
    *("viewbox", "aria-hidden", "cx", "cy", "r", "d"),
    *("lang", "charset", "name", "content", "rel", "href", "type", "id", "src", "class", "alt"),
    *("width", "height", "role", "action", "method", "maxlength", "autocomplete", "value", "dir"),
    *("placeholder", "aria-label", "title", "tabindex", "property", "as", "crossorigin", "media"),
    *(
        "srcset",
        "data-drawing",
        "data-images",
        "aria-labelledby",
        "datetime",
        "download",
        "for",
        "rows",
        "open",
    ),
    *("readonly", "spellcheck", "aria-hidden", "loading", "decoding", "formaction"),
}
SAFE = re.compile(r"/(?!/)|#|https?://|mailto:", re.IGNORECASE)
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")
FAR_EASTERN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Known:
    """A map of the corpus as the store keeps it."""

    map: Map
    outline: Outline

    @property
    def path(self) -> str:
        return f"/mindmaps/{self.map.id}"


def chosen_files() -> list[Path]:
    """Return some files of every folder of the corpus, and the largest ones."""
    files = sorted(path for path in CORPUS.rglob("*") if path.is_file())
    largest = sorted(files, key=lambda path: path.stat().st_size)[-LARGEST:]
    return sorted({*some(files, LOOKED_AT), *largest})


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("corpus")) as full:
        report = ImportReport()
        with SandboxedReader() as reader:
            found = scan(chosen_files(), report)
            lost = LostFiles(set(), {}, SeenFolders(), full.store.unpublished_sources)
            import_maps(full.store, found, reader, Attribution("corpus"), report, lost=lost)
        assert report.counts[Verdict.ADDED] > examples(LOOKED_AT) * 0.9
        full.publish()
        yield full


@pytest.fixture(scope="module")
def known(shelf: Shelf) -> list[Known]:
    found = []
    for one in shelf.store.maps(0, 2000):
        outline = shelf.store.outline(one.file_id)
        assert outline is not None
        found.append(Known(one, decode_outline(outline)))
    return found


def test_maps_have_a_page_and_a_picture(shelf: Shelf, known: list[Known]) -> None:
    with serve(shelf, site_routes) as running:
        running.run(ask_for_all(running, known))


PATIENCE = 120
"""Attempts to get a picture, a second apart."""


async def ask_for_all(running: Service, known: list[Known]) -> None:
    """Check pages and pictures at the same time: another process draws the pictures."""
    few = asyncio.Semaphore(AT_ONCE)

    async def picture(one: Known, width: int) -> None:
        address = f"/thumbnails/{one.map.id}.png?w={width}"
        async with few:
            for _ in range(PATIENCE):
                response = await running.client.get(address)
                if response.status_code != 503:  # the service is busy: pages retry, too
                    break
                await asyncio.sleep(1)
        check_picture(response, width)

    async def page(one: Known) -> None:
        moved = await running.client.get(one.path)
        response = await running.client.get(moved.headers["location"])
        await asyncio.to_thread(check_page, response, one)

    async with asyncio.TaskGroup() as group:
        for number, one in enumerate(known):
            group.create_task(
                picture(one, 160 if number % 4 else 320)
            )  # small pictures take half the time
        for one in known:
            await page(one)


def check_picture(response: httpx.Response, width: int) -> None:
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/png"
    assert 200 < len(response.content) < width * 200
    with Image.open(io.BytesIO(response.content)) as picture:
        assert picture.size == (width, width * 3 // 4)
        shades = picture.convert("L").tobytes()
        assert max(shades) - min(shades) > 100, "the picture shows nothing"


def check_page(response: httpx.Response, one: Known) -> None:
    where = one.map.title
    assert response.status_code == 200, where
    assert len(response.content) < 2_000_000, where
    reading = Reading()
    reading.feed(response.text)
    reading.close()
    assert not reading.wrong, where
    assert not reading.open, where
    for tag, attributes in reading.found:
        assert tag in FRAME | NOTES | formula_markup.ELEMENTS, (where, tag)
        assert set(attributes) <= ATTRIBUTES, (where, tag, attributes)
        for name in ("href", "src", "action", "formaction", "data-drawing", "data-images"):
            assert name not in attributes or SAFE.match(attributes[name]), (where, attributes)
    scripts = [attributes for tag, attributes in reading.found if tag == "script"]
    assert [script["type"] for script in scripts] == [
        *("application/ld+json", "application/json", "module")
    ]
    words = " ".join(reading.text.split())
    formulas = {attributes.get("alttext") for _, attributes in reading.found}
    for root in one.outline.roots:
        for topic in (root, *root.children[:20], *root.children[-5:]):
            assert " ".join(topic.text.split()) in words or topic.formula in formulas - {None}, (
                where
            )


def odd_ones(known: list[Known]) -> list[Known]:
    """Return unusual maps: large, small, deep, wide, in other scripts, with pictures or notes."""

    def said(one: Known) -> str:
        return " ".join(topic.text for root in one.outline.roots for topic in root.children)

    by_size = sorted(known, key=lambda one: one.outline.topic_count)
    chosen = [
        *by_size[-6:],
        *by_size[:3],
        *sorted(known, key=lambda one: one.outline.depth)[-2:],
        *sorted(known, key=lambda one: len(one.outline.roots))[-2:],
        *sorted(known, key=lambda one: len(one.outline.roots[0].children))[-2:],
        *sorted(known, key=lambda one: max(len(t.text) for _, t in one.outline.topics()))[-2:],
        *[one for one in known if RIGHT_TO_LEFT.search(said(one))][:3],
        *[one for one in known if FAR_EASTERN.search(said(one))][:4],
        *[one for one in known if one.outline.picture][:2],
        *[one for one in known if any(topic.note_html for _, topic in one.outline.topics())][:2],
    ]
    unique = {one.map.id: one for one in (*some(chosen, OPENED), *some(known, OPENED))}
    return list(unique.values())[: few(OPENED)]


def test_a_browser_draws_real_maps_without_errors(
    browser: Browser, shelf: Shelf, known: list[Known]
) -> None:
    with served(shelf.settings.data) as address:
        reader = Reader(browser, address, viewport={"width": 1280, "height": 800})
        # Another test checks thumbnails, and they would take most of the time here.
        reader.context.route("**/thumbnails/**", lambda route: route.fulfill(path=str(ICON)))
        page = reader.open("/")
        for one in odd_ones(known):
            page.goto(one.path, wait_until="domcontentloaded")
            expect(page.locator("#stage.alive [data-topic]").first).to_be_attached()
            check_drawing(page, one)
        reader.close()


def check_drawing(page: Page, one: Known) -> None:
    """Check that all topics are in the text, none overlap, and the page fits the screen's width."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280, one.map.title
    assert page.locator("#outline [id^='t=']").count() == one.outline.topic_count
    places = page.eval_on_selector_all(
        "#stage [data-topic]", "all => all.map(one => one.getAttribute('transform'))"
    )
    assert len(set(places)) == len(places), "topics overlap"
    assert "NaN" not in "".join(places)
