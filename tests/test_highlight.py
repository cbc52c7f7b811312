"""Highlights mark what the index matches, and leave the text unchanged."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mapshelf.model import MapDraft
from mapshelf.query import MapQuery
from mapshelf.search.deadline import Deadline
from mapshelf.search.highlight import Highlight, Highlighter, highlighted
from mapshelf.search.query_parser import QueryTerm, parse_query_text
from mapshelf.text.normalize import normalize, word_spans
from tests.examples import examples
from tests.indexing import index_words
from tests.snapshot.world import world_in


def highlighted_in(text: str, query: str, *languages: str) -> str:
    """Return ``text`` with brackets around its highlights."""
    html = highlighted(text, Highlighter(parse_query_text(query), languages).highlights(text))
    return unescape(html.replace("<mark>", "[").replace("</mark>", "]"))


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("tea", "[Tea] and [teapots]"),
        ("tea ", "[Tea] and [teapots]"),
        ("tea.x", "Tea and teapots"),
        ("teapot", "Tea and [teapots]"),
        ("AND tea", "[Tea] [and] [teapots]"),
        ('"tea and"', "[Tea and] teapots"),
        ('"teapot"', "Tea and teapots"),
        ("-tea and", "Tea [and] teapots"),
        ("tea-and", "[Tea and] teapots"),
        ("and-tea", "Tea [and teapots]"),
        ("", "Tea and teapots"),
    ],
)
def test_words(query: str, shown: str) -> None:
    assert highlighted_in("Tea and teapots", query.strip(" ")) == shown


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("Planungen", "Planung", "[Planungen]"),
        ("les études", "etudier", "les études"),
        ("Cafe\u0301 ＣＡＦＥ", "café", "[Cafe\u0301] [ＣＡＦＥ]"),
        ("MindMaps now", "map", "[MindMaps] now"),
        ("MindMaps now", "maps now", "[MindMaps] [now]"),
        ("a mind map", "MindMap", "a [mind map]"),
        ("E-mail rules", "email", "[E-mail] rules"),
        ("E-mails rule", "email", "[E-mails] rule"),
        ("Email", "e-mail", "[Email]"),
        ("an e mail", "e-mail", "an [e mail]"),
        ("ask ann@example.org!", "ann@example.org", "ask [ann@example.org]!"),
        ("ask ann@example.org!", "example", "ask ann@[example].org!"),
        ("budget-2024.mm", "budget", "[budget]-2024.mm"),
        ("budget_2024.mm", "2024", "budget_[2024].mm"),
        ("東京都の地図", "京都", "東[京都]の地図"),
        ("東京都の地図", "東京 京都", "[東京都]の地図"),
        ("東京都の地図", "地", "東京都の[地]図"),
        ("東京都の地図", "東京都", "[東京都]の地図"),
        ("大東京2020計画", "東京2020", "大[東京2020]計画"),
        ("大東京2020計画", "2020計画", "大東京[2020計画]"),
        ("大東京 2020計画", "2020計", "大東京 [2020計]画"),
        ("日語", "日本", "日語"),
        ("ﾃﾞｰﾀ表", "データ", "[ﾃﾞｰﾀ]表"),
        ("デ\u3099 データ", "データ", "デ\u3099 [データ]"),
        ("แผนที่ความคิด", "ความคิด", "แผนที่[ความคิด]"),
        ("㈱東芝", "株", "[㈱]東芝"),
        ("Straße", "STRASSE", "[Straße]"),
        ("<b> & 'tea'", "tea", "<b> & '[tea]'"),
    ],
)
def test_variants_and_scripts(text: str, query: str, shown: str) -> None:
    assert highlighted_in(text, query, "en", "de") == shown


@pytest.mark.parametrize("before", ["", "é"])
def test_long_words_have_the_stems_of_those_in_the_index(tmp_path: Path, before: str) -> None:
    """The index has only their first 64 letters, so an ending is sought before these end."""
    stem = (before + "a" * 60)[:60]
    title = f"{stem}ningxyz b"
    with world_in(tmp_path) as world:
        world.put(MapDraft(title=title))
        hits = world.published().search(MapQuery(f"{stem}n b", order=None), b"")
        (found,) = hits.records
        assert hits.highlighter.within(found.details.language).matched_terms(title) == {0, 1}


def test_highlighted_text_is_escaped() -> None:
    text = "<script>alert('tea')</script> & \"tea\""
    assert highlighted(text, Highlighter(parse_query_text("tea"), ()).highlights(text)) == (
        "&lt;script&gt;alert(&#x27;<mark>tea</mark>&#x27;)&lt;/script&gt; &amp; "
        "&quot;<mark>tea</mark>&quot;"
    )


def test_terms_count_where_highlights_overlap() -> None:
    highlighter = Highlighter(parse_query_text("MindMap mind map -other"), ())
    assert len(highlighter) == 3
    assert highlighter.matched_terms("a MindMap of others") == {0, 1, 2}
    assert highlighter.highlights("a MindMap of others") == [Highlight(2, 9)]
    assert highlighter.matched_terms("mind") == {1}


def test_only_stems_of_the_language_of_a_map_count() -> None:
    highlighter = Highlighter(parse_query_text("werk"), ("en", "nl"))
    assert highlighter.within("nl").matched_terms("Wat is gewerkt?") == {0}
    assert highlighter.within("en").matched_terms("Wat is gewerkt?") == set()
    assert highlighter.within("").matched_terms("Wat is gewerkt?") == set()
    assert highlighter.matched_terms("Wat is gewerkt?") == {0}
    assert highlighter.within("en").matched_terms("a werk of art") == {0}


# -- arbitrary texts ---------------------------------------------------------------------------

WORDS: Final = (
    "plan", "Plans", "planning", "PLANUNG", "Planungen", "MindMap", "mindMaps", "XMLFile2",
    "e-mail", "E-Mails", "email", "re\u0301sume\u0301", "Résumé", "ann@example.org", "a.b", "x2",
    "budget_2024.mm", "rock'n'roll", "C++", "東京都", "京", "管理", "データ", "ﾃﾞｰﾀ", "か\u3099",
    "한국어", "\u1112\u1161\u11ab국", "แผนที่", "กาแฟ", "ﬁsh", "Straße", "㈱", "①", "½", "İpek",
    "Ωmega", "планирование", "планы", "خطة", "हिन्दी", "மொழி", "🙂", "<b>", "&amp;", "ǅ", "ŉ",
)  # fmt: skip
SIGNS: Final = st.sampled_from([" ", " ", " ", "-", ".", "_", "", "/", "\n", "「", "…"])
SENTENCES: Final = st.lists(st.tuples(st.sampled_from(WORDS), SIGNS), min_size=1, max_size=6).map(
    lambda pairs: "".join(word + sign for word, sign in pairs)
)
TEXTS: Final = SENTENCES | st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(TEXTS, TEXTS)
def test_highlights_are_apart_and_spoil_nothing(text: str, query: str) -> None:
    highlighter = Highlighter(parse_query_text(query), ("en", "de", "fr"))
    highlights = highlighter.highlights(text)
    places = [place for one in highlights for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(0 <= one.start < one.end <= len(text) for one in highlights)
    assert bool(highlights) == bool(highlighter.matched_terms(text))
    html = highlighted(text, highlights)
    assert unescape(re.sub("</?mark>", "", html)) == text
    assert html.count("<mark>") == html.count("</mark>") == len(highlights)
    assert "<" not in re.sub("</?mark>", "", html)


@settings(max_examples=examples(500))
@given(TEXTS)
def test_words_have_the_places_of_those_in_the_index(text: str) -> None:
    normalized = normalize(text)
    placed = [(start, end, word) for start, end, word in word_spans(normalized) if word != "\x1f"]
    assert [word for _, _, word in placed] == [w for w in index_words(text) if w != "\x1f"]
    assert all(normalized[start:end].startswith(word) for start, end, word in placed)


LETTERS: Final = st.text("aeginrstyuzABßäéñşαλёжпЯ", min_size=1, max_size=9)


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(
    st.lists(LETTERS | TEXTS, min_size=1, max_size=6).map(" ".join),
    st.lists(LETTERS | TEXTS, min_size=1, max_size=2).map(" ".join),
    st.sampled_from(["", "de", "en", "es", "fr", "id", "nl", "ro", "tr"]),
)
def test_words_passed_over_do_not_match(text: str, query: str, language: str) -> None:
    """With a phrase in the query, no word is skipped because of its first letter."""
    fast = Highlighter(parse_query_text(query), [language]).within(language)
    phrase = (*parse_query_text(query), *parse_query_text('"no such row"'))
    exact = Highlighter(phrase, [language]).within(language)
    assert fast.matched_terms(text) == exact.matched_terms(text)
    assert fast.highlights(text) == exact.highlights(text)


CHANGES: Final[list[Callable[[str], str]]] = [
    lambda text: text,
    lambda text: (text.split() or [""])[0],
    lambda text: (text.split() or [""])[-1],
    str.upper,
    lambda text: re.sub("([a-z])([A-Z])", r"\1 \2", text),
    lambda text: text[: len(text) // 2 + 1],
    lambda text: text.replace("-", ""),
    lambda text: " ".join(reversed(text.split())),
    lambda text: text[-3:],
    lambda text: text.rstrip("s") + "s",
]


def is_loose_row(term: QueryTerm) -> bool:
    """Return whether the index finds some words of a row anywhere, as exact rows cost too much."""
    return term.prefix and len(term.words) > 1


def is_name(text: str, title: str) -> bool:
    """Return whether the index finds a title by its letters, wherever its words are split."""
    words = [word for term in parse_query_text(text) for word in term.words]
    return "".join(words) == "".join(index_words(title))


@pytest.mark.slow
@settings(
    max_examples=examples(40),
    phases=[Phase.explicit, Phase.generate],  # shrinking would take minutes
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.lists(SENTENCES, min_size=5, max_size=20),
    st.lists(st.tuples(st.integers(0, 19), st.sampled_from(CHANGES)), min_size=20, max_size=40),
)
def test_what_the_index_finds_in_a_title_is_highlighted(
    titles: list[str], asked: list[tuple[int, Callable[[str], str]]]
) -> None:
    """Owner and category are in a script that no search here uses."""
    with TemporaryDirectory() as folder, world_in(Path(folder)) as world:
        world.put(*(MapDraft(title=title, owner="ⴰⵎ", category="ⴰⵎ") for title in titles))
        snapshot = world.published()
        texts = {change(titles[place % len(titles)]).strip() for place, change in asked}
        for text in texts:
            if not text or any(map(is_loose_row, parse_query_text(text))):
                continue
            hits = snapshot.search(MapQuery(text, order=None, limit=50), b"", correct=False)
            for record in hits.records:
                highlighter = hits.highlighter.within(record.details.language)
                found = highlighter.matched_terms(record.title)
                if not is_name(text, record.title):
                    assert len(found) == len(hits.highlighter), (text, record.title)


@pytest.mark.parametrize("query", ["tea", '"green tea"'])
def test_nothing_is_analysed_after_the_deadline(query: str) -> None:
    """Within a text, too: it may be long."""
    highlighter = Highlighter(parse_query_text(query), ["en"])
    text = "green tea"
    assert highlighter.until(Deadline(60)).matched_terms(text)
    late = Highlighter(parse_query_text(query), ["en"]).until(Deadline(0))
    assert not late.matched_terms(text)
    assert late.highlights(text) == []
    assert late.within("en").highlights(text) == []
