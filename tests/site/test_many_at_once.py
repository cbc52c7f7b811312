"""Concurrent requests for the same page, and requests while maps change."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.api.context import Context
from mapshelf.model import MapDraft
from mapshelf.site import pinned, site_routes
from mapshelf.site.messages import say
from tests.harness import PATIENCE, Service, outline_of, serve, shelf_with

ID = "Changing"


def asked(service: Service, paths: list[str]) -> list[httpx.Response]:
    async def ask() -> list[httpx.Response]:
        return await asyncio.gather(*map(service.client.get, paths))

    return service.run(ask())


@pytest.mark.slow
def test_concurrent_requests_share_a_page_and_too_many_are_refused(tmp_path: Path) -> None:
    drafts = [MapDraft(title=f"Map {number}") for number in range(50)]
    with shelf_with(tmp_path, *drafts) as shelf, serve(shelf, site_routes) as service:
        same = asked(service, ["/?query=map"] * 100)
        assert {page.status_code for page in same} == {200}
        assert len({page.content for page in same}) == 1
        # More requests than the queue takes.
        many = asked(service, [f"/?query=map&unknown={number}" for number in range(100)])
        assert {page.status_code for page in many} == {200, 503}
        for page in many:
            assert page.status_code == 200 or say("error.overloaded") in page.text
        # Requests to the API do not wait in this queue.
        assert service.maps(query="map").status_code == 200
        assert service.get("/?query=map&unknown=99").status_code == 200


def test_a_look_up_for_a_page_is_not_taken_for_that_of_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request for a map with the ID "pinned" got the pinned collections of the first page."""
    monkeypatch.setattr(pinned, "KEPT_FOR", 0.0)
    may_end = threading.Event()
    with shelf_with(tmp_path, MapDraft(title="Map")) as shelf, serve(shelf, site_routes) as service:
        lookups = service.application.application.context.queues.lookups
        assert service.get("/").status_code == 200  # now the page is made, and only asks

        async def ask() -> list[httpx.Response]:
            busy = asyncio.create_task(lookups.result(object(), partial(may_end.wait, PATIENCE)))
            pages = [
                asyncio.create_task(service.client.get(path)) for path in ("/", "/mindmaps/pinned")
            ]
            async with asyncio.timeout(PATIENCE):
                while lookups.waiting < len(pages):
                    await asyncio.sleep(0.001)
            may_end.set()
            await busy
            return await asyncio.gather(*pages)

        assert [page.status_code for page in service.run(ask())] == [200, 404]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/mindmaps/Changing/title", "/site/maps/Changing.json", "/mindmaps/Changing/title.md"]
)
def test_pages_with_unknown_parameters_are_the_same(tmp_path: Path, path: str) -> None:
    """Otherwise anybody could make the service build its most expensive page again and again."""
    draft = MapDraft(id=ID, title="Title", outline=outline_of("Title", "topic"))
    with shelf_with(tmp_path, draft) as shelf, serve(shelf, site_routes) as service:
        pages = asked(service, [f"{path}?unknown={number}" for number in range(100)])
        assert {page.status_code for page in pages} == {200}
        assert len({page.content for page in pages}) == 1


class Moving:
    """A snapshot reader that publishes a change after each time it is read."""

    def __init__(self, catalogue: Any, publish: Callable[[], None]) -> None:
        self._catalogue = catalogue
        self._publish = publish

    def get(self) -> Any:
        edition = self._catalogue.get()
        self._publish()
        self._catalogue.refresh()
        return edition


@pytest.mark.slow
def test_a_page_and_its_cache_entry_use_the_same_snapshot(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(id=ID, title="Title", description="words 0")) as shelf:
        words = 0

        def publish() -> None:
            nonlocal words
            words += 1
            shelf.put(MapDraft(id=ID, description=f"words {words}"))
            shelf.publish()

        def pages(context: Context) -> Any:
            moving: Any = Moving(context.snapshot, publish)
            return site_routes(replace(context, snapshot=moving))

        with serve(shelf, pages) as service:
            for number in range(3):
                page = service.get(f"/mindmaps/{ID}/title")
                assert page.status_code == 200
                assert f"words {number}" in page.text
