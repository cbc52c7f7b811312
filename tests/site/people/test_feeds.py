"""Feeds of a private catalogue: each user has a secret feed address."""

import asyncio
import logging
import re
from xml.etree import ElementTree

import pytest

from mapshelf.model import AuditEvent
from mapshelf.site.messages import say
from mapshelf.tokens import FEED_PREFIX, SCOPES, new_token
from tests.harness import BASE_URL, Service, Shelf
from tests.person import PROMISE, Person, Start, forms, link_of, member, until
from tests.site.shelves import GARDEN

PAGE = "/account/feeds"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def site(start: Start) -> Service:
    return start(private=True)


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


def made(person: Person) -> str:
    """Create a feed address; return its path."""
    found = re.findall(
        rf"{re.escape(BASE_URL)}(/feeds/{FEED_PREFIX}\w{{49}}\.atom)", person.made(PAGE).text
    )
    assert len(found) == 1
    path: str = found[0]
    return path


def status(site: Service, path: str, method: str = "GET", **headers: str) -> int:
    """Return the status for a feed reader, which sends no cookies and no token."""
    return site.request(method, path, headers=headers, signed=False).status_code


def titles(site: Service, path: str) -> list[str | None]:
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200, answer.text[:300]
    feed = ElementTree.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]


@pytest.mark.slow
def test_an_address_is_made_renewed_and_withdrawn(site: Service, shelf: Shelf, ann: Person) -> None:
    assert f'href="{PAGE}"' in ann.get("/account").text
    assert say("feeds.none") in ann.get(PAGE).text
    first = made(ann)
    assert titles(site, first) == [GARDEN.title]
    second = made(ann)
    assert titles(site, second) == [GARDEN.title]
    until(site, lambda: status(site, first) == 404)
    assert status(site, second) == 200
    page = ann.get(PAGE)
    assert second not in page.text
    (withdraw,) = (form for form in forms(page) if form.buttons)
    answer = ann.send(withdraw, **dict(withdraw.buttons))
    assert answer.headers["Location"] == f"{PAGE}?done=feeds"
    assert say("done.feeds") in ann.get(answer.headers["Location"]).text
    assert say("feeds.none") in ann.get(PAGE).text
    until(site, lambda: status(site, second) == 404)
    assert ann.post(PAGE, {**ann.form(PAGE).fields, "withdraw": "1"}).status_code == 303
    assert [one.scopes for one in shelf.store.tokens("ann")] == ["feeds", "feeds"]
    assert all(one.revoked is not None for one in shelf.store.tokens("ann"))
    noted = [(one.entry.event, one.count) for one in shelf.store.audit_records(0, 0, 100)]
    assert noted[-2:] == [(AuditEvent.TOKEN_MADE, 2), (AuditEvent.TOKEN_REVOKED, 2)]


def test_a_secret_feed_takes_the_parameters_of_lists(site: Service, ann: Person) -> None:
    path = made(ann)
    assert titles(site, f"{path}?owner={GARDEN.owner}") == [GARDEN.title]
    assert titles(site, f"{path}?owner=nobody") == []
    assert status(site, f"{path}?limit=51") == 400


def test_the_store_keeps_a_digest_and_no_token_page_lists_it(
    site: Service, shelf: Shelf, ann: Person
) -> None:
    secret = made(ann).removeprefix("/feeds/").removesuffix(".atom")
    (token,) = shelf.store.tokens("ann")
    assert (token.scopes, token.expires) == ("feeds", None)
    assert secret not in repr(token)
    page = ann.get("/account/tokens")
    assert f'value="{token.id}"' not in page.text
    content = b"".join(file.read_bytes() for file in shelf.settings.data.glob("catalogue.db*"))
    assert secret.encode() not in content


def test_secret_feeds_are_cached_privately_and_revalidated(site: Service, ann: Person) -> None:
    path = made(ann)
    answer = site.request("GET", path, headers={"Accept-Encoding": "identity"}, signed=False)
    packed = site.request("GET", path, headers={"Accept-Encoding": "gzip"}, signed=False)
    tag = {"If-None-Match": answer.headers["ETag"]}
    known = site.request("GET", path, headers=tag, signed=False)
    assert known.status_code == 304
    head = site.request("HEAD", path, signed=False)
    for one in (answer, packed, known, head):
        assert one.headers["Cache-Control"] == "private, no-cache"
        assert one.headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in one.headers
    gone = site.request("GET", "/feeds/x.atom", signed=False)
    assert gone.headers["Cache-Control"] == "no-store"


def test_a_secret_feed_contains_no_secrets(site: Service, ann: Person) -> None:
    path = made(ann)
    text = site.request("GET", f"{path}?order_by=views", signed=False).text
    assert FEED_PREFIX not in text
    assert "/thumbnails/" not in text, "images need a session"
    feed = ElementTree.fromstring(text)
    assert feed.findtext(f"{ATOM}id") == f"{BASE_URL}/feed.atom?order_by=views"
    (link,) = (
        one.get("href") or "" for one in feed.iter(f"{ATOM}link") if "mindmaps" in str(one.attrib)
    )
    assert link.startswith(f"{BASE_URL}/mindmaps/")
    assert status(site, link.removeprefix(BASE_URL)) == 303


def test_feed_secrets_open_feeds_only(site: Service, shelf: Shelf, ann: Person) -> None:
    secret = made(ann).removeprefix("/feeds/").removesuffix(".atom")
    everything = " ".join(SCOPES)
    for wrong in (
        new_token(FEED_PREFIX),
        secret[:-1] + ("0" if secret[-1] != "0" else "1"),
        shelf.token("ann", scopes=everything),
        shelf.token("ann", scopes=everything, prefix=FEED_PREFIX),
        shelf.token("ann", scopes=f"{everything} feeds", prefix=FEED_PREFIX)[:-1],
        shelf.session("ann"),
        "x",
        "%00",
    ):
        assert status(site, f"/feeds/{wrong}.atom") == 404, wrong
    for path in ("/maps", "/users/me", "/search", "/users/me/maps"):
        assert status(site, path, Authorization=f"Bearer {secret}") == 401
        assert status(site, path, Authorization=secret) == 401
    for path in ("/maps", "/users/me"):
        cookie = f"__Host-mapshelf_session={secret}"
        assert status(site, path, Cookie=cookie) == 401
    assert status(site, PAGE, Cookie=f"__Host-mapshelf_session={secret}") == 303
    assert status(site, "/feed.atom") == 401
    assert status(site, f"/thumbnails/{GARDEN.id}.png") == 401


@pytest.mark.slow
def test_feed_addresses_of_disabled_users_stop_working(
    site: Service, shelf: Shelf, ann: Person
) -> None:
    path = made(ann)
    assert status(site, path) == 200
    shelf.store.disable_user("ann")
    until(site, lambda: status(site, path) == 404)
    shelf.store.enable_user("ann")
    until(site, lambda: status(site, path) == 200)
    assert PROMISE == 2.0


@pytest.mark.slow
def test_feed_addresses_of_others_cannot_be_withdrawn(
    site: Service, shelf: Shelf, ann: Person
) -> None:
    path = made(ann)
    eve = Person(site)
    assert eve.choose(link_of(shelf, "eve")).status_code == 303
    made(eve)
    assert eve.post(PAGE, {**eve.form(PAGE).fields, "withdraw": "1"}).status_code == 303
    site.run(asyncio.sleep(1.2))  # longer than a worker takes to notice
    assert status(site, path) == 200


def test_the_secret_is_in_no_log(
    site: Service, shelf: Shelf, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = made(ann)
    assert status(site, path) == 200
    assert status(site, f"{path}?limit=51") == 400
    site.application.application.context.store.get().close()
    until(site, lambda: status(site, f"/feeds/{new_token(FEED_PREFIX)}.atom") == 503)
    assert status(site, path) in (200, 503)
    site.stop()
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("mapshelf")]
    assert ours
    assert FEED_PREFIX not in "".join(ours)


def test_a_public_catalogue_has_feed_addresses_too(start: Start, shelf: Shelf) -> None:
    """Feed addresses keep working when a private catalogue becomes public."""
    site = start()
    person = member(site, shelf, "ann")
    assert say("feeds.public") in person.get(PAGE).text
    assert f'href="{PAGE}"' not in person.get("/account").text
    assert titles(site, made(person)) == [GARDEN.title]
