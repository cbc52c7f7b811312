"""Duplicate maps ("twins") on the page of a map, in lists, and on the administrators' page."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from time import thread_time
from typing import cast

import httpx
import pytest

from mapshelf.model import MapDraft, Role
from mapshelf.query import MapQuery
from mapshelf.search.highlight import Highlighter
from mapshelf.site import site_routes
from mapshelf.site.addresses import Addresses
from mapshelf.site.shared_topics import LONGEST_SEARCH, shared_topics
from mapshelf.snapshot.read import Hits, Snapshot
from tests.harness import BASE_URL, READER, Service, Shelf, outline_of, serve, shelf_with

TOPICS = [f"{word} and soil" for word in ("compost", "mulch", "clay", "sand", "peat", "lime")]


def draft(public_id: str, *topics: str, **more: str) -> MapDraft:
    outline = outline_of("Garden", *topics)
    title = f"Title {public_id}"
    return MapDraft(id=public_id, title=title, outline=outline, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = (
        draft("Garden01", *TOPICS),
        draft("Garden02", *TOPICS, owner="ann"),
        draft("Garden03", *TOPICS, "one more topic"),
        draft("Kitchen1", "compost and soil", "pans and ovens", "a greenhouse with mulch"),
        MapDraft(id="Cellar01", title="Cellar", outline=outline_of("Wine cellar", "Bottles")),
        *(MapDraft(id=f"Filler{n:02}", title=f"{n}", outline=outline_of(f"{n}")) for n in range(6)),
    )
    with shelf_with(tmp_path_factory.mktemp("twins"), *drafts) as full:
        yield full


@pytest.fixture(scope="module")
def site(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf, site_routes) as running:
        yield running


def page(site: Service, path: str) -> str:
    response = site.request("GET", path, signed=False)
    assert response.status_code == 200, (path, response.text[:300])
    return unescape(response.text)


def test_the_page_of_a_map_names_its_twins_and_maps_about_the_same(site: Service) -> None:
    text = page(site, "/mindmaps/Garden01/title-garden01")
    twins = text.split('id="twins"')[1].split("</section>")[0]
    assert re.findall(r'href="/mindmaps/(\w+)/', twins) == [
        "Garden02", "Garden01", "Garden03", "Garden01",
    ]  # fmt: skip
    assert "the same topics" in twins
    assert "% of the topics" in twins
    related = text.split('id="related"')[1].split("</section>")[0]
    assert set(re.findall(r'href="/mindmaps/(\w+)/title', related)) >= {"Kitchen1"}
    assert "Garden02" not in related
    alone = page(site, "/mindmaps/Cellar01/cellar")
    assert 'id="twins"' not in alone
    assert 'id="related"' not in alone


def test_lists_fold_twins_unless_all_versions_are_requested(site: Service) -> None:
    folded = page(site, "/?order_by=alpha")
    assert folded.count('<article class="card">') == 9
    assert "3 versions" in folded
    each = page(site, "/?order_by=alpha&versions=all")
    assert each.count('<article class="card">') == 11
    assert "3 versions" not in each
    assert 'href="/?order_by=alpha&versions=all"' in folded
    assert 'href="/?order_by=alpha"' in each
    assert "3 versions" in page(site, "/?query=compost")
    assert "3 versions" not in page(site, "/site/search?query=compost&versions=all")
    assert len(site.maps(order_by="alpha").json()) == 11


def test_letters_lead_to_their_first_map_when_twins_are_folded(tmp_path: Path) -> None:
    drafts = (
        MapDraft(id=f"{title}01", title=title, outline=outline_of("Garden", *topics))
        for title, topics in (
            ("Apples", TOPICS),
            ("Apricots", TOPICS),
            ("Beans", ["a pole"]),
            ("Cress", TOPICS),
            ("Dill", ["a pot"]),
        )
    )
    with shelf_with(tmp_path, *drafts) as shelf, serve(shelf, site_routes) as site:
        text = page(site, "/?order_by=alpha")
    assert "3 versions" in text
    letters = re.findall(r'href="/\?order_by=alpha(?:#(n\d))?"[^>]*>(?:<bdi>)?([A-D])<', text)
    assert [letter for _, letter in letters] == ["A", "B", "C", "D"]
    for anchor, letter in letters:
        assert len(re.findall(f'id="{anchor or "n1"}"', text)) == 1
        there = text.partition(f'id="{anchor or "n1"}"')[2]
        assert re.findall(r'dir="auto">(\w)\w+</a>', there)[0] == letter


def test_topics_lead_to_other_maps_that_have_them(site: Service) -> None:
    text = page(site, "/mindmaps/Kitchen1/title-kitchen1/elsewhere")
    assert 'href="/?query=%22compost+and+soil%22"' in text
    assert "3 other maps" in text
    assert "pans and ovens" not in text
    assert "No other map" in page(site, "/mindmaps/Cellar01/cellar/elsewhere")


class SlowSnapshot:
    """A snapshot in which each search takes two fifths of the time limit."""

    def __init__(self) -> None:
        self.searches = 0

    def search(self, _: MapQuery, __: bytes, *, correct: bool) -> Hits:
        self.searches += 1
        began = thread_time()
        while thread_time() - began < LONGEST_SEARCH / 2.5:
            pass
        return Hits(2, [], [], Highlighter((), ()))


@pytest.mark.slow
def test_the_search_for_related_maps_has_a_time_limit() -> None:
    """A hostile map could have a hundred topics that take half a second each to search for."""
    slow = SlowSnapshot()
    texts = [f"hostile topic {number}" for number in range(20)]
    found = shared_topics(texts, cast(Snapshot, slow), Addresses(BASE_URL), own=True)
    assert slow.searches == len(found) == 3


def test_administrators_see_all_twins(site: Service, shelf: Shelf) -> None:
    shelf.store.set_role(READER, Role.ADMINISTRATOR)
    cookie = f"__Host-mapshelf_session={shelf.session(READER)}"
    response: httpx.Response = site.request(
        "GET", "/account/duplicates", headers={"Cookie": cookie}, signed=False
    )
    assert response.status_code == 200, response.text[:500]
    assert "3 versions" in response.text
    assert "Cellar01" not in response.text
    assert "/mindmaps/Garden01/title-garden01/compare/Garden02" in response.text
