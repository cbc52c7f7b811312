"""Sessions over HTTP: which user pages see, and how soon an ended session is refused.

``test_permissions.py`` checks that the API accepts a session only from our pages.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

import httpx
import pytest

from mapshelf.api.csrf import FIELD, is_form_token
from mapshelf.tokens import SESSION_PREFIX, is_well_formed, new_token
from tests.api.test_tokens import PROMISE, SLACK
from tests.api.writing import writing_routes
from tests.harness import BASE_URL, READER, Service, Shelf

NAME: Final = "__Host-mapshelf_session"


@pytest.fixture
def site(shelf: Shelf) -> Iterator[Service]:
    with Service(shelf.settings, "", writing_routes) as running:
        yield running


def visit(site: Service, secret: str, **headers: str) -> httpx.Response:
    sent = {"Cookie": f"{NAME}={secret}", **headers}
    return site.request("GET", "/test/session", headers=sent, signed=False)


def test_a_page_knows_who_is_signed_in(shelf: Shelf, site: Service) -> None:
    secret = shelf.session()
    for _ in range(2):
        found = visit(site, secret).json()
        assert found["user"] == READER
        assert is_form_token(found["form_token"], secret)


@pytest.mark.parametrize("fetch_site", ["cross-site", "same-site", "none"])
def test_a_link_from_another_site_keeps_the_user_signed_in(
    shelf: Shelf, site: Service, fetch_site: str
) -> None:
    answer = visit(site, shelf.session(), **{"Sec-Fetch-Site": fetch_site})
    assert answer.json()["user"] == READER


def test_a_page_works_without_a_session_too(shelf: Shelf, site: Service) -> None:
    expired, personal = shelf.session(expires=1), shelf.token()
    for secret in ("", "x", "mss_", new_token(SESSION_PREFIX), expired, personal):
        answer = visit(site, secret)
        assert (answer.status_code, answer.json()) == (200, {"user": None})
    answer = site.request("GET", "/test/session", signed=False)
    assert answer.json() == {"user": None}


def test_a_token_is_no_session_and_a_session_no_token(shelf: Shelf, site: Service) -> None:
    secret, token = shelf.session(), shelf.token()
    assert is_well_formed(secret, SESSION_PREFIX)
    assert not is_well_formed(secret)
    assert not is_well_formed(token, SESSION_PREFIX)
    site.token = secret
    assert site.get("/maps").status_code == 401
    assert site.get("/maps", Cookie=f"{NAME}={secret}").status_code == 401


@pytest.mark.slow
def test_a_session_that_is_ended_is_refused_as_soon_as_a_revoked_token(
    shelf: Shelf, site: Service
) -> None:
    secret = shelf.session()
    assert visit(site, secret).json()["user"] == READER
    (user,) = (one for one in shelf.store.users() if one.name == READER)
    (token,) = shelf.store.sessions(user.id)
    shelf.store.end_session(user.id, token.id)
    since = time.monotonic()
    while visit(site, secret).json()["user"] is not None:
        assert time.monotonic() - since < PROMISE + SLACK
        site.run(asyncio.sleep(0.01))
    cookie = {"Cookie": f"{NAME}={secret}"}
    assert site.request("GET", "/maps", headers=cookie, signed=False).status_code == 401


@pytest.mark.slow
def test_known_sessions_work_while_the_store_is_away(shelf: Shelf, site: Service) -> None:
    known, unknown = shelf.session(), shelf.session()
    assert visit(site, known).json()["user"] == READER
    site.application.application.context.store.get().close()
    site.run(asyncio.sleep(PROMISE))
    assert visit(site, known).json()["user"] == READER
    assert visit(site, unknown).status_code == 503


def test_the_last_use_of_a_session_is_recorded(shelf: Shelf, site: Service) -> None:
    visit(site, shelf.session())
    site.stop()
    (user,) = (one for one in shelf.store.users() if one.name == READER)
    (token,) = shelf.store.sessions(user.id)
    assert token.last_used is not None


def test_the_secret_of_a_session_is_never_shown(
    shelf: Shelf, site: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = shelf.session()
    cookie = {"Cookie": f"{NAME}={secret}"}
    asked = ("GET /maps", "GET /maps?limit=x", "GET /nothing", "POST /test/notes")
    told = [visit(site, secret), visit(site, secret + "x")]
    told += [site.request(*one.split(), headers=cookie, signed=False) for one in asked]
    site.stop()
    said = "".join(str(answer.headers) + answer.text for answer in told) + caplog.text
    assert secret not in said
    assert secret.removeprefix(SESSION_PREFIX) not in said


def sent_form(site: Service, form: dict[str, str], **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    encoded = {"Content-Type": "application/x-www-form-urlencoded", **named}
    body = urlencode(form).encode()
    return site.request("POST", "/test/checked", headers=encoded, signed=False, content=body)


def test_a_form_before_signing_in(site: Service) -> None:
    """As on ``/signin``: the page sets a cookie, and the form's token must match it."""
    page = site.request("GET", "/test/checked", signed=False)
    cookie = page.headers["Set-Cookie"].partition(";")[0]
    assert cookie.startswith("__Host-mapshelf_form=")
    site.client.cookies.clear()
    form = {FIELD: page.json()[FIELD], "name": "Zoë"}
    assert sent_form(site, form, Cookie=cookie, Origin=BASE_URL).json() == {"name": "Zoë"}
    again = site.request("GET", "/test/checked", signed=False, headers={"Cookie": cookie})
    assert "Set-Cookie" not in again.headers
    assert sent_form(site, {FIELD: again.json()[FIELD]}, Cookie=cookie).status_code == 200
    for refused in (
        sent_form(site, form),
        sent_form(site, {}, Cookie=cookie, Origin=BASE_URL),
        sent_form(site, form, Cookie="__Host-mapshelf_form=other", Origin=BASE_URL),
        sent_form(site, form, Cookie=cookie, Origin="https://evil.example"),
        sent_form(site, form, Cookie=cookie, Origin="null", Sec_Fetch_Site="cross-site"),
    ):
        assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
