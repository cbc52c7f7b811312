"""The API reference in a real browser: it is readable, and requests can be tried with a token."""

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
"""The part of the page that Swagger UI draws."""


Running = tuple[str, str]
"""The address of a service, and a token for it."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with two maps."""
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
    """Try the operation at ``path``; return the element that shows the response."""
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
    """A policy violation or a request to another host fails this test, too."""
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


def test_a_private_catalogue_has_a_reference_and_forgets_the_token(
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


def test_a_wrong_token_is_reported(browser: Browser, running: Running) -> None:
    reader = Reader(browser, running[0])
    page = reader.open("/docs")
    authorise(page, "msh_wrong")
    answer = tried(page, "/maps")
    assert status(answer) == "401"
    expect(answer).to_contain_text("access token is not valid")
    reader.complaints = [one for one in reader.complaints if "401" not in one]
    reader.close()


def test_the_reference_fits_the_screen_has_a_dark_mode_and_is_accessible(
    browser: Browser, running: Running
) -> None:
    """One page for all three checks, because the browser takes long to draw it."""
    reader = Reader(browser, running[0], color_scheme="dark", bypass_csp=True)
    page = reader.open("/docs")
    path = page.locator(".opblock-summary-path").first
    expect(path).to_be_visible()
    assert brightness(path) > 128, "the reference is not dark at first"
    page.emulate_media(color_scheme="light")
    assert brightness(path) < 128
    page.locator(".opblock-summary-control").first.click()
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not faults(page, serious=True, left_out=VIEWER)
    reader.close()


def brightness(words: Locator) -> float:
    """Return the brightness of the text colour, from 0 to 255."""
    ink = words.evaluate("one => getComputedStyle(one).color")
    return sum(map(int, re.findall(r"\d+", ink)[:3])) / 3


def test_the_reference_says_that_it_needs_scripts(browser: Browser, running: Running) -> None:
    reader = Reader(browser, running[0], java_script_enabled=False)
    page = reader.open("/docs")
    assert "does not run" in page.locator("noscript").inner_text()
    expect(page.get_by_role("link", name="openapi.json")).to_have_attribute("href", "/openapi.json")
    reader.close()


def test_the_reference_works_below_a_path(browser: Browser, tmp_path: Path) -> None:
    """A route in the browser acts as a proxy that removes the path."""
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
