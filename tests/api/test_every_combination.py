"""Every combination of order, filters, search, offset and limit gives the right maps in order.

The expected answers come from a sort and a filter written here, in the plainest way there is and
with nothing of Mapshelf's own: exact arithmetic for the rating, Python's ``in`` for the filters.
"""

import itertools
import random
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapshelf.model import MapDraft
from mapshelf.snapshot.read.text_index import BLOCK
from tests.examples import examples
from tests.harness import Service, outline_of, serve, shelf_with

Asked = dict[str, Any]

# -- what is expected ------------------------------------------------------------------------


@cache
def folded(text: str) -> str:
    """Return ``text`` without case and accents, for the letters the tests use."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(one for one in decomposed if unicodedata.category(one) != "Mn")


def wilson(up: int, down: int) -> Decimal:
    """Return the lower end of the 95 % Wilson interval, to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        z, n = Decimal("1.959963984540054"), Decimal(up + down)
        if up == 0:
            return Decimal(0)
        centre = up + z * z / 2
        margin = z * (Decimal(up) * down / n + z * z / 4).sqrt()
        return (centre - margin) / (n + z * z)


def number(value: int | None) -> int:
    assert value is not None
    return value


ORDERS: Final[dict[str, Callable[[MapDraft], Any]]] = {
    "alpha": lambda m: (folded(m.title or ""), m.title, number(m.file_id)),
    "downloads": lambda m: (-number(m.downloads), -number(m.file_id)),
    "views": lambda m: (-number(m.views), -number(m.file_id)),
    "date": lambda m: (-number(m.date_added), -number(m.file_id)),
    "rating": lambda m: (
        -wilson(number(m.thumbs_up), number(m.thumbs_down)),
        -number(m.file_id),
    ),
}

SOFTWARE_IDS: Final = {"FreeMind": 1, "XMind": 3, "VYM": 11, "": None}


def passes(found: MapDraft, asked: Asked) -> bool:
    return (
        asked.get("category") in (None, found.category_id)
        and asked.get("software") in (None, SOFTWARE_IDS[found.software or ""])
        and asked.get("owner", found.owner or "").lower() == (found.owner or "").lower()
        and (asked.get("only_templates") != "true" or found.template is True)
        and all(matches(found, word, last) for word, last in words_of(asked.get("query", "")))
    )


def words_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word of a search text, and whether it is the last."""
    words = text.split()
    return ((word, place == len(words) - 1) for place, word in enumerate(words))


def matches(found: MapDraft, word: str, last: bool) -> bool:
    fields = (found.title, found.description, found.owner, found.category)
    held = folded(" ".join(field or "" for field in fields)).split()
    if word.startswith("-"):
        return word[1:] not in held
    return any(one.startswith(word) if last else one == word for one in held)


def expected(drafts: list[MapDraft], asked: Asked) -> tuple[int, list[int]]:
    """Return how many maps are to be found, and the File_IDs of the page."""
    kept = sorted((one for one in drafts if passes(one, asked)), key=ORDERS[asked["order_by"]])
    start = asked.get("offset", 0)
    page = kept[start : start + asked.get("limit", 20)]
    return len(kept), [number(one.file_id) for one in page]


def answered(service: Service, asked: Asked) -> tuple[int, list[int]]:
    response = service.maps(**asked)
    assert response.status_code == 200, response.text
    total = int(response.headers["X-Total-Count"])
    return total, [int(one["File_ID"]) for one in response.json()]


# -- maps and requests -----------------------------------------------------------------------

# Few values of each kind, so that maps tie and filters meet.
TITLES: Final = (
    "Apfel", "apfel", "Äpfel", "Äpfel", "ÄPFEL rot", "Straße", "STRASSE", "strasse blau", "ﬁx",
    "Fix", "ｆｉｘ", "Øre", "ore", "Zebra", "zèbre", "Ζεύς", "ζευς", "Ёлка", "елка", "æther", "",
)  # fmt: skip
# Some begin as others do, but none is an inflected form of another or a typo away from it.
WORDS: Final = ("rot", "rotkohl", "rotbuche", "blau", "apfel", "gelb")
OWNERS: Final = ("Ada", "bob", "Carol Ann")
CATEGORIES: Final = {4: "Business", 6: "Education", 900: "Eigene"}
SMALL: Final = st.integers(0, 3)
VOTES: Final = st.one_of(SMALL, st.integers(0, 10_000))


def drafts_with(file_id: int) -> st.SearchStrategy[MapDraft]:
    return st.builds(
        MapDraft,
        file_id=st.just(file_id),
        title=st.sampled_from(TITLES),
        description=st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        thumbs_up=VOTES,
        thumbs_down=VOTES,
        views=SMALL,
        downloads=SMALL | st.integers(0, 2**62),
        category_id=st.sampled_from(sorted(CATEGORIES)),
        date_added=SMALL | st.integers(-(10**12), 2 * 10**12),
        owner=st.sampled_from(OWNERS),
        software=st.sampled_from(sorted(SOFTWARE_IDS)),
        template=st.booleans(),
    ).map(named)


def named(draft: MapDraft) -> MapDraft:
    """Return ``draft`` with the name of its category."""
    fields = {name: getattr(draft, name) for name in draft.__slots__}
    return MapDraft(**{**fields, "category": CATEGORIES[number(draft.category_id)]})


CATALOGUES: Final = st.sets(st.integers(1, 10**6), max_size=40).flatmap(
    lambda ids: st.tuples(*(drafts_with(file_id) for file_id in sorted(ids))).map(list)
)
SEARCHES: Final = st.lists(
    st.sampled_from([*WORDS, "-rot", "-apfel", "ada", "ro", "straße", "business"]), max_size=3
).map(lambda words: folded(" ".join(words)))
REQUESTS: Final = st.fixed_dictionaries(
    {"order_by": st.sampled_from(sorted(ORDERS))},
    optional={
        "category": st.sampled_from([*CATEGORIES, 0]),
        "software": st.sampled_from([1, 3, 11, 2]),
        "owner": st.sampled_from([*OWNERS, "ADA", "carol"]),
        "only_templates": st.sampled_from(["true", "false"]),
        "query": SEARCHES,
        "offset": st.integers(0, 45),
        "limit": st.integers(0, 50),
    },
)


# -- the tests -------------------------------------------------------------------------------


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(CATALOGUES, st.lists(REQUESTS, min_size=20, max_size=40))
def test_any_request_to_any_catalogue(drafts: list[MapDraft], requests: list[Asked]) -> None:
    with (
        TemporaryDirectory() as folder,
        shelf_with(Path(folder), *drafts) as shelf,
        serve(shelf) as service,
    ):
        for asked in requests:
            assert answered(service, asked) == expected(drafts, asked), asked


CHOICES: Final[dict[str, list[Any]]] = {
    "order_by": sorted(ORDERS),
    "category": [None, 4, 900, 0],
    "software": [None, 1, 2],
    "owner": [None, "ADA", "carol ann", "nobody"],
    "only_templates": [None, "true", "false"],
    "query": [None, "rot", "blau -gelb", "ro"],
}


@pytest.fixture(scope="module")
def drafts() -> list[MapDraft]:
    """Three thousand maps, so that sets of ranks are kept both as numbers and as bitmaps."""
    chance = random.Random(2024)
    return [
        MapDraft(
            file_id=file_id,
            title=f"{chance.choice(TITLES)} {chance.choice(WORDS)}",
            description=" ".join(chance.choices(WORDS, k=2)),
            thumbs_up=chance.choice((0, 1, 2, chance.randrange(500))),
            thumbs_down=chance.choice((0, 1, chance.randrange(500))),
            views=chance.randrange(50),
            downloads=chance.randrange(2**40),
            category_id=category_id,
            category=CATEGORIES[category_id],
            date_added=chance.randrange(1000),
            owner=chance.choices(OWNERS, (80, 15, 5))[0],
            software=chance.choices(sorted(SOFTWARE_IDS), (5, 60, 20, 15))[0],
            template=chance.random() < 0.5,
        )
        for file_id in chance.sample(range(1, 10**6), 3000)
        for category_id in chance.choices(sorted(CATEGORIES), (70, 29, 1))
    ]


@pytest.fixture(scope="module")
def large(drafts: list[MapDraft], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service over ``drafts``."""
    folder = tmp_path_factory.mktemp("large")
    with shelf_with(folder, *drafts) as shelf, serve(shelf) as running:
        yield running


@pytest.fixture(scope="module")
def combinations(drafts: list[MapDraft]) -> list[tuple[Asked, set[int]]]:
    """Every combination of filters, with the File_IDs of the maps that pass."""
    names = [name for name in CHOICES if name != "order_by"]
    combined = itertools.product(*(CHOICES[name] for name in names))
    chosen = [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in combined
    ]
    return [(one, {number(m.file_id) for m in drafts if passes(m, one)}) for one in chosen]


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
    for chosen, passing in combinations:
        kept = [file_id for file_id in ordered if file_id in passing]
        offset, limit = chance.randrange(len(kept) + 2), chance.randrange(51)
        asked = {**chosen, "order_by": order, "offset": offset, "limit": limit}
        assert answered(large, asked) == (len(kept), kept[offset : offset + limit]), asked


# -- walking through pages -------------------------------------------------------------------


def walked(service: Service, path: str) -> list[str]:
    """Return the ids of all maps on the way from ``path`` along the links to the next page."""
    ids: list[str] = []
    for _ in range(1000):
        response = service.get(path)
        ids += [one["ID"] for one in response.json()]
        if "next" not in response.links:
            assert len(ids) == int(response.headers["X-Total-Count"])
            return ids
        path = response.links["next"]["url"]
    raise AssertionError("the links go on without end")


@pytest.mark.parametrize("order", [*sorted(ORDERS), None])
@pytest.mark.parametrize("limit", [7, 50])
@pytest.mark.parametrize("search", ["", "query=rot&", "owner=bob&"])
def test_walking_meets_every_map_once(
    large: Service, drafts: list[MapDraft], order: str | None, limit: int, search: str
) -> None:
    chosen = dict([search.rstrip("&").split("=")]) if search else {}
    ordering = f"&order_by={order}" if order else ""
    ids = walked(large, f"/maps?{search}limit={limit}{ordering}")
    assert len(ids) == len(set(ids)) == sum(passes(one, chosen) for one in drafts)


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_walking_by_relevance_meets_ties_newest_first(tmp_path: Path, limit: int) -> None:
    """Many maps of equal relevance, in three groups; ties are put in order block by block."""
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
        ), "a title is met in several places"
        for start in range(0, 240, BLOCK):
            block = met[start : start + BLOCK]
            for _, group in itertools.groupby(block, lambda one: one[0]):
                numbers = [file_id for _, file_id in group]
                assert numbers == sorted(numbers, reverse=True)
