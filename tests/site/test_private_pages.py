"""Pages of a private catalogue: signed-in users see everything, all others nothing."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Final

import httpx
import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Source
from mapshelf.readers import Limits
from mapshelf.readers import read as read_file
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from mapshelf.store.tables import COLLECTIONS, SAVED_SEARCHES
from tests.harness import READER, Service, Shelf, shelf_with
from tests.person import Person, member
from tests.readers.samples import as_file, drawn, with_picture
from tests.site.shelves import large

pytestmark = pytest.mark.process

PICTURE = as_file(drawn())
FILE = with_picture(PICTURE)
ID, TITLE, OWNER = "Q7xK2mZp", "Plan", "flora"
MAP = MapDraft(
    id=ID,
    title=TITLE,
    owner=OWNER,
    category="Home",
    outline=encode_outline(read_file(FILE, Limits())),
    source=Source(b"/maps/plan.xmind", "plan.xmind", len(FILE), 1, b"p" * 32),
    content=zlib.compress(FILE),
    images={sha256(PICTURE).hexdigest(): PICTURE},
)
PAGE: Final = f"/mindmaps/{ID}/plan"
COLLECTION: Final = "Collect1"
SEARCH: Final = "Searched"
COLLECTED: Final = f"/collected/{COLLECTION}/plans"

PEOPLE: Final = {
    "/": ["/", "/?query=plan", "/?order_by=alpha"],
    "/owners/{name}": [f"/owners/{OWNER}"],
    "/categories/{name}": ["/categories/1"],
    "/browse/folders": ["/browse/folders", "/browse/folders?below=Work&offset=500"],
    "/browse/tags": ["/browse/tags"],
    "/collected": ["/collected"],
    "/collected/{id}": [f"/collected/{COLLECTION}"],
    "/collected/{id}/{slug}": [COLLECTED, f"{COLLECTED}?embed=1"],
    "/mindmaps/{id}": [f"/mindmaps/{ID}"],
    "/mindmaps/{id}/{slug}": [PAGE, f"{PAGE}?embed=1", "/mindmaps/Large001/a-very-large-map"],
    "/mindmaps/{id}/{slug}/compare/{other}": [f"{PAGE}/compare/Large001"],
    "/mindmaps/{id}/{slug}/elsewhere": [f"{PAGE}/elsewhere"],
    "/mindmaps/{id}/{slug}/find": [f"{PAGE}/find?query=plan"],
    "/mindmaps/{id}/{slug}.{format}": [f"{PAGE}.md", "/mindmaps/Large001/a-very-large-map.json"],
    "/mindmaps/{id}/{slug}/original": [f"{PAGE}/original"],
}
"""Pages that redirect to the sign-in page, with example addresses."""

SCRIPTS: Final = {
    "/feed.atom": ["/feed.atom"],
    "/collected/{id}/feed.atom": [f"/collected/{COLLECTION}/feed.atom"],
    "/saved/{id}/feed.atom": [f"/saved/{SEARCH}/feed.atom"],
    "/oembed": [f"/oembed?url=https%3A%2F%2Fmaps.example.org%2Fmindmaps%2F{ID}%2Fplan"],
    "/mindmaps/{id}/{slug}/compare/{other}.svg": [f"{PAGE}/compare/Large001.svg"],
    "/site/search": ["/site/search?query=plan"],
    "/site/imports": ["/site/imports"],
    "/site/maps/{id}.json": [f"/site/maps/{ID}.json", "/site/maps/Large001.json"],
}
"""Addresses that scripts and programs load."""

PICTURES: Final = (
    f"/thumbnails/{ID}.png",
    f"/thumbnails/{ID}.svg?w=640",
    f"/thumbnails/{ID}.png?source=file",
    f"/maps/{ID}/drawing.svg",
    f"/maps/{ID}/images/{sha256(PICTURE).hexdigest()}.png",
)

OPEN: Final = {"/docs", "/static/{edition}/{asset}", "/signin", "/signout", "/link/{secret}"}
OPEN_TO_ALL = OPEN | {"/signin/passkey"}
OPEN_TO_ALL |= {
    f"/account{more}" for more in ("", "/password", "/tokens", "/programs", "/feeds", "/passkeys")
}
OPEN_TO_ALL |= {  # opened by a secret: people/test_feeds.py, people/test_saved_searches.py
    "/feeds/{secret}.atom",
    "/feeds/{secret}/collected/{id}.atom",
    "/feeds/{secret}/saved/{id}.atom",
}
OPEN_TO_ALL |= {"/oauth/auth", "/oauth/authorize", "/oauth/device"}
OPEN_TO_ALL |= {"/account/export", "/account/delete", "/report/{id}"}
OPEN_TO_ALL |= {f"/publish{more}" for more in ("", "/preview", "/published")} | {"/account/maps"}
OPEN_TO_ALL |= {
    f"/mindmaps/{{id}}/{{slug}}/{last}"
    for last in ("vote", "edit", "versions", "versions/{number}", "remove")
}

OPEN_TO_ALL |= {"/account/collections", "/account/searches", "/collect", "/tag"}
OPEN_TO_ALL |= {
    f"/collected/{{id}}/{{slug}}/{last}" for last in ("edit", "remove", "pin", "report")
}

OF_ADMINISTRATORS: Final = {
    f"/account/{last}" for last in ("invitations", "reports", "imports", "duplicates", "tags")
}

TO_PEOPLE: Final = [path for paths in PEOPLE.values() for path in paths]
TO_SCRIPTS: Final = [path for paths in SCRIPTS.values() for path in paths]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("private"), MAP, large()) as full:
        (reader,) = (one.id for one in full.store.users() if one.name == READER)
        row = (COLLECTION, reader, "Plans", "", "published", 1, 1, None)
        search = (SEARCH, reader, "Plans", "query=plan", 1, 1)
        full.store.write_rows(
            {COLLECTIONS: [row], SAVED_SEARCHES: [search]}, full.store.catalogue_counters()
        )
        yield full


@pytest.fixture(scope="module")
def site(shelf: Shelf) -> Iterator[Service]:
    with Service(replace(shelf.settings, private=True), shelf.token(), site_routes) as running:
        yield running


@pytest.fixture
def ann(site: Service, shelf: Shelf, cheap: None) -> Person:
    return member(site, shelf, "ann")


def directives(answer: httpx.Response) -> set[str]:
    return set(answer.headers["Cache-Control"].split(", "))


def check_private(answer: httpx.Response) -> None:
    """Check that only the browser may cache a response, and must revalidate it before each use."""
    assert directives(answer) == {"private", "no-cache"}
    assert "Cookie" in answer.headers["Vary"].split(", ")


def check_untold(answer: httpx.Response) -> None:
    assert directives(answer) == {"no-store"}
    assert TITLE not in answer.text
    assert OWNER not in answer.text


def test_every_route_is_in_the_lists_of_this_module(site: Service) -> None:
    routes = site_routes(site.application.application.context)
    asked = {*PEOPLE, *SCRIPTS, *OPEN_TO_ALL, *OF_ADMINISTRATORS, "/download"}
    assert set(routes) == asked


@pytest.mark.parametrize("path", TO_PEOPLE)
def test_pages_redirect_to_sign_in_and_back(
    site: Service, shelf: Shelf, ann: Person, path: str
) -> None:
    stranger = Person(site)
    refused = stranger.get(path, 303)
    check_untold(refused)
    form = stranger.form(refused.headers["Location"])
    assert form.fields["next"] == path
    after = stranger.sign_in("ann", path=refused.headers["Location"])
    assert (after.status_code, after.headers["Location"]) == (303, form.fields["next"])
    moved = path in (f"/mindmaps/{ID}", f"/collected/{COLLECTION}")
    shown = ann.get(path, 308 if moved else 200)
    check_private(shown)
    if shown.status_code == 308:
        return
    tag = shown.headers["ETag"]
    check_private(ann.get(path, 304, If_None_Match=tag))
    whole = ann.get(path, Accept_Encoding="identity")
    check_private(whole)
    assert "Content-Encoding" not in whole.headers
    for known in (tag, "*"):
        check_untold(Person(site).get(path, 303, If_None_Match=known))


def test_downloading_several_maps_needs_a_session(site: Service, ann: Person) -> None:
    path = f"/download?map={ID}"
    check_untold(Person(site).get(path, 303))
    assert ann.get(path).headers["Content-Type"] == "application/zip"


@pytest.mark.parametrize("path", TO_SCRIPTS)
def test_data_for_scripts_needs_a_session(site: Service, ann: Person, path: str) -> None:
    refused = Person(site).get(path, 401)
    check_untold(refused)
    assert refused.headers["WWW-Authenticate"] == 'Bearer realm="mapshelf"'
    assert say("error.private") in refused.text
    shown = ann.get(path)
    check_private(shown)
    check_private(ann.get(path, 304, If_None_Match=shown.headers["ETag"]))


@pytest.mark.parametrize("path", PICTURES)
def test_pictures_need_a_session(site: Service, shelf: Shelf, ann: Person, path: str) -> None:
    shown = ann.get(path, Sec_Fetch_Site="same-origin")
    check_private(shown)
    check_private(ann.get(path, 304, If_None_Match=shown.headers["ETag"]))
    assert site.get(path).content == shown.content
    check_untold(Person(site).get(path, 401))
    check_untold(ann.get(path, 401, Sec_Fetch_Site="cross-site"))
    ann.fill("/signout")
    check_untold(ann.get(path, 401, If_None_Match=shown.headers["ETag"]))


@pytest.mark.parametrize("path", ["/", PAGE])
def test_everything_that_pages_load_exists(ann: Person, path: str) -> None:
    page = ann.get(path).text
    loaded = set(re.findall(r'(?:src|href|data-map|data-results)="(/[^"#]*)"', page))
    assert len(loaded) > 10
    for address in loaded:
        assert ann.status(address.replace("&amp;", "&")) in (200, 308), address


def test_a_link_from_another_site_shows_the_page(ann: Person) -> None:
    ann.get(PAGE, Sec_Fetch_Site="cross-site")


def test_missing_pages_redirect_to_sign_in(site: Service, ann: Person) -> None:
    ann.get("/mindmaps/None0000", 404)
    Person(site).get("/mindmaps/None0000", 303)
    Person(site).get("/?limit=99", 303)
    ann.get("/?limit=99", 400)


def test_a_token_opens_no_page(site: Service) -> None:
    assert site.get("/").status_code == 303
    assert site.get("/feed.atom").status_code == 401
    assert site.get("/maps").status_code == 200


def test_signing_out_clears_the_browser_cache(ann: Person) -> None:
    answer = ann.fill("/signout")
    assert answer.headers["Clear-Site-Data"] == '"cache"'
    assert "__Host-mapshelf_session=;" in answer.headers["Set-Cookie"]
    assert "Max-Age=0" in answer.headers["Set-Cookie"]


PERSONAL: Final = ("/", PAGE, "/owners/flora")
"""Public pages that show more to signed-in users."""


def test_public_pages_are_the_same_for_everybody_who_is_not_signed_in(
    shelf: Shelf, cheap: None
) -> None:
    with Service(shelf.settings, "", site_routes) as site:
        ben, stranger = member(site, shelf, "ben"), Person(site)
        for path in PERSONAL:
            before = stranger.get(path)
            shown = ben.get(path)
            check_private(shown)
            assert 'href="/publish"' in shown.text
            assert 'href="/publish"' not in before.text
            assert shown.headers["ETag"] != before.headers["ETag"]
            check_private(ben.get(path, 304, If_None_Match=shown.headers["ETag"]))
            ben.get(path, 200, If_None_Match=before.headers["ETag"])
            packed = ben.get(path, Accept_Encoding="gzip")
            assert packed.headers["Content-Encoding"] == "gzip"
            check_private(packed)
            after = stranger.get(path)
            assert (after.content, after.headers["ETag"]) == (
                before.content,
                before.headers["ETag"],
            )
            assert directives(after) == {"public", "no-cache"}


def test_public_pages_without_a_person_in_them_are_the_same_for_everybody(
    shelf: Shelf, cheap: None
) -> None:
    with Service(shelf.settings, "", site_routes) as site:
        ben, stranger = member(site, shelf, "ben"), Person(site)
        for path in (f"{PAGE}?embed=1", "/feed.atom", "/docs"):
            shown, other = ben.get(path), stranger.get(path)
            assert shown.content == other.content
            kept = ("ETag", "Cache-Control", "Vary")
            assert [shown.headers.get(name) for name in kept] == [
                other.headers.get(name) for name in kept
            ]
            assert directives(shown) == {"public", "no-cache"}
            assert "Set-Cookie" not in shown.headers
            if "html" in shown.headers["Content-Type"] and "embed" not in path:
                assert 'href="/account"' in shown.text
