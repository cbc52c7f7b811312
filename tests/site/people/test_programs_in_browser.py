"""Giving a program access in a real browser on a small phone, up to the redirect to the program."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from mapshelf.accounts import device_requests
from mapshelf.accounts.oauth_programs import NewProgram, register
from mapshelf.clock import milliseconds
from mapshelf.model import Program
from tests.api.oauth_programs import LOCAL, SECRET, VERIFIER, challenge_of, registered
from tests.harness import Shelf, shelf_with
from tests.person import link_of
from tests.site.browser import Reader, served
from tests.site.people.test_in_browser import PHONE, check, heading, type_password
from tests.site.shelves import GARDEN

NAME = "A desktop program with a rather long name of sixty characters"[:60]


class Listener(HTTPServer):
    """The server of a program on its user's machine; ``heard`` has the requested paths."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def uri(self) -> str:
        return f"http://localhost:{self.server_port}/"


class Answering(BaseHTTPRequestHandler):
    """Answers every request with success."""

    server: Listener

    def do_GET(self) -> None:
        if self.path.startswith("/?"):
            self.server.heard.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>Back</title>")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def listening() -> Iterator[Listener]:
    with Listener() as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield listener
        listener.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("programs"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data) as address:
        yield address


def signed_in(person: Reader, shelf: Shelf, name: str) -> Page:
    """Sign a user in; return the page."""
    page = person.open(link_of(shelf, name))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    heading(page, name)
    return page


def request_of(program: Program, uri: str) -> str:
    asked = {
        "response_type": "code",
        "client_id": program.id,
        "redirect_uri": uri,
        "scope": "account maps maps:write",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    return f"/oauth/authorize?{urlencode(asked)}"


@pytest.mark.parametrize(("button", "name"), [("Allow", "code"), ("Deny", "error")])
def test_the_browser_follows_the_redirect_to_the_program(
    shelf: Shelf, house: str, browser: Browser, button: str, name: str
) -> None:
    """The content security policy of the page must allow this redirect."""
    program = registered(shelf.store, NAME, LOCAL, public=True)
    person = Reader(browser, house, viewport=PHONE, has_touch=True, is_mobile=True)
    page = signed_in(person, shelf, "ann")
    with listening() as listener:
        person.go(page, request_of(program, listener.uri))
        heading(page, f"Allow {NAME} to use your account?")
        page.get_by_role("button", name=button).click()
        expect(page).to_have_title("Back")
    (heard,) = listener.heard
    found = dict(parse_qsl(urlsplit(heard).query))
    assert next(iter(found)) == name
    assert found["iss"] == house
    person.complaints = [one for one in person.complaints if listener.uri not in one]
    person.close()


def test_pages_about_programs_fit_a_phone_and_are_accessible(
    shelf: Shelf, house: str, browser: Browser
) -> None:
    program = registered(shelf.store, NAME, LOCAL, public=True)
    other, _ = register(
        shelf.store, NewProgram("Web", ("https://program.example/",), secret=SECRET), 5
    )
    person = Reader(browser, house, viewport=PHONE, has_touch=True, is_mobile=True, bypass_csp=True)
    page = signed_in(person, shelf, "eve")
    for one, uri in ((program, LOCAL), (other, "https://program.example/")):
        person.go(page, request_of(one, uri))
        check(page)
    begun = device_requests.begin(shelf.store, program, "maps", milliseconds(), "192.0.2.1")
    code = begun.user_code
    person.go(page, "/oauth/device")
    check(page)
    page.get_by_label("Code").fill("BBBB-BBBB")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_be_visible()
    check(page)
    page.get_by_label("Code").fill(code.lower())
    page.get_by_role("button", name="Continue").click()
    heading(page, f"Allow {NAME} to use your account?")
    check(page)
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("status")).to_contain_text("Go back to your device")
    check(page)
    # The browser logs every response with an error status.
    person.complaints = [one for one in person.complaints if "400" not in one]
    person.close()
