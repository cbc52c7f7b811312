"""Content of a database server that is replaced while a request reads it is not sent.

A standby may have what was lost: the content that a map had while it was private, for instance. The
new server says that the map is published. The store notices this (``test_postgres_standby.py``).
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mapshelf.site import site_routes
from tests.harness import Service, copied_shelf, serve
from tests.site.shelves import GARDEN, NOTED

pytestmark = pytest.mark.process


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Service]:
    with copied_shelf(tmp_path, GARDEN, NOTED) as shelf, serve(shelf, site_routes) as service:
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
    takeovers = count()
    store = type(site.application.application.context.store.get())
    with monkeypatch.context() as patch:
        patch.setattr(store, "takeovers", lambda _: next(takeovers))
        response = site.request("GET", path)
        assert response.status_code == 503, response.text
        assert "retry-after" in response.headers
    after = site.request("GET", path)
    assert after.status_code == 200, after.text
