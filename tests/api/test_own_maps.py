"""``GET /users/me/maps`` lists all maps of the user, published or not."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from mapshelf.api.unpublished_maps import MOST_SEARCHED, MOST_TITLES
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.formats.outline_size import LARGEST, MOST_DECODED
from mapshelf.model import MapDetails, MapDraft, Outline, Topic, Visibility, sheets_of
from mapshelf.query import ORDERS
from mapshelf.store.sqlite.database import Database
from tests.api import openapi
from tests.api.publishing import OTHER, OWNER, People
from tests.harness import Service, outline_of, shelf_with

WORDS: Final = ("alpha", "Beta", "gamma", "Älpha", "beta", "delta walking", "walk")
MANY: Final = 40
VISIBILITIES: Final = (Visibility.PUBLISHED, Visibility.UNLISTED, Visibility.PRIVATE)


def drafts() -> list[MapDraft]:
    chance = random.Random(7)
    return [
        MapDraft(
            title=chance.choice(WORDS),
            owner=OWNER if number % 4 else OTHER,
            views=chance.randrange(4),
            downloads=chance.randrange(4),
            thumbs_up=chance.randrange(3),
            date_added=1_700_000_000_000 + chance.randrange(5),
            category=chance.choice(("Science", "Business")),
            template=chance.random() < 0.3,
            outline=outline_of("root", chance.choice(WORDS), language="en"),
        )
        for number in range(MANY)
    ]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with (
        shelf_with(tmp_path_factory.mktemp("own"), *drafts()) as shelf,
        Service(shelf.settings, "") as service,
    ):
        yield People(shelf, service)


def publish(people: People, *visibilities: Visibility) -> None:
    """Give each map one of these visibilities at random, and wait until lists show it."""
    store, chance = people.shelf.store, random.Random(3)
    for one in store.maps(0, MANY):
        store.edit_map(one.file_id, MapDetails(visibility=chance.choice(visibilities)))
    people.shelf.publish()
    listed = sum(one.visibility is Visibility.PUBLISHED for one in store.maps(0, MANY))
    people.service.wait_until(
        lambda: int(people.get(OWNER, "/maps?limit=0").headers["x-total-count"]) == listed
    )


def lists(people: People, path: str, more: str = "") -> dict[str, tuple[Any, ...]]:
    """Return the pages of a list for many parameters, each with its headers."""
    found: dict[str, tuple[Any, ...]] = {}
    filters = (
        "",
        "&category=21",
        "&only_templates=1",
        "&query=walks",
        "&query=bet",
        "&query=-walk",
    )
    for order in ORDERS:
        for given in filters:
            for paging in (
                "limit=50",
                "limit=3",
                "limit=4&offset=5",
                "limit=5&offset=28",
                "limit=0",
            ):
                parameters = f"order_by={order}&{given}&{paging}"
                answer = people.get(OWNER, f"{path}?{parameters}{more}")
                assert answer.status_code == 200, answer.text
                found[parameters] = (answer.json(), answer.headers["x-total-count"])
    return found


@pytest.mark.slow
def test_lists_are_the_same_as_if_all_maps_were_published(people: People) -> None:
    """The oracle is the list from the snapshot after all of the maps are published."""
    store = people.shelf.store
    publish(people, Visibility.PUBLISHED)
    expected = lists(people, "/maps", f"&owner={OWNER}")
    assert lists(people, "/users/me/maps") == expected
    publish(people, *VISIBILITIES)
    assert lists(people, "/users/me/maps") == expected
    counts = {}
    for visibility in VISIBILITIES:
        answer = people.get(OWNER, f"/users/me/maps?limit=2&visibility={visibility}")
        openapi.check(answer)
        counts[visibility] = int(answer.headers["x-total-count"])
        own = {one.id for one in store.maps(0, MANY) if one.visibility is visibility}
        assert {one["ID"] for one in answer.json()} <= own
        assert f"visibility={visibility}" in answer.headers["link"]
    assert sum(counts.values()) == MANY * 3 // 4
    assert min(counts.values()) > 0
    for page in people.get(OTHER, "/users/me/maps?limit=50").json():
        assert page["Owner"] == OTHER


def test_order_by_relevance_puts_unranked_maps_last(people: People) -> None:
    publish(people, *VISIBILITIES)
    found: list[str] = []
    for offset in range(0, 60, 7):
        answer = people.get(OWNER, f"/users/me/maps?query=beta&limit=7&offset={offset}")
        openapi.check(answer)
        found += [one["ID"] for one in answer.json()]
        total = int(answer.headers["x-total-count"])
    assert len(found) == len(set(found)) == total
    kept = {one.id: one for one in people.shelf.store.maps(0, MANY)}
    hidden = [kept[one].visibility is not Visibility.PUBLISHED for one in found]
    assert hidden == sorted(hidden)
    assert any(hidden)
    assert not all(hidden)


@pytest.mark.slow
def test_searches_of_unpublished_maps_are_limited_to_the_newest(people: People) -> None:
    """Many large unpublished maps slow down only their owner."""
    first = private(people, "Ocelots", "quokka")
    assert found(people, "quokka") == found(people, "ocelots") == {first}
    large = private(people, "Large", *["again " * 1000] * (MOST_SEARCHED // 6000 + 1))
    newest = private(people, "Small", "quokka")
    assert found(people, "quokka") == {newest}
    assert found(people, "ocelots") == {first}
    assert found(people, "again") == {large}


@pytest.mark.parametrize("size", [MOST_DECODED, LARGEST])
def test_a_map_that_is_too_large_is_found_by_its_title(people: People, size: int) -> None:
    """Decoding it would delay everybody. Earlier versions stored outlines of any size."""
    root = Topic("potoroo", children=[Topic("x" * (1 << 20))] * (size >> 20))
    stored = encode_outline(Outline(sheets_of((root,))), 2 * LARGEST)
    huge = replace(draft("Bilby", description="bandicoot"), outline=stored)
    (public_id,) = people.shelf.put(huge)
    try:
        assert found(people, "bilby") == {public_id}
        assert found(people, "potoroo") == found(people, "bandicoot") == set()
    finally:
        people.shelf.store.delete_maps([public_id])


@pytest.mark.slow
def test_descriptions_and_titles_are_limited_too(people: People) -> None:
    """They need no file, so anybody can have any number of them."""
    first = private(people, f"Margay{' cat' * 500}", description="numbat")
    second = private(people, "Caracal", description="numbat")
    assert found(people, "numbat") == {first, second}
    long = private(people, "t" * (MOST_TITLES - 1000))
    fillers = [
        draft(f"Filler {number}", description="again " * 1500)
        for number in range(MOST_SEARCHED // 9000 + 1)
    ]
    filled = people.shelf.put(*fillers)
    newest = private(people, "Small", description="numbat")
    assert found(people, "numbat") == {newest}
    assert found(people, "caracal") == {second}
    assert found(people, "margay") == set()
    people.shelf.store.delete_maps([*filled, long])
    assert found(people, "margay") == {first}


@pytest.mark.slow
def test_a_search_of_many_maps_asks_the_store_a_few_times(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others wait meanwhile: statements for each map would take seconds for thousands."""
    many = people.shelf.put(*(draft(f"Heron {number}", "axolotl") for number in range(1200)))
    asked: list[str] = []
    ask = Database.rows

    def counted(database: Database, sql: str, *parameters: Any) -> list[Any]:
        asked.append(sql)
        return ask(database, sql, *parameters)

    try:
        monkeypatch.setattr(Database, "rows", counted)
        for query in ("query=axolotl", "language=", "query=axolotl&order_by=edited&folder=x"):
            asked.clear()
            answer = people.get(OWNER, f"/users/me/maps?{query}&visibility=private")
            assert int(answer.headers["x-total-count"]) >= (0 if "folder" in query else 1200)
            assert len(asked) < 40, query
        monkeypatch.setattr("mapshelf.api.own_maps.MAPS_AT_ONCE", 7)
        assert found(people, "axolotl") <= set(many)
        answer = people.get(OWNER, "/users/me/maps?query=axolotl&visibility=private")
        assert answer.headers["x-total-count"] == "1200"
    finally:
        people.shelf.store.delete_maps(many)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["", "date", "views", "downloads"])
def test_a_list_of_many_maps_reads_only_those_on_the_page(
    people: People, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    if not people.shelf.settings.database.startswith("sqlite:"):
        pytest.skip("it counts what is read from SQLite")
    many = people.shelf.put(*(draft(f"Ibis {number}") for number in range(60)))
    read: list[Any] = []
    ask = Database.rows

    def counted(database: Database, sql: str, *parameters: Any) -> list[Any]:
        rows = ask(database, sql, *parameters)
        if "m.description" in sql:
            read.extend(rows)
        return rows

    try:
        monkeypatch.setattr(Database, "rows", counted)
        path = f"/users/me/maps?visibility=private&order_by={order}"
        pages = [people.get(OWNER, f"{path}&limit=7&offset={start}") for start in (0, 7)]
        assert len(read) == 14
        both = people.get(OWNER, f"{path}&limit=14").json()
        assert [one["ID"] for page in pages for one in page.json()] == [one["ID"] for one in both]
        assert all(int(page.headers["x-total-count"]) >= 60 for page in pages)
    finally:
        people.shelf.store.delete_maps(many)


def test_no_texts_are_read_for_longer_than_a_search_may_take(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = people.shelf.put(*(draft(f"Egret {number}", "z" * 2000) for number in range(20)))
    try:
        path = "/users/me/maps?size=small&visibility=private"
        before = int(people.get(OWNER, path).headers["x-total-count"])
        assert before >= len(many)
        monkeypatch.setattr("mapshelf.api.unpublished_maps.LONGEST_SEARCH", 0.0)
        assert int(people.get(OWNER, path).headers["x-total-count"]) < 10
        assert found(people, "egret") == set(many)
    finally:
        people.shelf.store.delete_maps(many)


def draft(title: str, *topics: str, description: str = "") -> MapDraft:
    return MapDraft(
        title=title,
        description=description,
        owner=OWNER,
        visibility=Visibility.PRIVATE,
        outline=outline_of("root", *topics),
    )


def private(people: People, title: str, *topics: str, description: str = "") -> str:
    """Add a private map, and return its ID."""
    return people.shelf.put(draft(title, *topics, description=description))[0]


def found(people: People, query: str) -> set[str]:
    """Return the IDs of the user's maps that match."""
    answer = people.get(OWNER, f"/users/me/maps?limit=50&query={query}")
    return {one["ID"] for one in answer.json()}


@pytest.mark.parametrize("parameters", ["limit=51", "visibility=removed", "visibility=x"])
def test_wrong_parameters_are_refused(people: People, parameters: str) -> None:
    answer = people.get(OWNER, f"/users/me/maps?{parameters}")
    openapi.check(answer)
    assert answer.status_code == 400
