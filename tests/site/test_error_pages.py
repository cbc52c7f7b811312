"""Error pages give the same reason as the API, in words meant for people."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mapshelf.api.context import Context
from mapshelf.api.errors import RETRY_AFTER
from mapshelf.api.http import Response
from mapshelf.api.routes import Route
from mapshelf.errors import (
    AddressTooLong,
    Conflict,
    InvalidParameter,
    MapDeleted,
    MapHidden,
    NotFound,
    Overloaded,
    SnapshotMissing,
    StoreUnavailable,
)
from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from mapshelf.site.error_pages import MOST_CACHED, ErrorPages
from mapshelf.site.messages import say
from mapshelf.site.responses import Templates
from tests.harness import Service, Shelf, copied_shelf, outline_of, serve

PAGE = "/mindmaps/Garden01/a-garden"
MAP = MapDraft(id="Garden01", title="A garden", outline=outline_of("A garden", "Beans"))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Service]:
    with copied_shelf(tmp_path, MAP) as shelf, serve(shelf, site_routes) as running:
        yield running


def told(site: Service, path: str, status: int) -> tuple[str, str]:
    """Return the heading and the message of the error page at ``path``."""
    page = site.request("GET", path, signed=False)
    assert page.status_code == status, page.text
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers.get("Retry-After") == (str(RETRY_AFTER) if status == 503 else None)
    assert "etag" not in page.headers
    found = re.search(r"<h1>(.*)</h1>\s*<p[^>]*>(.*)</p>", page.text)
    assert found
    return found[1], found[2]


def test_without_a_snapshot_the_catalogue_is_being_prepared(tmp_path: Path) -> None:
    bare = Shelf(tmp_path)
    try:
        with serve(bare, site_routes) as site:
            assert told(site, "/", 503) == (say("error.preparing"), say("error.again"))
            assert "/again.js" in site.request("GET", "/", signed=False).text
            assert "being prepared" in site.get("/maps").text
            bare.publish()
            site.wait_until(lambda: site.get("/").status_code == 200)
            assert "/again.js" not in site.get("/nothing", Accept="text/html").text
    finally:
        bare.close()


def test_without_its_store_the_service_cannot_answer(tmp_path: Path) -> None:
    contexts: list[Context] = []

    def pages(context: Context) -> Mapping[str, Route]:
        contexts.append(context)
        return site_routes(context)

    with copied_shelf(tmp_path, MAP) as shelf, serve(shelf, pages) as site:
        contexts[0].store.close()
        assert told(site, PAGE, 503) == (say("error.unavailable"), say("error.again"))
        assert "cannot answer now" in site.get("/maps").text


@pytest.mark.parametrize(
    ("path", "status", "heading"),
    [
        ("/?order_by=x", 400, "error.invalid"),
        ("/?limit=99", 400, "error.invalid"),
        ("/?query=%FF", 400, "error.invalid"),
        ("/mindmaps/Missing1/nothing", 404, "error.missing"),
        ("/categories/none", 404, "error.missing"),
    ],
)
def test_wrong_addresses_get_their_status_and_heading(
    site: Service, path: str, status: int, heading: str
) -> None:
    message = say("error.invalid.hint" if status == 400 else "error.missing.hint")
    assert told(site, path, status) == (say(heading), message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "status", "heading", "message"),
    [
        (Overloaded("queue"), 503, "error.overloaded", say("error.again")),
        (StoreUnavailable("secret"), 503, "error.unavailable", say("error.again")),
        (SnapshotMissing("secret"), 503, "error.preparing", say("error.again")),
        (NotFound("secret"), 404, "error.missing", say("error.missing.hint")),
        (Conflict("secret"), 409, "error.title", say("failure.changed")),
        (MapHidden("secret"), 409, "error.title", say("failure.hidden")),
        (MapDeleted("secret"), 409, "error.title", say("failure.changed")),
        (InvalidParameter("secret"), 400, "error.invalid", say("error.invalid.hint")),
        (AddressTooLong("Too <long>."), 414, "error.title", "Too &lt;long&gt;."),
    ],
)
def test_each_error_has_its_own_heading(
    site: Service, error: Exception, status: int, heading: str, message: str
) -> None:
    page = site.run(error_pages().page(error))
    body = text(page)
    assert page.status == status
    assert f"<h1>{say(heading)}</h1>" in body
    assert message in body
    assert "secret" not in body


def test_concurrent_errors_share_one_page(site: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = Templates.error

    def error(templates: Templates, status: int, *others: Any) -> Response:
        made.append(status)
        if len(made) == 1:
            raise OSError("no template could be read")
        return make(templates, status, *others)

    monkeypatch.setattr(Templates, "error", error)
    pages = error_pages()

    async def asked() -> list[Any]:
        eight = (pages.page(NotFound("none")) for _ in range(8))
        return await asyncio.gather(*eight, return_exceptions=True)

    assert {type(response) for response in site.run(asked())} == {OSError}
    assert {response.status for response in site.run(asked())} == {404}
    assert made == [404, 404]


def test_old_error_pages_leave_the_cache(site: Service) -> None:
    pages = error_pages()
    first = site.run(pages.page(Overloaded("one")))
    assert site.run(pages.page(Overloaded("another"))) is first
    for number in range(MOST_CACHED):
        message = f"Number {number}."
        assert message in text(site.run(pages.page(AddressTooLong(message))))
    assert site.run(pages.page(Overloaded("one"))) is not first


def error_pages() -> ErrorPages:
    return ErrorPages(Templates({"root": "", "static": "/static/1"}))


def text(page: Response) -> str:
    assert isinstance(page.body, bytes)
    return page.body.decode()
