"""All pages of a list have the same facets, whose links keep the other parameters."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, serve, shelf_with
from tests.site.shelves import filler


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_with(tmp_path, *filler(60)) as full:
        yield full


@pytest.fixture
def site(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf, site_routes) as running:
        yield running


def categories(site: Service, path: str) -> dict[str, tuple[str, str]]:
    """Return the values of the facet of categories, each with its number of maps and its link."""
    response = site.request("GET", path, signed=False)
    assert response.status_code == 200
    (section,) = (one for one in response.text.split("<section") if "<h2>Categories</h2>" in one)
    found = re.findall(
        r'<a href="([^"]*)"[^>]*><bdi>([^<]*)</bdi> <span class="count">(\d+)<', section
    )
    return {name: (count, unescape(address)) for address, name, count in found}


def test_each_page_links_to_the_categories_of_its_own_list(site: Service) -> None:
    plain = categories(site, "/")
    assert {name: count for name, (count, _) in plain.items()} == {"History": "30", "Science": "30"}
    assert categories(site, "/?offset=24") == plain
    for parameter in ("order_by=alpha", "view=table"):
        others = categories(site, f"/?{parameter}")
        assert categories(site, f"/?{parameter}&offset=48") == others
        assert {name: address for name, (_, address) in others.items()} == {
            name: f"{address}?{parameter}" for name, (_, address) in plain.items()
        }


def test_long_parameters_are_in_the_links_too(site: Service) -> None:
    words = "map " * 60
    for _ in range(2):
        found = categories(site, f"/?query={words}")
        assert {count for count, _ in found.values()} == {"30"}
        assert all("query=map+map" in address for _, address in found.values())


def test_the_next_snapshot_has_its_own_facets(site: Service, shelf: Shelf) -> None:
    assert categories(site, "/?offset=24")["History"][0] == "30"
    shelf.put(MapDraft(id="another1", title="Another", category="History", date_added=1))
    shelf.publish()
    site.wait_until(lambda: "Another" in site.titles(order_by="alpha"))
    assert categories(site, "/?offset=24")["History"][0] == "31"
