"""Counting over HTTP: one view and one download for each visitor and hour, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from mapshelf.model import DAY, HOUR
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, copied_shelf
from tests.site.shelves import GARDEN
from tests.store.clock import Clock
from tests.visits.browsers import BROWSERS, FIREFOX

PAGE = "/mindmaps/Garden01/a-kitchen-garden"
VIEWS, DOWNLOADS = 1234, 56
LATER = 2**60


class House:
    """A service with a test clock, behind a proxy that tells the visitor's address."""

    def __init__(self, shelf: Shelf, **changes: Any) -> None:
        self.shelf = shelf
        self.clock = Clock(20_000 * DAY + 12 * HOUR)
        proxies = (ip_network("127.0.0.1"),)
        settings = replace(shelf.settings, **{"trusted_proxies": proxies, **changes})
        self.service = Service(settings, shelf.token(), site_routes, self.clock)

    def ask(
        self,
        path: str,
        visitor: str = "192.0.2.1",
        *,
        method: str = "GET",
        agent: str = FIREFOX,
        status: int = 200,
        **headers: str,
    ) -> None:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"User-Agent": agent, "X-Forwarded-For": visitor}
        response = self.service.request(method, path, headers=sent, signed="signed" in headers)
        assert response.status_code == status, (path, response.status_code)

    def counted(self) -> tuple[int, int]:
        """Stop the service; return how many views and downloads it counted."""
        self.service.stop()
        self.shelf.store.apply_visit_counts(LATER)
        (found,) = (one for one in self.shelf.store.maps(0, 99) if one.id == "Garden01")
        return found.views - VIEWS, found.downloads - DOWNLOADS


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, GARDEN) as full:
        yield full


@pytest.fixture
def house(shelf: Shelf) -> Iterator[House]:
    made = House(shelf)
    with made.service:
        yield made


def test_a_page_counts_once_for_each_visitor_and_hour(house: House) -> None:
    for visitor in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2, 192.0.2.1"):
        house.ask(PAGE, visitor)
    house.ask(PAGE, agent=BROWSERS[0])
    house.clock.now += HOUR
    house.ask(PAGE)
    assert house.counted() == (4, 0)


def test_a_download_counts_once_whatever_its_format(house: House) -> None:
    house.ask(f"{PAGE}.md")
    house.ask(f"{PAGE}.opml")
    house.ask(f"{PAGE}/original", "192.0.2.2")
    house.ask(f"{PAGE}.mm", "192.0.2.3", Sec_Fetch_Dest="empty")
    assert house.counted() == (0, 3)


def test_a_revalidated_page_counts_as_a_view(house: House) -> None:
    response = house.service.request(
        "GET", PAGE, signed=False
    )  # without a User-Agent, so it is not counted
    house.ask(PAGE, If_None_Match=response.headers["etag"], status=304)
    assert house.counted() == (1, 0)


@pytest.mark.slow
def test_what_is_not_a_visit(house: House) -> None:
    house.ask(PAGE, method="HEAD")
    house.ask(PAGE, method="OPTIONS", status=204)
    house.ask("/mindmaps/Garden01", status=308)
    house.ask("/mindmaps/Garden01/other", status=308)
    house.ask("/mindmaps/Garden99/nothing", status=404)
    house.ask(f"{PAGE}?embed=1")
    house.ask(PAGE, Range="bytes=0-10")
    house.ask(PAGE, Sec_Purpose="prefetch")
    house.ask(PAGE, DNT="1")
    house.ask(PAGE, agent="curl/8.5.0")
    house.ask(f"{PAGE}.md", agent="")
    house.ask("/")
    house.ask("/site/maps/Garden01.json")
    house.ask("/thumbnails/Garden01.svg?w=640")
    assert house.counted() == (0, 0)


def test_the_api_counts_nothing(house: House) -> None:
    for path in ("/maps", "/maps/Garden01", "/maps/Garden01/outline.md", "/search?query=garden"):
        house.ask(path, signed="yes")
    assert house.counted() == (0, 0)


def test_forwarded_addresses_count_from_trusted_proxies_only(shelf: Shelf) -> None:
    house = House(shelf, trusted_proxies=())
    with house.service:
        house.ask(PAGE, "192.0.2.1")
        house.ask(PAGE, "192.0.2.2")
        assert house.counted() == (1, 0)


@pytest.mark.slow
def test_counting_can_be_switched_off(shelf: Shelf) -> None:
    house = House(shelf, counting=False)
    with house.service:
        house.ask(PAGE)
        house.ask(f"{PAGE}.md")
        assert house.counted() == (0, 0)


def test_pages_work_without_a_store_to_count_in(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.ask(PAGE)  # cached from now on
    store = house.service.application.application.context.store.get()
    store.close()
    for n in range(9):
        house.ask(PAGE, f"192.0.2.{n}")
    assert house.counted() == (0, 0)
    assert "visits are waiting to be counted" in caplog.text
    assert "9 visits were not counted" in caplog.text
    assert "192.0.2" not in caplog.text


def test_counts_show_in_the_api_once_they_are_settled(house: House) -> None:
    before = house.service.get("/maps/Garden01").json()
    house.ask(PAGE)
    house.ask(f"{PAGE}.md")
    house.service.run(house.service.application.application.context.visits.write())
    assert house.shelf.store.apply_visit_counts(LATER) == 1
    house.shelf.publish()
    house.service.wait_until(
        lambda: house.service.get("/maps/Garden01").json()["Views"] == str(VIEWS + 1)
    )
    after = house.service.get("/maps/Garden01").json()
    assert after == {**before, "Views": str(VIEWS + 1), "Downloads": str(DOWNLOADS + 1)}
    found = house.service.get("/maps?query=garden&order_by=views").json()
    assert found == [after]


@pytest.mark.slow
def test_only_signed_in_visits_count_in_a_private_catalogue(shelf: Shelf) -> None:
    house = House(shelf, private=True)
    with house.service:
        cookie = f"__Host-mapshelf_session={shelf.session()}"
        house.ask(PAGE, status=303)
        house.ask(PAGE, Cookie=cookie)
        house.ask(PAGE, Cookie=cookie)
        house.ask(f"{PAGE}.md", Cookie=cookie)
        house.ask(f"{PAGE}.md", status=303)
        assert house.counted() == (1, 1)
