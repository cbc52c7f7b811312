"""Every combination of order, filters, search, offset and limit returns the right maps in order.

The expected results come from ``oracle.py``, which uses no code of Mapshelf. ``/search`` returns
the same list as ``/maps``, ``/facets`` counts it, and ``/suggest`` completes titles from it.
"""

import itertools
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapshelf import query
from mapshelf.model import MapDraft
from tests.api.oracle import (
    CATALOGUES,
    ORDERS,
    REQUESTS,
    Asked,
    answered,
    completed,
    counted,
    expected,
    faceted,
    many_drafts,
    number,
    passes,
    searched,
    suggested,
)
from tests.examples import examples, is_full, share
from tests.harness import Service, outline_of, serve, shelf_with

pytestmark = pytest.mark.slow

# -- the tests -------------------------------------------------------------------------------


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(CATALOGUES, st.lists(REQUESTS, min_size=20, max_size=40))
def test_random_requests_to_random_catalogues(
    drafts: list[MapDraft], requests: list[Asked]
) -> None:
    with (
        TemporaryDirectory() as folder,
        shelf_with(Path(folder), *drafts) as shelf,
        serve(shelf) as service,
    ):
        for asked in requests:
            wanted = expected(drafts, asked)
            assert answered(service, asked) == wanted, asked
            assert searched(service, asked) == wanted, asked
            assert faceted(service, asked) == (wanted[0], counted(drafts, asked)), asked
            assert suggested(service, asked) == completed(drafts, asked), asked


OF_SEARCHES: Final = 0.2
"""Share of the combinations that ``/search`` is asked, too: it reads the topics of each map."""

CHOICES: Final[dict[str, list[Any]]] = {
    "order_by": sorted(ORDERS),
    "category": [None, 4, 900, 0],
    "software": [None, 1, 2],
    "owner": [None, "ADA", "carol ann", "nobody"],
    "only_templates": [None, "true", "false"],
    "query": [None, "rot", "blau -gelb", "ro", "-tag:physik title:ro"],
}

FURTHER: Final[dict[str, list[Any]]] = {
    "folder": ["Kurs", "Kurs/Woche 1", "kurs", "Zimmer", "nowhere"],
    "tag": ["physik", "umwelt", "none"],
    "language": ["de", "xx"],
    "year": [1970, 1971],
    "size": ["small", "large"],
    "with_notes": ["true"],
    "with_tasks": ["true"],
    "title_only": ["true"],
}
"""The values of the other filters, of which not every combination is tried."""


def test_every_filter_and_order_is_tried() -> None:
    assert {*CHOICES, *FURTHER, "limit", "offset"} == query.PARAMETERS
    assert {*ORDERS} == {*query.ORDERS}


@pytest.fixture(scope="module")
def drafts() -> list[MapDraft]:
    """Three thousand maps: enough for sets of ranks to be stored as bitmaps as well as numbers."""
    return many_drafts()


@pytest.fixture(scope="module")
def large(drafts: list[MapDraft], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the maps of ``drafts``."""
    folder = tmp_path_factory.mktemp("large")
    with shelf_with(folder, *drafts) as shelf, serve(shelf) as running:
        yield running


@pytest.fixture(scope="module")
def few(drafts: list[MapDraft], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the first ``FEW`` of ``drafts``."""
    folder = tmp_path_factory.mktemp("few")
    with shelf_with(folder, *drafts[:FEW]) as shelf, serve(shelf) as running:
        yield running


@pytest.fixture(scope="module")
def combinations(drafts: list[MapDraft]) -> list[tuple[Asked, set[int]]]:
    """Every combination of filters, with the File_IDs of the maps that pass.

    A map passes several filters if it passes each, so each is tried on every map once.
    """
    names = [name for name in CHOICES if name != "order_by"]
    combined = itertools.product(*(CHOICES[name] for name in names))
    chosen = [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in combined
    ]
    chance = random.Random(7)
    further = [{name: value} for name, values in FURTHER.items() for value in values]
    pairs = [one | other for one, other in itertools.combinations(further, 2)]
    chosen += further + pairs + [chance.choice(chosen) | chance.choice(pairs) for _ in range(200)]
    everything = {number(m.file_id) for m in drafts}

    @cache
    def passing(name: str, value: Any) -> set[int]:
        return {number(m.file_id) for m in drafts if passes(m, {name: value})}

    return [
        (one, everything.intersection(*(passing(*each) for each in one.items()))) for one in chosen
    ]


@pytest.mark.slow
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_every_combination_of_filters(
    large: Service,
    drafts: list[MapDraft],
    combinations: list[tuple[Asked, set[int]]],
    order: str,
) -> None:
    chance = random.Random(order)
    ordered = [number(one.file_id) for one in sorted(drafts, key=ORDERS[order])]
    for chosen, passing in share(combinations, sorted(ORDERS).index(order)):
        kept = [file_id for file_id in ordered if file_id in passing]
        offset, limit = chance.randrange(len(kept) + 2), chance.randrange(51)
        asked = {**chosen, "order_by": order, "offset": offset, "limit": limit}
        assert answered(large, asked) == (len(kept), kept[offset : offset + limit]), asked
        if chance.random() < OF_SEARCHES:
            assert searched(large, asked) == (len(kept), kept[offset : offset + limit]), asked


def test_facets_of_combinations_of_filters(
    large: Service, drafts: list[MapDraft], combinations: list[tuple[Asked, set[int]]]
) -> None:
    for chosen, passing in random.Random(3).sample(combinations, 150):
        kept = [one for one in drafts if number(one.file_id) in passing]
        wanted = counted(kept, {"folder": chosen.get("folder", "")})
        assert faceted(large, chosen) == (len(kept), wanted), chosen


# -- following links to the next page --------------------------------------------------------


def walked(service: Service, path: str) -> list[str]:
    """Return the ids of all maps that you meet from ``path`` by following ``rel="next"`` links."""
    ids: list[str] = []
    for _ in range(1000):
        response = service.get(path)
        ids += [one["ID"] for one in response.json()]
        if "next" not in response.links:
            assert len(ids) == int(response.headers["X-Total-Count"])
            return ids
        path = response.links["next"]["url"]
    raise AssertionError("the links go on without end")


FEW: Final = 400
"""Maps through which one can walk in small steps."""


LIMITS: Final = (7, 50)
WALKS: Final = [
    (order, search, limit)
    for place, (order, search) in enumerate(
        itertools.product((*sorted(ORDERS), None), ("", "query=rot&", "owner=bob&"))
    )
    for limit in (LIMITS if is_full() else (LIMITS[place % 2],))
]
"""Every pair of an order, a search and a limit; with ``full``, every three."""


@pytest.mark.parametrize(("order", "search", "limit"), WALKS)
def test_following_next_links_returns_every_map_once(
    request: pytest.FixtureRequest,
    drafts: list[MapDraft],
    order: str | None,
    search: str,
    limit: int,
) -> None:
    small = limit < 50
    service = request.getfixturevalue("few" if small else "large")
    chosen = dict([search.rstrip("&").split("=")]) if search else {}
    ordering = f"&order_by={order}" if order else ""
    ids = walked(service, f"/maps?{search}limit={limit}{ordering}")
    there = drafts[:FEW] if small else drafts
    assert len(ids) == len(set(ids)) == sum(passes(one, chosen) for one in there) > 0


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_next_links_by_relevance_return_ties_newest_first(tmp_path: Path, limit: int) -> None:
    """Many maps of equal relevance, in three groups, each in order."""
    topics = outline_of("river", "lake river", "delta")
    kinds = (
        MapDraft(title="river lake", description="a river, a lake", outline=topics),
        MapDraft(title="river", description="of the lake", owner="lake"),
        MapDraft(title="other", description="other", outline=topics),
    )
    drafts = [kinds[n % 3] for n in range(240)]
    with shelf_with(tmp_path, *drafts) as shelf, serve(shelf) as service:
        ids = walked(service, f"/maps?query=river+lake&limit={limit}")
        assert len(ids) == len(set(ids)) == 240
        titles = {one.id: (one.title, one.file_id) for one in shelf.store.maps(0, 1000)}
        met = [titles[public_id] for public_id in ids]
        assert [len(list(group)) for _, group in itertools.groupby(met, lambda one: one[0])] == (
            [80, 80, 80]
        ), "maps with the same title are not together"
        for _, group in itertools.groupby(met, lambda one: one[0]):
            numbers = [file_id for _, file_id in group]
            assert numbers == sorted(numbers, reverse=True)
