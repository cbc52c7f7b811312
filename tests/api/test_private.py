"""A private catalogue sends nothing without a token, and nothing that a shared cache may store.

A shared cache may send a response to one client to other clients (RFC 9111), unless the headers of
the response forbid it. ``tests/service/test_proxies.py`` tests real caches.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product

import httpx
import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Source
from mapshelf.readers import Limits, read
from mapshelf.render.render_request import DRAWING_FORMATS
from mapshelf.render.render_request import FORMATS as PICTURES
from mapshelf.site import site_routes
from mapshelf.store.tables import COLLECTIONS
from mapshelf.writers import WRITERS
from tests.api import openapi
from tests.harness import READER, Service, shelf_with
from tests.readers.samples import as_file, drawn, with_picture

PICTURE = as_file(drawn())
FILE = with_picture(as_file(drawn()))
ID, TITLE, COLLECTION = "Q7xK2mZp", "Plan", "Collect1"
MAP = MapDraft(
    id=ID,
    title=TITLE,
    outline=encode_outline(read(FILE, Limits())),
    source=Source(b"/maps/plan.xmind", "plan.xmind", len(FILE), 1, b"p" * 32),
    content=zlib.compress(FILE),
    images={sha256(PICTURE).hexdigest(): PICTURE},
)

FOR_ANYBODY = ("/openapi.json", "/healthz", "/readyz", "/docs", "/static/any/site.css")
"""What tells nothing of the catalogue."""

VALUES: dict[str, list[str]] = {
    "ID": [ID],
    "OTHER": [ID],
    "format": [one.suffix for one in WRITERS],
    "picture": list(PICTURES),
    "drawing": list(DRAWING_FORMATS),
    "digest": [sha256(PICTURE).hexdigest()],
    "number": ["1"],
    "collection": [COLLECTION],
}
"""What stands in the parts of paths that vary."""


def paths_of(template: str) -> Iterator[str]:
    """Yield every path that matches a template of the document."""
    names = re.findall(r"\{(\w+)\}", template)
    for values in product(*(VALUES[name] for name in names)):
        yield template.format(**dict(zip(names, values, strict=True)))


FOR_OWNERS = ("/maps/{ID}/versions",)

ADDRESSES = (
    *(
        path
        for template, operations in openapi.DOCUMENT["paths"].items()
        if "get" in operations and template not in (*FOR_ANYBODY, *FOR_OWNERS)
        for path in paths_of(template)
    ),
    "/maps?query=plan&limit=1",
    "/search?query=plan",
    f"/thumbnails/{ID}.png?source=file",
    f"/thumbnails/{ID}.svg?w=640&theme=dark",
)
"""Every operation that tells something of the catalogue."""

WRONG = (
    ("/maps?limit=51", 400),
    (f"/thumbnails/{ID}.png?w=1", 400),
    (f"/thumbnails/{ID}.svg?source=file", 404),
    (f"/maps/{ID}/images/{'0' * 64}.png", 404),
    ("/thumbnails/None0000.png", 404),
    ("/maps/None0000", 404),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with shelf_with(tmp_path_factory.mktemp("private"), MAP) as shelf:
        (reader,) = (one.id for one in shelf.store.users() if one.name == READER)
        row = (COLLECTION, reader, "Plans", "", "published", 1, 1, None)
        shelf.store.write_rows({COLLECTIONS: [row]}, shelf.store.catalogue_counters())
        settings = replace(shelf.settings, private=True)
        with Service(settings, shelf.token(), site_routes) as running:
            yield running


def directives(response: httpx.Response) -> set[str]:
    return set(response.headers["Cache-Control"].split(", "))


def check_private(response: httpx.Response) -> None:
    """Check that no shared cache may store a response, or send it to another client."""
    said = directives(response)
    assert "public" not in said
    if "no-store" not in said:
        assert "private" in said
        assert "Authorization" in response.headers["Vary"].split(", ")


@pytest.mark.process
def test_the_description_of_the_api_says_that_pictures_need_a_token(service: Service) -> None:
    document = service.request("GET", "/openapi.json", signed=False).json()
    needed = {
        template: one["security"]
        for template, operations in document["paths"].items()
        for method, one in operations.items()
        if method == "get"
    }
    assert [template for template, some in needed.items() if not some] == ["/openapi.json"]
    for picture in (
        *("/maps/{ID}/drawing.{drawing}", "/maps/{ID}/images/{digest}.png"),
        *("/thumbnails/{ID}.{picture}", "/collections/{collection}/picture.png"),
    ):
        assert needed[picture] == [{"bearer": ["maps"]}, {"oauth": ["maps"]}]
        assert {"401", "403"} <= document["paths"][picture]["get"]["responses"].keys()
        assert not openapi.DOCUMENT["paths"][picture]["get"]["security"], "of a public catalogue"


@pytest.mark.process
@pytest.mark.parametrize("path", ADDRESSES)
def test_no_response_may_be_stored_by_shared_caches(service: Service, path: str) -> None:
    whole = service.get(path)
    assert whole.status_code == 200
    check_private(whole)
    head = service.request("HEAD", path)
    assert (head.status_code, head.content) == (200, b"")
    check_private(head)
    if "ETag" in whole.headers:
        known = service.get(path, If_None_Match=whole.headers["ETag"])
        assert known.status_code == 304
        check_private(known)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"If-None-Match": "*"}):
        for method in ("GET", "HEAD"):
            refused = service.request(method, path, headers=headers, signed=False)
            assert refused.status_code == 401
            assert directives(refused) == {"no-store"}


@pytest.mark.parametrize(("path", "status"), WRONG)
def test_no_error_may_be_stored_by_caches(service: Service, path: str, status: int) -> None:
    answer = service.get(path)
    assert answer.status_code == status
    assert directives(answer) == {"no-store"}


@pytest.mark.process
def test_browsers_must_revalidate_pictures(service: Service) -> None:
    """Otherwise a browser would show it after the user has signed out."""
    answer = service.get(f"/thumbnails/{ID}.png")
    assert directives(answer) == {"private", "no-cache"}
    assert answer.headers["Vary"] == "Authorization, Cookie"
    openapi.check(answer)
    openapi.check(service.get(f"/thumbnails/{ID}.png", If_None_Match=answer.headers["ETag"]))


@pytest.mark.slow
@pytest.mark.parametrize("path", FOR_ANYBODY)
def test_paths_that_reveal_no_maps_need_no_token(service: Service, path: str) -> None:
    answer = service.request("GET", path, signed=False)
    assert answer.status_code == 200
    assert ID.encode() not in answer.content
    assert TITLE.encode() not in answer.content
