"""Highlighting costs little, whatever texts and queries consist of.

We count the lines of Python that run, because times differ from machine to machine.
"""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice, product
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapshelf
from mapshelf.formats.outline_bytes import unpacked_up_to
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.formats.outline_texts import OutlineTexts, read_texts
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.search import deadline
from mapshelf.search.deadline import Deadline
from mapshelf.search.highlight import Highlight, Highlighter
from mapshelf.search.query_parser import parse_query_text
from mapshelf.search.snippets import (
    API_BUDGET,
    LONGEST_EXCERPT,
    QUICK_SECONDS,
    Snippet,
    SnippetFinder,
    topics_with,
)
from mapshelf.text.normalize import LONGEST_QUERY
from mapshelf.text.stemming import stems
from tests.examples import examples

OUR_CODE: Final = str(Path(mapshelf.__file__).parent)


def lines_of(work: Callable[[], object]) -> int:
    """Return how many lines of our own code ``work`` runs, those in loops each time."""
    lines = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(OUR_CODE):
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


@pytest.fixture(scope="module")
def one_stem() -> str:
    """A query of eighty words with the stem of ``дом``, and one that no map has."""
    letters = "абвгдежзиклмнопрстуфхцчшщыьэюя"
    endings = ("".join(some) for length in range(4) for some in product(letters, repeat=length))
    words = (f"дом{ending}" for ending in endings)
    found = list(islice((one for one in words if stems(one, ("",)) == stems("дом", ("",))), 80))
    query = " ".join([*found, "нет"])
    assert len(parse_query_text(query)) == 81
    assert len(query) <= LONGEST_QUERY
    return query


REPEATED: Final = "дом " * 9_300


def searched(*topics: Topic) -> bytes:
    return encode_outline(Outline(sheets_of([Topic("Root", children=list(topics))])))


def texts_of(encoded: bytes) -> OutlineTexts:
    document = unpacked_up_to(encoded, API_BUDGET.outline_bytes)
    assert document is not None
    return read_texts(document)


def found_by_search(encoded: bytes, query: str) -> list[Snippet]:
    finder = SnippetFinder(
        Highlighter(parse_query_text(query), ["en"]), API_BUDGET._replace(seconds=1000.0)
    )
    finder.resume()  # with so much time that only the work counts
    return finder.find(1, "Map", "", lambda: encoded)


def found_in_map(encoded: bytes, query: str) -> list[Snippet]:
    return topics_with(texts_of(encoded), Highlighter(parse_query_text(query), ["en"]), 100, 10_000)


FINDING: Final = pytest.mark.parametrize("find", [found_by_search, found_in_map])
Find = Callable[[bytes, str], list[Snippet]]


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes, so only the work counts."""
    monkeypatch.setattr(deadline, "thread_time", lambda: 0.0)


@FINDING
@pytest.mark.usefixtures("stopped")
def test_words_with_one_stem_cost_as_much_as_one_of_them(find: Find, one_stem: str) -> None:
    """All match each word of the text, which repeats one of them."""
    encoded = searched(*[Topic(f"{number} {REPEATED}") for number in range(3)])
    (first, *others) = find(encoded, one_stem)
    assert len(others) == 2
    assert first.marked.startswith("0 <mark>дом</mark> <mark>дом</mark> ")
    many, one = (lines_of(partial(find, encoded, query)) for query in (one_stem, "дом нет"))
    assert many < 1.5 * one


@pytest.mark.usefixtures("stopped")
def test_many_phrases_in_a_long_text_cost_little_more_than_one() -> None:
    """No phrase may scan the whole text by itself: queries may have sixteen of them."""
    text = "a b " * 4_000
    signs = "abcdefghij"
    phrases = [parse_query_text(f'"{one} {other}"')[0] for one, other in product(signs, signs)]
    one, many = (
        lines_of(partial(Highlighter(tuple(some), ["en"]).matched_terms, text))
        for some in (phrases[80:81], phrases[:81])
    )
    assert many < 4 * one


@pytest.mark.usefixtures("stopped")
def test_many_terms_cost_little_more_than_one() -> None:
    """A query may have a hundred short words, and a map a hundred thousand different ones."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = " ".join(map("".join, product(letters, letters, "aeiou", "nrst")))
    pairs = [one + other for one, other in product(letters, "aeiou")]
    # In Dutch, words with other initials are not ruled out.
    one, many = (
        lines_of(partial(Highlighter(parse_query_text(query), ["nl"]).matched_terms, text))
        for query in ("qx", " ".join(pairs))
    )
    assert many < 2 * one


@FINDING
@pytest.mark.usefixtures("stopped")
def test_of_attributes_as_much_is_highlighted_as_of_a_text(find: Find, one_stem: str) -> None:
    """A topic has any number of them, each as long as a text can be."""
    many = tuple((f"Name {number}", REPEATED) for number in range(14))
    encoded = [searched(Topic("Topic", attributes=some)) for some in (many, many[:1])]
    (found,) = find(encoded[0], one_stem)
    assert found.note.startswith("Name 0: <mark>дом</mark> <mark>дом</mark> ")
    several, single = (lines_of(partial(find, one, one_stem)) for one in encoded)
    assert several < 2 * single


@FINDING
@pytest.mark.usefixtures("stopped")
def test_excerpts_cost_little_however_long_their_texts_are(find: Find, one_stem: str) -> None:
    """To find a topic, its text is read once; to show it, only the first match and its excerpt."""
    encoded = searched(Topic(REPEATED))
    read = lines_of(lambda: Highlighter(parse_query_text(one_stem), []).matched_terms(REPEATED))
    assert lines_of(lambda: find(encoded, one_stem)) < 1.5 * read


@pytest.mark.parametrize(
    ("repeated", "query"),
    [
        ("tea-tea/", "teatea"),
        ("дом-дом/", "домдом"),
        ("a/b/", "a"),
        ("a/", '"a a" "a a a" "a a a a" "a a a a a" "a a a a a a" nothing'),
        ("\u3131\u314f/a/b/", "a"),  # normalized together, so no word has a place of its own
        ("\u3131\u314f/a-b/", "ab"),
        ("東京", "東 東京 東京東"),
    ],
)
def test_the_cost_of_a_text_without_spaces_grows_with_its_length(repeated: str, query: str) -> None:
    def lines(times: int) -> int:
        highlighter = Highlighter(parse_query_text(query), ["en"])
        return lines_of(lambda: highlighter.matched_terms(repeated * times))

    lines(10)  # fills the caches of words
    assert lines(800) < 4.4 * lines(200)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """A clock of which each look takes as long as the test says."""
    looks, seconds = count(), 0.0

    def tick(taken: float) -> None:
        nonlocal seconds
        seconds = taken

    monkeypatch.setattr(deadline, "thread_time", lambda: next(looks) * seconds)
    return iter([tick])


@pytest.mark.parametrize(
    ("text", "query"),
    [("tea " * 10_000, "tea"), ("tea " * 10_000, '"tea tea"'), ("tea/" * 30_000, '"tea tea"')],
)
def test_words_that_were_analysed_before_are_not_free(
    ticking: Iterator[Callable[[float], None]], text: str, query: str
) -> None:
    highlighter = Highlighter(parse_query_text(query), ["en"])
    whole = highlighter.highlights(text)
    assert whole[-1].end >= len(text) - 1
    next(ticking)(1.0)
    some = highlighter.until(Deadline(2)).highlights(text)
    assert some
    assert some[-1].end < len(text) / 2


MANY_KANA: Final = "\u3316" * 3_000
"""A text without spaces of which each character is normalized to six kana: 18,000 words."""


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (MANY_KANA, "キロ ロメ メー ート トル キ ロ メ ー ト ル nothing"),
        (MANY_KANA, '"キロメ" キロ nothing'),
        (MANY_KANA, "nothing ノ"),
        ("дом/" * 3_000, "дом нет"),
        ("a/" * 6_000, "a b"),
        ("a-b/" * 3_000, "ab cd"),
        ("\u3131\u314f/" + "a-b/" * 3_000, "ab cd"),  # no word has a place of its own
    ],
)
@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_text_without_spaces_is_analysed_only_until_the_deadline(
    monkeypatch: pytest.MonkeyPatch, text: str, query: str, part: float
) -> None:
    """Whatever part of the work is done by then, little of it follows."""
    looks = 0
    last_look = 1 << 30
    work_done: list[int] = []
    lines = 0

    def look() -> float:
        nonlocal looks
        looks += 1
        if looks < last_look:
            return 0.0
        work_done.append(lines)
        return 2.0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace if frame.f_code.co_filename.startswith(OUR_CODE) else None

    def found() -> frozenset[int]:
        nonlocal looks, lines
        looks = lines = 0
        highlighter = Highlighter(parse_query_text(query), ["en"]).until(Deadline(1.0))
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return highlighter.matched_terms(text)
        finally:
            sys.settrace(before)

    monkeypatch.setattr(deadline, "thread_time", look)
    found()
    whole, last_look = lines, int(looks * part)
    assert found() == frozenset()
    assert lines - work_done[0] < 0.15 * whole


def test_searches_that_wait_to_be_resumed_keep_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventeen may wait in each worker."""
    now = 0.0
    monkeypatch.setattr(deadline, "thread_time", lambda: now)
    encoded = [searched(Topic(f"{MANY_KANA}{number}")) for number in range(2)]

    def load(number: int) -> bytes:
        nonlocal now
        now += number * 2 * QUICK_SECONDS
        return encoded[number]

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        finder = SnippetFinder(Highlighter(parse_query_text('"キロメ" キロ'), ["en"]), API_BUDGET)
        found = [finder.find(one, "Map", "", partial(load, one)) for one in range(2)]
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(some) for some in found] == [1, 0]
    assert finder.is_interrupted
    assert most - before > 3_000_000
    assert after - before < 1_000_000


@FINDING
@pytest.mark.usefixtures("stopped")
def test_topics_below_each_other_cost_as_much_as_others(find: Find) -> None:
    def lines(depth: int) -> int:
        topic = Topic("tea")
        for number in range(depth):
            topic = Topic(f"tea {number}", children=[topic])
        encoded = searched(topic)
        return lines_of(lambda: find(encoded, "tea"))

    lines(10)
    assert lines(800) < 4.4 * lines(200)


def test_what_was_found_in_time_is_marked(ticking: Iterator[Callable[[float], None]]) -> None:
    encoded = searched(*[Topic(f"green tea {number} {'x' * 5_000}") for number in range(100)])
    next(ticking)(0.02)
    found = found_in_map(encoded, "tea")
    assert 1 < len(found) < 100
    assert found[0].marked.startswith("green <mark>tea</mark> 0 ")


def test_only_maps_that_were_searched_in_part_are_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(deadline, "thread_time", lambda: now)
    finder = SnippetFinder(Highlighter(parse_query_text("tea"), ["en"]), API_BUDGET)
    loaded: list[int] = []

    def load(number: int) -> bytes:
        nonlocal now
        now += 0.6 * QUICK_SECONDS
        loaded.append(number)
        # The clock is looked at while the second map is searched.
        return searched(*[Topic(f"green tea {'x' * 3_000 * number}{topic}") for topic in range(3)])

    def found() -> list[int]:
        return [len(finder.find(one, "Map", "en", partial(load, one))) for one in range(2)]

    assert found() == [3, 0]
    assert finder.is_interrupted
    finder.resume()
    assert found() == [3, 3]
    assert not finder.is_interrupted
    assert loaded == [0, 1, 1]


WORDS: Final = (
    "a",
    "b",
    "a-b",
    "A/b-c",
    "MindMap",
    "mind",
    "map",
    "東京",
    "京",
    "ﬁsh",
    "x" * 40,
    "-",
)


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=20),
    st.lists(st.sampled_from(WORDS), max_size=60),
    st.sampled_from((" ", "  \n", "/")),
    st.integers(1, 40),
    st.sampled_from(
        ('"a b"', "a b", '"b a b" map', "MindMap", "東京 fish", '"a-b mind map a"', "京a")
    ),
)
def test_the_first_highlights_are_those_of_all(
    before: list[str], words: list[str], space: str, times: int, query: str
) -> None:
    text = f"{'zz ' * 40 * times}{space.join(before * times)} {space.join(words * times)}"
    highlighter = Highlighter(parse_query_text(query), ["en"])

    def shown(found: list[Highlight]) -> list[tuple[int, int]]:
        last = found[0].start + LONGEST_EXCERPT if found else 0
        return [(one.start, min(one.end, last)) for one in found if one.start < last]

    first = highlighter.first_highlights(text, LONGEST_EXCERPT)
    assert shown(first) == shown(highlighter.highlights(text))
