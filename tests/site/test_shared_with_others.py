"""CORS: pages of other origins may read the API and the OAuth endpoints, but no pages."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from mapshelf.api.oauth import oauth_routes
from mapshelf.api.operations import api_routes
from mapshelf.model import CollectionDetails, Visibility
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, shelf_with
from tests.site.shelves import GARDEN

ORIGIN = "https://editor.example"
PARTS: dict[str, str | None] = {
    "id": GARDEN.id,
    "slug": "a-garden",
    "name": "1",
    "format": "md",
    "asset": "site.css",
}
PARTS |= {"drawing": "svg", "picture": "svg", "digest": "0" * 64}

FOR_PROGRAMS = {
    "/collected/{id}/feed.atom",
    "/feed.atom",
    "/oembed",
    "/saved/{id}/feed.atom",
    "/site/maps/{id}.json",
    "/static/{edition}/{asset}",
}
"""Addresses of the site that programs load from a public catalogue."""

QUERIES = {"/oembed": f"?url=https%3A%2F%2Fmaps.example.org%2Fmindmaps%2F{GARDEN.id}%2Fa-garden"}

NOT_FOR_BROWSERS = {"/oauth/device_authorization"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("shared"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module", params=[False, True], ids=["public", "private"])
def site(shelf: Shelf, request: pytest.FixtureRequest) -> Iterator[Service]:
    settings = replace(shelf.settings, private=bool(request.param))
    with Service(settings, shelf.token(), site_routes) as running:
        yield running


def value_of(part: re.Match[str]) -> str:
    """Return a value for a variable part of a path."""
    return PARTS.get(part[1]) or "1"


@pytest.fixture(scope="module")
def kept(shelf: Shelf) -> dict[str, str]:
    """Return the addresses of a collection and of a saved search, by their routes."""
    ann = shelf.store.add_user("ann").id
    details = CollectionDetails("Plans", "", Visibility.PUBLISHED)
    collection = shelf.store.add_collection(ann, details, [])
    search = shelf.store.save_search(ann, "Gardens", "query=garden")
    return {
        "/collected/{id}": f"/collected/{collection.id}",
        "/saved/{id}": f"/saved/{search.id}",
    }


def told(site: Service, method: str, path: str) -> set[str]:
    """Return the names of the CORS headers of a response."""
    answer = site.request(method, path, headers={"Origin": ORIGIN, "Cookie": "a=b"})
    names = {name for name in answer.headers if name.startswith("access-control-")}
    assert "access-control-allow-credentials" not in names
    return names


@pytest.mark.slow
def test_only_the_api_has_cors_headers(site: Service, kept: dict[str, str]) -> None:
    context = site.application.application.context
    private = context.settings.private
    programs = {path for path in oauth_routes(context) if path not in NOT_FOR_BROWSERS}
    shared = {*api_routes(private=private), *programs, *(() if private else FOR_PROGRAMS)}
    table = {**api_routes(private=private), **oauth_routes(context), **site_routes(context)}
    assert shared < set(table)
    for template in table:
        path = template
        for described, address in kept.items():
            path = path.replace(described, address)
        path = re.sub(r"\{(\w+)\}", value_of, path)
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            found = told(site, method, path + QUERIES.get(template, ""))
            where = (method, template)
            # There, the error is a page.
            page = template in FOR_PROGRAMS and method in ("POST", "DELETE")
            assert bool(found) == (template in shared and not page), where
            offered = method == "OPTIONS" and template in shared
            assert ("access-control-allow-methods" in found) == offered, where


def test_errors_have_cors_headers_if_they_are_json(site: Service) -> None:
    for path in ("/maps?limit=51", "/nowhere", "/maps/None0000"):
        assert "access-control-allow-origin" in told(site, "GET", path)
    for path in ("/mindmaps/None0000", "/link/none", "/?limit=x&offset=x", "/owners/"):
        kind = site.request("GET", path, signed=False).headers.get("Content-Type", "")
        assert ("access-control-allow-origin" in told(site, "GET", path)) == ("json" in kind)


def test_compressed_pages_have_no_cors_headers(site: Service) -> None:
    for encoding in ("gzip", "identity"):
        answer = site.request("GET", "/docs", headers={"Accept-Encoding": encoding})
        assert "Access-Control-Allow-Origin" not in answer.headers
    known = {"If-None-Match": answer.headers["ETag"], "Accept-Encoding": "identity"}
    answer = site.request("GET", "/docs", headers=known)
    assert answer.status_code == 304
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.slow
def test_an_operator_may_share_with_one_origin_or_none(shelf: Shelf) -> None:
    for origin in (ORIGIN, ""):
        with Service(replace(shelf.settings, cors_origin=origin), "", site_routes) as site:
            for path in ("/openapi.json", "/oauth/token"):
                answer = site.request("GET", path, signed=False)
                assert answer.headers.get("Access-Control-Allow-Origin", "") == origin
            assert "Access-Control-Allow-Origin" not in site.get("/signin").headers
