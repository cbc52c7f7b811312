"""Content of a database server that is replaced while a request reads it is not sent.

A standby may have what was lost: the content that a map had while it was private, for instance. The
new server says that the map is published. The store notices this (``test_postgres_standby.py``).
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mapshelf.model import CollectionDetails, Visibility
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, copied_shelf, serve
from tests.site.shelves import GARDEN, NOTED

pytestmark = pytest.mark.process


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, GARDEN, NOTED) as shelf:
        yield shelf


@pytest.fixture
def site(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf, site_routes) as service:
        yield service


@pytest.mark.parametrize(
    "path",
    [
        "/maps/Garden01/outline.json",
        "/maps/Garden01/drawing.svg",
        "/maps/Garden01/diff/Noted001",
        "/search?query=beans",
        "/site/maps/Garden01.json",
        "/mindmaps/Garden01/a-kitchen-garden",
        "/mindmaps/Garden01/a-kitchen-garden.md",
        "/thumbnails/Garden01.svg",
        "/download?map=Garden01&map=Noted001",
    ],
)
def test_what_a_takeover_interrupts_is_not_sent(
    site: Service, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    assert_not_sent(site, monkeypatch, path)


def test_nor_is_the_picture_of_a_collection(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps, owner = shelf.store.maps(0, 9), shelf.store.add_user("collector")
    details = CollectionDetails("Both", "", Visibility.PUBLISHED)
    found = shelf.store.add_collection(owner.id, details, [one.file_id for one in maps])
    assert_not_sent(site, monkeypatch, f"/collections/{found.id}/picture.png")


def assert_not_sent(site: Service, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    takeovers = count()
    store = type(site.application.application.context.store.get())
    with monkeypatch.context() as patch:
        patch.setattr(store, "takeovers", lambda _: next(takeovers))
        response = site.request("GET", path)
        assert response.status_code == 503, response.text
        assert "retry-after" in response.headers
    after = site.request("GET", path)
    assert after.status_code == 200, after.text
