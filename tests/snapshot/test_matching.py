"""For every search, all orders find the same maps, and maps are found by their own words.

Searches in other orders than relevance use another, faster algorithm. These tests check that both
agree, with texts for which they once differed.
"""

import random
from collections.abc import Iterator
from typing import Final

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mapshelf.formats.outline_codec import outline_passages
from mapshelf.model import MapDraft
from mapshelf.query import MAXIMUM_LIMIT, ORDERS, MapQuery
from mapshelf.search.map_words import WordFinder
from mapshelf.search.matching import UnindexedMaps
from mapshelf.search.query_parser import parse_query_text
from mapshelf.snapshot.read import Snapshot
from tests.examples import examples
from tests.harness import outline_of
from tests.snapshot.world import ALL, BASE, World, page, world_in

WORDS: Final = (
    *("plan", "plans", "planning", "Planung", "Planungen", "projects", "Project", "progetto"),
    *(
        "cheval",
        "chevaux",
        "études",
        "etude",
        "házak",
        "ház",
        "Häuser",
        "haus",
        "straße",
        "STRASSE",
    ),
    *("MindMap", "mind", "map", "XMLFile2", "x2", "FooAß", "e-mail", "email", "a.b.c", "it's"),
    *("file_name.mm", "ann@example.org", "rock'n'roll", "2024", "z", "Ab" * 40, "y" * 70),
    *("ǯʒǯ", "Ǯ2ʒ", "ıI", "İstanbul", "ẞ", "Σίσυφος", "σισυφοσ", "планы", "план", "كتاب", "الكتاب"),
    *(
        "東京",
        "東京都",
        "京",
        "管理ツール",
        "한국어",
        "지도",
        "แผนที่ความคิด",
        "हिन्दी",
        "e\u0301t",
        "ﬁn",
    ),
)
LANGUAGES: Final = ("en", "de", "fr", "it", "hu", "")
MAPS: Final = 120

QUERIES: Final = st.lists(
    st.builds(
        lambda word, length, form: form.format(word[:length]),
        st.sampled_from(WORDS),
        st.integers(1, 80),
        st.sampled_from(
            [
                "{}",
                "{}",
                "{}",
                "title:{}",
                "-title:{}",
                '"{}"',
                "-{}",
                '-"{}"',
                "{}x",
                '"{} ',
                "({})",
            ]
        ),
    ),
    min_size=1,
    max_size=3,
).map(" ".join)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    chance = random.Random(20_261_122)

    def some(most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, most)))

    with world_in(tmp_path_factory.mktemp("matching")) as world:
        for _ in range(3):
            world.put(
                *(
                    MapDraft(
                        title=some(3),
                        description=some(4) if chance.random() < 0.3 else "",
                        outline=outline_of(
                            some(2), some(6), some(6), language=chance.choice(LANGUAGES)
                        ),
                        views=chance.randint(0, 3),
                        thumbs_up=chance.randint(0, 2),
                        date_added=chance.randint(0, 3),
                    )
                    for _ in range(MAPS // 3)
                )
            )
            world.published()
        yield world


@pytest.fixture(scope="module")
def snapshot(filled: World) -> Snapshot:
    return filled.snapshot()


@pytest.fixture(scope="module")
def unindexed(filled: World) -> tuple[list[str], UnindexedMaps]:
    """The same maps without an index, and their ids."""
    finder, maps = WordFinder(), filled.maps()
    outlines = [filled.store.outline(one.file_id) for one in maps]
    said = [
        finder.words_of(one, "", outline_passages(outline))
        for one, outline in zip(maps, outlines, strict=True)
        if outline
    ]
    return [one.id for one in maps], UnindexedMaps(said)


def ids(snapshot: Snapshot, text: str, order: str | None, **paging: int) -> list[str]:
    body = page(snapshot, text=text, order=order, **paging).body
    return [one["ID"] for one in orjson.loads(body)]


@pytest.mark.slow
@given(text=QUERIES | st.text(max_size=12))
@example(text="ǯʒǯ plan")
@example(text="aß")
def test_every_order_finds_what_relevance_finds(snapshot: Snapshot, text: str) -> None:
    best = page(snapshot, text=text, order=None)
    relevant = ids(snapshot, text, None)
    assert best.total == len(relevant) == page(snapshot, text=text, order=None, limit=0).total
    for order in ORDERS:
        whole = ids(snapshot, text, order)
        assert sorted(whole) == sorted(relevant), order
        assert page(snapshot, text=text, order=order).corrected == best.corrected, order
        first = ids(snapshot, text, order, limit=MAXIMUM_LIMIT)
        next_ones = ids(snapshot, text, order, limit=MAXIMUM_LIMIT, offset=MAXIMUM_LIMIT)
        assert first + next_ones == whole[: 2 * MAXIMUM_LIMIT], order


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(text=(QUERIES | st.text(max_size=12)).map(str.strip).filter(bool))
@example(text="-plan")
@example(text="mindmap")
@example(text='"mind"')
@example(text="e-ma")
@example(text="mind map x")
@example(text="( )")
def test_maps_without_an_index_are_found_the_same_way(
    snapshot: Snapshot, unindexed: tuple[list[str], UnindexedMaps], text: str
) -> None:
    hits = snapshot.search(MapQuery(text=text, limit=ALL), BASE, correct=False)
    indexed = {orjson.loads(record.body)["ID"] for record in hits.records}
    known, maps = unindexed
    assert {known[place] for place in maps.matching(parse_query_text(text))} == indexed


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("form", ["{}", '"{}"', "{} {}", '-"{}"'])
def test_maps_are_found_by_their_own_words(snapshot: Snapshot, word: str, form: str) -> None:
    text = form.format(word, word)
    said = {one["ID"] for one in orjson.loads(page(snapshot).body) if word in one["Title"].split()}
    assert said, "the word must occur in a title"
    for order in (None, "views"):
        found = set(ids(snapshot, text, order))
        assert not (found & said if form.startswith("-") else said - found), order
