"""A search for topics that takes long goes on in another queue, and delays only others like it."""

from collections.abc import Iterator
from functools import partial

import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Topic, sheets_of
from mapshelf.search import deadline, snippets
from mapshelf.search.highlight import Highlighter
from mapshelf.search.query_parser import parse_query_text
from mapshelf.search.snippets import API_BUDGET, QUICK_SECONDS, SnippetFinder
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, full_queue, serve, shelf_with

MAPS = 30
LONG_SEARCHES = 17
"""How many searches the queue holds: a running one, and those that wait."""

SEARCHES = (
    "/search?query=tea",
    "/search?query=tea&offset=24&limit=3",
    "/?query=tea",
    "/site/search?query=tea",
)


def tea(number: int) -> MapDraft:
    topics = [Topic(f"green tea {number}.{topic}", note="Tea is hot.") for topic in range(9)]
    outline = Outline(sheets_of([Topic(f"Drinks {number}", children=topics)]))
    return MapDraft(title=f"Drinks {number}", outline=encode_outline(outline))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("long"), *map(tea, range(MAPS))) as shelf:
        yield shelf


@pytest.fixture
def bodies(shelf: Shelf) -> dict[str, bytes]:
    """The responses to searches that are not interrupted."""
    with serve(shelf, site_routes) as service:
        return {path: service.get(path).content for path in SEARCHES}


@pytest.fixture
def interrupted(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service in which all searches for topics take too long."""
    monkeypatch.setattr(snippets, "QUICK_SECONDS", 0.0)
    with serve(shelf, site_routes) as service:
        yield service


def test_interrupted_searches_find_the_same(bodies: dict[str, bytes], interrupted: Service) -> None:
    for path, body in bodies.items():
        assert b"green <mark>tea</mark>" in body.replace(b"\\u003c", b"<")
        response = interrupted.get(path)
        assert (response.status_code, response.content) == (200, body)


def test_they_wait_for_others_like_them(interrupted: Service) -> None:
    with full_queue(interrupted, "long_searches", LONG_SEARCHES):
        for path in ("/search?query=tea", "/?query=tea"):
            assert interrupted.get(path).status_code == 503


def test_no_other_search_waits_for_them(shelf: Shelf) -> None:
    with serve(shelf, site_routes) as service, full_queue(service, "long_searches", LONG_SEARCHES):
        for path in (*SEARCHES, "/", "/suggest?query=gre", "/maps?query=tea"):
            assert service.get(path).status_code == 200


def test_maps_that_have_been_searched_are_not_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor are their topics counted twice: the limits are for the whole response."""
    now = 0.0
    monkeypatch.setattr(deadline, "thread_time", lambda: now)
    budget = API_BUDGET._replace(topics_per_answer=25)  # each map has ten topics
    finder = SnippetFinder(Highlighter(parse_query_text("tea"), ["en"]), budget)
    loaded: list[int] = []

    def load(number: int) -> bytes | None:
        nonlocal now
        now += 0.6 * QUICK_SECONDS
        loaded.append(number)
        return tea(number).outline

    def found() -> list[int]:
        """Return how many topics of each map are found."""
        maps = range(4)
        return [len(finder.find(one, "Drinks", "en", partial(load, one))) for one in maps]

    # The time is over when the second map has been searched, which is not in vain.
    assert found() == [3, 3, 0, 0]
    assert finder.is_interrupted
    finder.resume()
    assert found() == [3, 3, 3, 0]
    assert not finder.is_interrupted
    assert loaded == [0, 1, 2]
