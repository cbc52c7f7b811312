"""OAuth clients for tests: registered programs, and the requests that they send."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from mapshelf.accounts.authorization import allow, read_request, read_return_address
from mapshelf.accounts.oauth_programs import NewProgram, register
from mapshelf.accounts.one_time_links import new_password_link
from mapshelf.clock import milliseconds
from mapshelf.model import Program, User
from mapshelf.store import Store
from tests.cli.process import Mapshelf
from tests.harness import BASE_URL, READER, Service, Shelf
from tests.person import PASSWORD, forms

CALLBACK: Final = "https://program.example/back"
LOCAL: Final = "http://localhost:13524/"
SECRET: Final = "Secret0" * 6
VERIFIER: Final = "v" * 50
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def basic(program_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{program_id}:{secret}".encode()).decode()


def registered(
    store: Store,
    name: str = "Program",
    uri: str = CALLBACK,
    *,
    public: bool = False,
    legacy: bool = False,
) -> Program:
    """Register a program, with the secret ``SECRET`` unless it is public."""
    secret = "" if public else SECRET
    registration = NewProgram(name, (uri,), secret=secret, public=public, legacy=legacy)
    return register(store, registration, milliseconds())[0]


def reader(shelf: Shelf, name: str = READER) -> User:
    (found,) = (one for one in shelf.store.users() if one.name == name)
    return found


@dataclass(frozen=True)
class Asking:
    """A registered program with a service, acting for a user who has given consent."""

    shelf: Shelf
    service: Service
    program: Program
    user: str = READER

    def post(
        self, path: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send a form, with the program's own id and secret unless the form has others."""
        secret = {} if self.program.is_public else {"client_secret": SECRET}
        sent = {"client_id": self.program.id, **secret, **form}
        if headers:
            sent = dict(form)
        content = urlencode(sent).encode()
        return self.service.request(
            "POST", path, headers={**FORM, **(headers or {})}, signed=False, content=content
        )

    def token(self, form: Mapping[str, str]) -> httpx.Response:
        return self.post("/oauth/token", form)

    def parameters(
        self, asked: Mapping[str, str] = NOTHING, *, pkce: bool = True
    ) -> dict[str, str]:
        """Return the parameters of an authorization request."""
        parameters = {
            "client_id": self.program.id,
            "redirect_uri": self.program.redirect_uris[0],
            "response_type": "code",
            **asked,
        }
        if pkce:
            parameters["code_challenge"] = challenge_of(VERIFIER)
            parameters["code_challenge_method"] = "S256"
        return parameters

    def code(self, asked: Mapping[str, str] = NOTHING, *, pkce: bool = True) -> str:
        """Return an authorization code that the user has agreed to."""
        parameters = self.parameters(asked, pkce=pkce)
        store = self.shelf.store
        program, back = read_return_address(store, parameters)
        request = read_request(program, back, parameters)
        user = reader(self.shelf, self.user)
        address = allow(store, request, user, BASE_URL, milliseconds())
        return dict(parse_qsl(urlsplit(address).query))["code"]

    def exchange(self, code: str, **more: str) -> httpx.Response:
        """Exchange a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.program.redirect_uris[0],
            "code_verifier": VERIFIER,
        }
        return self.token({name: value for name, value in {**form, **more}.items() if value})

    def refresh(self, token: str, **more: str) -> httpx.Response:
        """Exchange a refresh token."""
        return self.token({"grant_type": "refresh_token", "refresh_token": token, **more})

    def tokens(self, **asked: str) -> dict[str, str]:
        """Exchange a new code, which must succeed; return the token response."""
        answer = self.exchange(self.code(asked))
        assert answer.status_code == 200, answer.text
        found: dict[str, str] = answer.json()
        return found

    def allowed(self, token: str, path: str = "/maps") -> int:
        """Return the status of a request with a token."""
        headers = {"Authorization": f"Bearer {token}"}
        return self.service.request("GET", path, headers=headers, signed=False).status_code


def refused(answer: httpx.Response, reason: str, status: int = 400) -> None:
    """Check that a response is an OAuth error with this reason."""
    found = answer.json()
    assert (answer.status_code, found["error"], found["code"]) == (status, reason, status), found
    assert found["error_description"]
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Content-Encoding" not in answer.headers


@contextmanager
def signed_in(mapshelf: Mapshelf, url: str, name: str = "alice") -> Iterator[httpx.Client]:
    """Yield the browser of a user who is signed in to a running service."""
    with closing(mapshelf.store()) as store:
        record = store.password_of(name)
        assert record is not None
        link = f"/link/{new_password_link(store, record.user, milliseconds())}"
    with httpx.Client(base_url=url, timeout=60) as browser:
        (form,) = (one for one in forms(browser.get(link)) if "new" in one.fields)
        answer = post(browser, form.action, {**form.fields, "new": PASSWORD, "again": PASSWORD})
        assert answer.status_code == 303
        yield browser


def post(browser: httpx.Client, path: str, fields: Mapping[str, str]) -> httpx.Response:
    """Send a form as browsers do under a strict referrer policy, with ``Origin: null``."""
    return browser.post(path, data=dict(fields), headers={"Origin": "null"})


def decide(browser: httpx.Client, address: str, decision: str) -> str:
    """Open the consent page and decide; return the address that the browser is sent to."""
    page = browser.get(address)
    assert page.status_code == 200, page.text[:300]
    (form,) = (one for one in forms(page) if one.buttons)
    answer = post(browser, form.action, {**form.fields, "decision": decision})
    assert answer.status_code == 303
    location: str = answer.headers["Location"]
    return location


def request_of(program: Program, path: str = "/oauth/authorize", **more: str) -> str:
    """Return the address of an authorization request, without its empty parameters."""
    asked = {
        "response_type": "code",
        "client_id": program.id,
        "redirect_uri": program.redirect_uris[0],
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        **more,
    }
    return f"{path}?{urlencode({name: value for name, value in asked.items() if value})}"
