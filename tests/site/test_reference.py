"""The reference of the API, in a real browser: it is read, and tried with a token."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.api.openapi import DOCUMENT
from tests.harness import shelf_with
from tests.site.accessibility import faults
from tests.site.browser import Reader, served
from tests.site.shelves import CHINESE, GARDEN

VIEWER = "#reference"
"""What is drawn by Swagger UI, and not by us."""


Running = tuple[str, str]
"""The address of a service, and a token for it."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of two maps."""
    with shelf_with(tmp_path_factory.mktemp("tried"), GARDEN, CHINESE) as shelf:
        token = shelf.token()
    with served(shelf.settings.data) as address:
        yield address, token


def authorise(page: Page, token: str) -> None:
    page.get_by_role("button", name="Authorize", exact=True).first.click()
    page.locator("#auth-bearer-value").fill(token)
    page.locator(".auth-btn-wrapper").get_by_role("button", name="Apply credentials").click()
    page.locator(".auth-btn-wrapper .btn-done").first.click()


def tried(page: Page, path: str, **values: str) -> Locator:
    """Try the operation at ``path``; return where the answer is shown."""
    block = page.locator(".opblock-get", has=page.locator(f'[data-path="{path}"]'))
    block.locator(".opblock-summary-control").click()
    for name, value in values.items():
        row = block.locator(f'tr[data-param-name="{name}"]')
        box = row.locator("input, select").first
        if box.evaluate("box => box.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)
    block.locator(".execute").click()
    answer = block.locator(".live-responses-table")
    expect(answer.locator("tr.response .response-col_status")).to_have_text(re.compile(r"\d{3}"))
    return answer


def status(answer: Locator) -> str:
    return answer.locator("tr.response .response-col_status").inner_text()[:3]


def test_every_operation_is_shown_and_can_be_tried(browser: Browser, running: Running) -> None:
    """What the browser complains of (a policy, a request to somebody else) fails this, too."""
    address, token = running
    reader = Reader(browser, address, viewport={"width": 1280, "height": 900})
    page = reader.open("/docs")
    expect(page.locator(".opblock")).to_have_count(sum(map(len, DOCUMENT["paths"].values())))
    authorise(page, token)
    found = tried(page, "/maps", query="carrots")
    assert status(found) == "200"
    expect(found).to_contain_text("A kitchen garden")
    expect(tried(page, "/users/me")).to_contain_text("DateRegistered")
    assert status(tried(page, "/maps/{ID}", ID="Garden01")) == "200"
    picture = tried(page, "/thumbnails/{ID}.{picture}", ID="Garden01", picture="png").locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("picture => picture.naturalWidth") == 320
    reader.close()


def test_a_private_catalogue_has_it_too_and_the_token_is_not_kept(
    browser: Browser, tmp_path: Path
) -> None:
    with shelf_with(tmp_path, GARDEN) as shelf:
        token = shelf.token()
    with served(tmp_path, "--private") as address:
        reader = Reader(browser, address)
        page = reader.open("/docs")
        authorise(page, token)
        expect(tried(page, "/maps")).to_contain_text("A kitchen garden")
        kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
        assert token not in kept
        assert token not in page.url
        reader.close()


def test_a_wrong_token_is_told(browser: Browser, running: Running) -> None:
    reader = Reader(browser, running[0])
    page = reader.open("/docs")
    authorise(page, "msh_wrong")
    answer = tried(page, "/maps")
    assert status(answer) == "401"
    expect(answer).to_contain_text("access token is not valid")
    reader.complaints = [one for one in reader.complaints if "401" not in one]
    reader.close()


def test_it_fits_the_screen_is_dark_where_people_want_that_and_axe_finds_no_fault_of_ours(
    browser: Browser, running: Running
) -> None:
    """One page for all of them: to draw it takes the browser longer than anything else here."""
    reader = Reader(browser, running[0], color_scheme="dark", bypass_csp=True)
    page = reader.open("/docs")
    path = page.locator(".opblock-summary-path").first
    expect(path).to_be_visible()
    assert brightness(path) > 128, "at once"
    page.emulate_media(color_scheme="light")
    assert brightness(path) < 128
    page.locator(".opblock-summary-control").first.click()
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not faults(page, serious=True, left_out=VIEWER)
    reader.close()


def brightness(words: Locator) -> float:
    """Return how bright words are, from 0 to 255."""
    ink = words.evaluate("one => getComputedStyle(one).color")
    return sum(map(int, re.findall(r"\d+", ink)[:3])) / 3


def test_without_scripts_it_says_so(browser: Browser, running: Running) -> None:
    reader = Reader(browser, running[0], java_script_enabled=False)
    page = reader.open("/docs")
    assert "does not run" in page.locator("noscript").inner_text()
    expect(page.get_by_role("link", name="openapi.json")).to_have_attribute("href", "/openapi.json")
    reader.close()


def test_below_a_path_it_asks_below_that_path(browser: Browser, tmp_path: Path) -> None:
    """As behind a proxy that takes the path off: the browser itself plays the proxy."""
    with shelf_with(tmp_path, GARDEN) as shelf:
        token = shelf.token()
    with served(tmp_path, "--base-url", "http://127.0.0.1/below") as address:
        reader = Reader(browser, address)
        reader.context.route(
            "**/below/**",
            lambda route: route.fulfill(
                response=route.fetch(url=route.request.url.replace("/below/", "/"))
            ),
        )
        page = reader.open("/below/docs")
        authorise(page, token)
        assert status(tried(page, "/maps")) == "200"
        expect(page.locator(".request-url")).to_contain_text("/below/maps?")
        reader.close()
