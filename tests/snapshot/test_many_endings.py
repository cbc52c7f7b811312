"""Searches for a prefix cost little, however many words that begin alike somebody uploads."""

import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

import pytest
import tantivy

from mapshelf.model import MapDraft
from mapshelf.search.alike_words import MOST_ALIKE
from mapshelf.search.query_parser import parse_query_text
from mapshelf.snapshot.format.manifest import TEXT
from mapshelf.snapshot.format.text_fields import ZONES, schema
from mapshelf.snapshot.read import endings, text_queries
from mapshelf.snapshot.read.endings import ENDINGS_IN_MEMORY, LOOKED_UP, MOST_ENDINGS, EndingFinder
from mapshelf.snapshot.read.text_queries import KEPT_ENDINGS, QueryBuilder
from tests.harness import outline_of
from tests.snapshot.world import World, world_in

ENDINGS: Final = ["".join(letters) for letters in product(ascii_lowercase, repeat=3)]
OVER: Final = MOST_ALIKE[5] + 3
"""Words that are alike, of which three are surplus."""

ALIKE: Final = [f"qqqqq{ending}" for ending in ENDINGS[:OVER]]
LAST_KEPT, SURPLUS = ALIKE[-4], ALIKE[-3]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A catalogue with a map of too many words that are alike, in several forms."""
    texts = {
        "words": " ".join(f"red {word} blue" for word in ALIKE),
        "joined": " ".join(f"qq-qqq{ending}" for ending in ENDINGS[:OVER]),
        "few": " ".join([*ALIKE[:3], SURPLUS]),
        "in a script without spaces": "東京" + "東京".join(ALIKE),
    }
    with world_in(tmp_path_factory.mktemp("crowded")) as world:
        world.put(
            *(
                MapDraft(title=title, outline=outline_of("root", text))
                for title, text in texts.items()
            )
        )
        world.published()
        yield world


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (LAST_KEPT, {"words", "joined", "in a script without spaces"}),
        (f'"{LAST_KEPT} blue red"', {"words"}),
        (f'"{LAST_KEPT}"', {"words", "joined", "in a script without spaces"}),
        # Whole words are still found, but neither in phrases nor as prefixes.
        (f"{SURPLUS} x", set()),
        (f"{SURPLUS} root", {"words", "joined", "few", "in a script without spaces"}),
        (f'"{SURPLUS}"', {"few"}),
        (SURPLUS[:-1], {"words", "joined", "few", "in a script without spaces"}),
        (f'"{SURPLUS} blue red"', set()),
        # Other words keep their positions.
        ('"blue red"', {"words"}),
        ('"red blue"', set()),
        ("qqqqq", {"words", "joined", "few", "in a script without spaces"}),
    ],
)
def test_few_words_of_a_map_that_begin_alike_are_indexed(
    crowded: World, query: str, expected: set[str]
) -> None:
    assert crowded.titles_found(query) == (expected, expected)


@pytest.mark.parametrize("field", ["branches", "forms"])
def test_the_index_has_few_words_that_begin_alike(tmp_path: Path, field: str) -> None:
    many = [f"q{ending}{letter}" for ending, letter in product(ENDINGS, "ab")]
    with world_in(tmp_path) as world:
        world.put(MapDraft(title="t", outline=outline_of("root", *ALIKE, " ".join(many))))
        world.published()
        searcher = searcher_of(world)
        for length, most in MOST_ALIKE.items():
            found = searcher.terms_with_prefix(field, "q" * length, limit=10**6)
            assert most - 3 <= len(found) <= most  # three are surplus in both respects


class CountingSearcher:
    """A searcher that counts the calls of its methods with the same arguments."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher
        self.calls: Counter[tuple[object, ...]] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._searcher, name)

        def counted(*arguments: object, **options: object) -> Any:
            self.calls[name, *arguments] += 1
            return method(*arguments, **options)

        return counted

    def looked_up(self) -> set[tuple[object, ...]]:
        return {call[1:] for call in self.calls if call[0] == "terms_with_prefix"}

    def total(self) -> int:
        return self.calls.total()


def searcher_of(world: World) -> tantivy.Searcher:
    return tantivy.Index.open(str(world.folder / TEXT)).searcher()


def asked(builder: QueryBuilder, text: str) -> None:
    builder.scored(parse_query_text(text), ())


def test_phrases_with_the_same_prefix_look_it_up_once(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        text = " ".join(f"w{number}x qqqqqend" for number in range(50))
        world.put(*(MapDraft(title="t", outline=outline_of("root", text)) for _ in range(2)))
        world.published()
        searcher = CountingSearcher(searcher_of(world))
        builder = QueryBuilder(schema(), searcher)  # type: ignore[arg-type]
        for number in range(50):
            asked(builder, f"w{number}x-qqqqq")
            asked(builder, f"w{number}x-qqqqqe")
            asked(builder, f"qqqqq{ENDINGS[number]}")
        looked_up = searcher.looked_up()
        assert looked_up <= {(field, "qqqqq") for field in (*ZONES, "forms")}
        assert all(searcher.calls["terms_with_prefix", *one] == 1 for one in looked_up)


def test_forms_are_looked_up_once_for_a_phrase_with_too_many_endings(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (endings, text_queries):
        monkeypatch.setattr(module, "MOST_ENDINGS", 8)
    searcher = CountingSearcher(searcher_of(crowded))
    builder = QueryBuilder(schema(), searcher)  # type: ignore[arg-type]
    for _ in range(3):
        asked(builder, "red-qqqqqa")
    expected = {(field, "qqqqqa"[:length]) for field in ("branches", "forms") for length in (5, 6)}
    assert searcher.looked_up() == expected
    assert all(searcher.calls["terms_with_prefix", *one] == 1 for one in expected)


@pytest.mark.parametrize(("endings_of_it", "again"), [(KEPT_ENDINGS, False), (OVER, True)])
def test_the_clauses_of_terms_with_many_endings_are_not_kept(
    tmp_path: Path, endings_of_it: int, again: bool
) -> None:
    with world_in(tmp_path) as world:
        world.put(MapDraft(title="t", outline=outline_of("root", *ALIKE[:endings_of_it])))
        world.published()
        searcher = CountingSearcher(searcher_of(world))
        builder = QueryBuilder(schema(), searcher)  # type: ignore[arg-type]
        asked(builder, "qqqqq")
        asked(builder, "qqqqq")
        second = searcher.total()
        asked(builder, "qqqqq")
        third = searcher.total() - second
        # Only the look-up of the whole title is left if they are kept.
        assert (third > 1) is again


FIVE: Final = "甲乙丙丁戊"


@pytest.mark.parametrize(("most", "expected"), [(8, {"both", "apart"}), (4096, {"both"})])
def test_the_phrases_of_a_query_have_a_common_budget_of_endings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, expected: set[str]
) -> None:
    """Beyond it, the prefix may be anywhere in the map."""
    for module in (endings, text_queries):
        monkeypatch.setattr(module, "MOST_ENDINGS", most, raising=False)
    every = " ".join(f"w{number}字{one}" for one in FIVE for number in (1, 2))
    texts = {"both": every, "apart": "w1字甲 w2", "w2 only": "w1 w2字甲", "neither": "w1 w2"}
    with world_in(tmp_path) as world:
        world.put(
            *(
                MapDraft(title=title, outline=outline_of("root", text))
                for title, text in texts.items()
            )
        )
        world.published()
        indexed, exactly = world.titles_found("w1字 w2字")
        assert (indexed, exactly) == (expected, {"both"})


class Dictionary:
    """Words to look up, in the order in which Tantivy would return them."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(words)
        self.prefixes: list[str] = []

    def look_up(self, _: str, prefix: str) -> Sequence[tuple[str, int]]:
        self.prefixes.append(prefix)
        found = [word for word in self.words if word.startswith(prefix)]
        return [(word, 1) for word in found[:MOST_ENDINGS]]


def test_long_prefixes_are_picked_from_shorter_ones() -> None:
    known = Dictionary([*(f"aaaaa{ending}" for ending in ENDINGS[:4000]), "aaaab", "aaaa"])
    finder = EndingFinder(known.look_up)
    for prefix in ("aaaa", "aaaaa", "aaaaaa", "aaaaaab", "aaaaaabcd", "aaaaax", "b"):
        expected = [word for word in known.words if word.startswith(prefix)]
        assert finder.all("topics", prefix) == expected == finder.most_frequent("topics", prefix)
    assert known.prefixes == ["aaaa", "aaaaa", "b"]


def test_clients_cannot_vary_a_prefix_that_many_words_have() -> None:
    """Of thousands of prefixes, only those of eight letters are looked up, which are few here."""
    known = Dictionary(f"aaaaaaaa{ending}" for ending in ENDINGS)
    finder = EndingFinder(known.look_up)
    for ending in ENDINGS[:1000]:
        assert finder.all("topics", f"aaaaaaaa{ending}") is None
        found = finder.most_frequent("forms", f"aaaaaaaa{ending}")
        assert found == [f"aaaaaaaa{ending}"]
    assert known.prefixes == ["a" * length for length in LOOKED_UP] * 2


def test_prefixes_with_too_many_words_are_exact_with_more_letters() -> None:
    known = Dictionary(f"aaaaa{ending}" for ending in ENDINGS)
    finder = EndingFinder(known.look_up)
    assert finder.all("topics", "aaaaa") is None
    assert finder.all("topics", "aaaaab") == [f"aaaaa{one}" for one in ENDINGS if one[0] == "b"]
    assert finder.all("topics", "aaaaabcdx") == []
    assert len(finder.most_frequent("forms", "aaaaa")) == MOST_ENDINGS


def test_cached_words_take_a_bounded_number_of_bytes() -> None:
    """Words of 64 letters of four bytes each take 300 times as much as the usual ones together."""

    def look_up(_: str, prefix: str) -> Sequence[tuple[str, int]]:
        some = range(MOST_ENDINGS)
        return [(f"{prefix}{number:09}" + "\U00010330" * 50, 1) for number in some]

    finder = EndingFinder(look_up)
    tracemalloc.start()
    for ending in ENDINGS[:20]:
        assert len(finder.most_frequent("forms", f"qq{ending}")) == MOST_ENDINGS
        assert finder.all("topics", f"qq{ending}") is None
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 1.2 * ENDINGS_IN_MEMORY
