"""Addresses of maps whose titles have changed, at a node whose snapshot is behind.

Two nodes must not redirect a visitor to each other, and an author sees what was just saved.
"""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any, Final

import httpx
import pytest

from mapshelf.api import visible_maps, withdrawals
from mapshelf.errors import StoreUnavailable
from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.site import site_routes
from tests.harness import PATIENCE, Service, Shelf, copied_shelf, full_queue, serve
from tests.person import member
from tests.site.shelves import GARDEN, NOTED

FORMER: Final = "/mindmaps/Garden01/a-kitchen-garden"
PRESENT: Final = "/mindmaps/Garden01/a-herb-garden"
INVENTED: Final = "/mindmaps/Garden01/invented-{}"
LOOKUPS: Final = 257
"""How many look-ups a worker has at a time."""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, GARDEN, NOTED) as full:
        yield full


@pytest.fixture
def node(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A node that gets no new snapshot; another node has given the map a new title."""
    monkeypatch.setattr(withdrawals, "LOOK_INTERVAL", PATIENCE)
    with serve(shelf, site_routes) as service:
        get(service, FORMER)
        shelf.put(MapDraft(id="Garden01", title="A herb garden"))
        yield service


def get(service: Service, path: str, status: int = 200) -> httpx.Response:
    response = service.request("GET", path, signed=False)
    assert response.status_code == status, (path, response.status_code)
    return response


def target(service: Service, path: str) -> str:
    return get(service, path, 308).headers["Location"]


def store_of(service: Service) -> Any:
    return type(service.application.application.context.store.get())


def test_the_new_address_shows_the_map_as_it_is_now(node: Service, shelf: Shelf) -> None:
    assert "A herb garden" in get(node, PRESENT).text
    assert "A herb garden" in get(node, f"{PRESENT}?embed=1").text
    assert "A herb garden" in member(node, shelf, "ann").get(PRESENT).text


def test_nodes_do_not_redirect_to_each_other(node: Service, shelf: Shelf) -> None:
    get(node, FORMER)
    for path in (INVENTED, "/mindmaps/Garden01", "/mindmaps/Garden01/A-Herb-Garden"):
        assert target(node, f"{path}?embed=1") == f"{PRESENT}?embed=1"
    shelf.publish()
    node.wait_until(lambda: node.request("GET", FORMER, signed=False).status_code == 308)
    assert target(node, FORMER) == PRESENT
    get(node, PRESENT)


def test_a_map_that_was_hidden_meanwhile_leads_nowhere(node: Service, shelf: Shelf) -> None:
    found = shelf.store.find_map("Garden01")
    assert found
    shelf.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
    for path in (PRESENT, INVENTED, "/mindmaps/Garden01"):
        assert "A herb garden" not in get(node, path, 404).text


def test_the_right_address_asks_the_store_for_no_title(
    node: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_of(node), "find_map", None)
    get(node, FORMER)


def test_without_the_store_the_page_is_shown(
    node: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(store_of(node), "find_map", away)
    shown = get(node, FORMER)
    for path in (PRESENT, INVENTED, "/mindmaps/Garden01"):
        assert get(node, path).content == shown.content


def test_a_slow_store_does_not_delay_the_page_for_long(
    node: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible_maps, "PRESENT_WITHIN", 0.05)
    answers = Event()
    monkeypatch.setattr(store_of(node), "find_map", lambda *_: answers.wait(PATIENCE) and None)
    try:
        assert get(node, PRESENT).content == get(node, FORMER).content
    finally:
        answers.set()


def test_invented_addresses_fill_neither_queue_nor_cache(node: Service) -> None:
    """While others have many look-ups, the page is shown as it was made once."""
    get(node, FORMER)
    made = node.application.application.context.queues.pages.counts
    before = made.done
    with full_queue(node, "lookups", LOOKUPS):
        for number in range(20):
            get(node, INVENTED.format(number))
    assert made.done == before
