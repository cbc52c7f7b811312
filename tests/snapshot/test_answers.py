"""Results from a snapshot: pages, searches and URLs, also of an empty catalogue."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import LARGEST_COUNT, MAP_KEYS, Map, MapDraft, Named
from mapshelf.query import MAXIMUM_OFFSET, NO_ID, ORDERS, UNKNOWN_ID, MapQuery, owner_key
from mapshelf.query.rating import rating
from mapshelf.search.query_parser import QueryTerm, parse_query_text
from mapshelf.snapshot.format.records import encode_record, record_title, slug, with_base_url
from mapshelf.snapshot.read import Page, Snapshot
from mapshelf.store.merge import References, created
from tests.snapshot.world import BASE, World, encoded, in_order, page, prove_lists, titles, world_in
from tests.store.drafts import DRAFTS, outline

EMPTY = Page(0, b"[]")


# -- lists ------------------------------------------------------------------------------------


def test_an_empty_catalogue(world: World) -> None:
    snapshot = world.published()
    assert not world.builder.advance()
    assert len(snapshot) == 0
    for order in ORDERS:
        assert page(snapshot, order=order) == EMPTY
        assert page(snapshot, order=order, filters=(("category", 1),)) == EMPTY
        assert page(snapshot, order=order, text="tea") == EMPTY
    assert page(snapshot, order=None, text="tea") == EMPTY
    assert snapshot.maps_of("system") == 0
    world.put(MapDraft(title="first"))
    prove_lists(world.published(), world.listed())
    world.store.delete_maps([world.maps()[0].id])
    assert page(world.published()) == EMPTY


def test_offsets_and_limits_of_every_size(world: World) -> None:
    world.put(*(MapDraft(title=f"tea {n}", views=n // 2) for n in range(9)))
    snapshot, maps = world.published(), world.listed()
    one = (("category", 1),)
    for offset in (0, 1, 8, 9, 10, 2**31, 2**32, MAXIMUM_OFFSET):
        for limit in (0, 1, 2, 50):
            want = Page(9, encoded(in_order(maps, "views")[offset : offset + limit]))
            for query in ({}, {"filters": one}, {"text": "tea"}, {"text": "tea", "filters": one}):
                got = page(snapshot, order="views", offset=offset, limit=limit, **query)
                assert got == want, (offset, limit, query)
            found = page(snapshot, order=None, text="tea", offset=offset, limit=limit)
            assert found.total == 9
            assert len(orjson.loads(found.body)) == max(0, min(limit, 9 - offset))


def test_impossible_ids_match_no_map(world: World) -> None:
    world.put(MapDraft(title="t"))
    snapshot = world.published()
    for name in ("category", "software"):
        assert page(snapshot, filters=((name, UNKNOWN_ID),)) == EMPTY
        assert page(snapshot, filters=((name, UNKNOWN_ID),), text="t") == EMPTY
    assert page(snapshot, filters=(("software", NO_ID),)).total == 1  # no request can send it


def test_extreme_numbers_sort(world: World) -> None:
    large = (0, 1, 2**53, 2**53 + 1, LARGEST_COUNT - 1, LARGEST_COUNT)
    dates = (-62_135_596_800_000, -1, 0, 253_402_300_799_999)
    world.put(*(MapDraft(title="t", views=n, downloads=n, thumbs_up=n) for n in large))
    world.put(*(MapDraft(title="t", date_added=n, thumbs_down=n + 2**62) for n in dates))
    prove_lists(world.published(), world.listed())


def test_owners_of_any_case_and_script(world: World) -> None:
    world.put(*(MapDraft(title=name, owner=name) for name in ("Straße", "Ωmega", "İpek", "李")))
    snapshot = world.published()
    for asked, name in [("STRASSE", "Straße"), ("ωMEGA", "Ωmega"), ("李", "李"), ("İPEK", "İpek")]:
        assert titles(snapshot, filters=(("owner", owner_key(asked)),)) == [name]
        assert snapshot.maps_of(asked) == 1


# -- records ----------------------------------------------------------------------------------

AWKWARD = [
    "\x01",
    "a\x01b\x01",
    "\\u0001",
    '","Description":"',
    '"Title":',
    "\\",
    '\\"',
    "\x7f\u2028\u2029",
    "\n\r\t",
    "😀",
    "\ue000\uffff",
    "https://maps.example.org",
]


def test_unusual_texts_are_returned_unchanged(world: World) -> None:
    """Records have a control character for the base URL, and titles may contain it, too."""
    for text in AWKWARD:
        world.put(MapDraft(title=text, description=text, copyright=text, software="s" + text))
    snapshot = world.published()
    by_id = {one["ID"]: one for one in orjson.loads(page(snapshot).body)}
    for found in world.maps():
        one = by_id[found.id]
        assert tuple(one) == MAP_KEYS
        assert (one["Title"], one["Description"]) == (found.title, found.description)
        assert (one["Copyright"], one["Software"]) == (found.copyright, found.software)
        assert one["Thumbnail"] == f"https://maps.example.org/thumbnails/{found.id}.png"
        assert one["URL"].startswith(f"https://maps.example.org/mindmaps/{found.id}/")
    prove_lists(snapshot, world.listed())


def test_one_snapshot_serves_under_any_base_url(world: World) -> None:
    world.put(MapDraft(id="own", title="t", url="https://elsewhere.example/p", thumbnail=None))
    snapshot = world.published()
    for base in (b"http://a", b"https://b.example:8443/maps"):
        (one,) = orjson.loads(snapshot.page(MapQuery(), base).body)
        assert one["Thumbnail"] == base.decode() + "/thumbnails/own.png"
        assert one["URL"] == "https://elsewhere.example/p"


@given(title=st.text(st.characters(exclude_categories=["Cs"])), draft=DRAFTS)
def test_a_title_is_read_back_from_its_record(title: str, draft: MapDraft) -> None:
    record = encode_record(created_from(draft, title))
    assert record_title(record) == title
    assert tuple(orjson.loads(with_base_url(record, BASE))) == MAP_KEYS
    assert all(
        isinstance(value, str) for value in orjson.loads(with_base_url(record, b"")).values()
    )


def created_from(draft: MapDraft, title: str) -> Map:
    references = References(owner="o", category=Named(1, "c"), software=None)
    return replace(
        created(draft, file_id=1, public_id="a", now=0, references=references), title=title
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Tea & Coffee", "tea-coffee"),
        ("  --Ärger__über Öl!  ", "arger-uber-ol"),
        ("日本語 map", "日本語-map"),
        ("", "map"),
        ("!?…", "map"),
        ("\x01", "map"),
        ("x" * 100, "x" * 60),
        ("ab " * 30, ("ab-" * 20)[:59]),
        ("a/b\\c?d#e%f", "a-b-c-d-e-f"),
    ],
)
def test_slugs(title: str, expected: str) -> None:
    assert slug(title) == expected


@given(st.text())
def test_slugs_are_safe_in_an_address(title: str) -> None:
    made = slug(title)
    assert 0 < len(made) <= 60
    assert not set(made) & set(" /\\?#%\"<>&'\x01\n")
    assert quote(made.encode("utf-8", "replace")).isascii()


# -- rating -----------------------------------------------------------------------------------


def test_rating() -> None:
    assert rating(0, 0) == rating(0, 5) == 0.0
    assert rating(1, 0) == pytest.approx(0.206549, abs=1e-6)
    assert rating(8, 2) == pytest.approx(0.490162, abs=1e-6)
    assert rating(10, 0) > rating(1, 0) > rating(1, 1)
    assert rating(100, 1) > rating(3, 0)


@given(st.integers(0, LARGEST_COUNT), st.integers(0, LARGEST_COUNT))
def test_rating_is_a_share(up: int, down: int) -> None:
    value = rating(up, down)
    assert -1e-12 <= value <= 1
    assert math.isfinite(value)
    assert np.float64(value) == value


# -- search -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("  !? ", []),
        ("Tea", [QueryTerm(("tea",), prefix=True)]),
        ("tea pot", [QueryTerm(("tea",)), QueryTerm(("pot",), prefix=True)]),
        ("tea ", [QueryTerm(("tea",))]),
        ('"tea pot"', [QueryTerm(("tea", "pot"), exact=True)]),
        ('"tea pot', [QueryTerm(("tea", "pot"), exact=True)]),
        ("-tea", [QueryTerm(("tea",), excluded=True, exact=True)]),
        (
            '-"tea pot" x',
            [QueryTerm(("tea", "pot"), excluded=True, exact=True), QueryTerm(("x",), prefix=True)],
        ),
        ("a-b", [QueryTerm(("a", "b"), prefix=True, joined="ab")]),
        ("TeaPot.", [QueryTerm(("teapot",), prefix=True)]),
        ("TeaPot", [QueryTerm(("teapot",), prefix=True, subwords=("tea", "pot"))]),
        ("- tea", [QueryTerm(("tea",), prefix=True)]),
        ('""', []),
        ("日", [QueryTerm(("日",), prefix=True)]),
        ("日 x", [QueryTerm(("日",), prefix=True), QueryTerm(("x",), prefix=True)]),
        ("日本", [QueryTerm(("日本",))]),
        ("日本 x2", [QueryTerm(("日本",)), QueryTerm(("x2",), prefix=True, subwords=("x", "2"))]),
    ],
)
def test_parse_text(text: str, terms: list[QueryTerm]) -> None:
    assert [*parse_query_text(text)] == terms


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """A shared snapshot: do not change it."""
    with world_in(tmp_path_factory.mktemp("library")) as world:
        world.put(*LIBRARY)
        yield world.published()


LIBRARY = (
    MapDraft(id="1", title="Green tea", description="a drink", category="Food", owner="ann"),
    MapDraft(id="2", title="Tea green house", outline=outline("topic", "hidden treasure")),
    MapDraft(id="3", title="Teapot", description="for green tea", template=True),
    MapDraft(id="4", title="東京2020 計画", description="日本語の文章"),
    MapDraft(id="5", title="Ärger im Café", description="กาแฟ", owner="Straße"),
    MapDraft(id="6", title="한국어 지도", description="हिन्दी मानचित्र"),
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("green tea", "123"),
        ("tea green", "123"),
        ('"green tea"', "13"),
        ('"tea green"', "2"),
        ("tea -green", ""),
        ("-green", "456"),
        ("-green -arger", "46"),
        ('-"green tea"', "2456"),
        ("te", "123"),
        ("te green", ""),
        ("treas", "2"),
        ("topic treasure", "2"),
        ("green treasure", "2"),
        ("ann", "1"),
        ("food", "1"),
        ("東京2020", "4"),
        ("東京2020計画", "4"),
        ('"東京 2020"', "4"),
        ("2020", "4"),
        ("京", "4"),
        ("画", "4"),
        ("日本語", "4"),
        ("日語", ""),
        ("cafe", "5"),
        ("ARGER", "5"),
        ("strasse", "5"),
        ("กาแฟ", "5"),
        ("한국", "6"),
        ("지", "6"),
        ("हिन्दी", "6"),
        ("nothing", ""),
        ("!!", ""),
        ("*", ""),
        ("title:tea", "123"),
        ("title:nothing", ""),
        (".*", ""),
        ("te.*", "123"),
        ("(tea", "123"),
        ("a" * 500, ""),
    ],
)
def test_search(library: Snapshot, text: str, ids: str) -> None:
    for order in (None, *ORDERS):
        found = page(library, text=text, order=order)
        assert "".join(sorted(one["ID"] for one in orjson.loads(found.body))) == ids
        assert found.total == len(ids)


def test_search_goes_with_filters(library: Snapshot) -> None:
    templates, ann = ("only_templates", 1), ("owner", owner_key("ANN"))
    assert titles(library, text="tea", order=None, filters=(templates,)) == ["Teapot"]
    assert titles(library, text="tea", order="alpha", filters=(ann,)) == ["Green tea"]
    assert page(library, text="tea", order=None, filters=(ann, templates)) == EMPTY
    assert page(library, text="-green", order=None, filters=(ann,)) == EMPTY


def test_title_counts_more_than_description_more_than_topics(world: World) -> None:
    world.put(
        MapDraft(title="c", description="x", outline=outline("word other")),
        MapDraft(title="b", description="word other"),
        MapDraft(title="word other", description="x"),
    )
    assert titles(world.published(), text="word", order=None) == ["word other", "b", "c"]


TEXTS = ["tea", "tea tea", "tea pot", "green tea", "teapot"]


@pytest.mark.slow
def test_of_equal_maps_the_popular_come_first_and_then_the_newer(world: World) -> None:
    world.put(*(MapDraft(title=TEXTS[n * n % 5]) for n in range(60)))
    world.put(*(MapDraft(id=found.id, views=1) for found in world.maps()[:20:3]))
    world.published()
    # A later edit does not make a map newer.
    world.put(*(MapDraft(id=found.id, description="edited") for found in world.maps()[30::7]))
    whole = orjson.loads(page(world.published(), text="tea", order=None).body)
    assert len(whole) == 60
    for text in TEXTS:
        alike = [(int(one["Views"]), int(one["File_ID"])) for one in whole if one["Title"] == text]
        assert alike == sorted(alike, reverse=True)


def test_popularity_never_outweighs_a_better_match(world: World) -> None:
    world.put(
        MapDraft(title="tea", description="plain"),
        MapDraft(title="the story of tea", views=10**9, downloads=10**9),
        MapDraft(title="drinks", outline=outline("tea"), views=10**12, downloads=10**12),
    )
    found = titles(world.published(), text="tea", order=None)
    assert found == ["tea", "the story of tea", "drinks"]


@pytest.mark.slow
def test_pages_of_a_search_have_no_gaps_or_repetitions(world: World) -> None:
    """Most maps tie here, across the blocks in which hits are sorted."""
    world.put(*(MapDraft(title=TEXTS[n * n % 5], views=n % 7) for n in range(150)))
    snapshot = world.published()
    for order in (None, *ORDERS):
        whole = orjson.loads(page(snapshot, text="tea", order=order).body)
        assert len(whole) == len({one["ID"] for one in whole}) == 150
        for size in (1, 7, 50):
            joined = []
            for offset in range(0, 160, size):
                found = page(snapshot, text="tea", order=order, offset=offset, limit=size)
                assert found.total == 150
                joined += orjson.loads(found.body)
            assert joined == whole, (order, size)


@pytest.mark.slow
def test_a_prefix_of_very_many_words(world: World) -> None:
    """Tantivy refuses phrases whose last word is a prefix of more than 16,384 words."""
    world.put(MapDraft(title="many", outline=outline(*(f"x t{n}" for n in range(17_000)))))
    world.put(MapDraft(title="none", outline=outline("x")))
    snapshot = world.published()
    for order in (None, "alpha"):
        assert titles(snapshot, text="x-t", order=order) == ["many"]
        assert titles(snapshot, text="x-t1234", order=order) == ["many"]


@pytest.mark.parametrize("harm", [str.upper, lambda text: f"  {text}  ", lambda text: f"({text})"])
def test_case_and_punctuation_do_not_count(library: Snapshot, harm: Callable[[str], str]) -> None:
    for text in ("tea", "cafe", "東京", "hidden treasure"):
        assert titles(library, text=harm(text).strip(), order="alpha") == titles(
            library, text=text, order="alpha"
        )
