"""Stemming: which forms of words match, which do not, and how stems are marked."""

from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mapshelf.text.normalize import (
    LONGEST_WORD,
    SEPARATOR,
    is_unspaced,
    normalize,
    normalize_keeping_accents,
)
from mapshelf.text.stemming import (
    LANGUAGES,
    PREFIX_STRIPPING,
    SCRIPTS,
    STEM,
    UNKNOWN,
    joined_word,
    joined_words,
    query_stems,
    stems,
    subwords,
    with_unknown,
)
from tests.indexing import index_forms, index_words


def meets(asked: str, held: str, language: str, others: Iterable[str] = ()) -> bool:
    """Return whether a search for one word finds a map in ``language`` with the other."""
    found = index_forms(held, language)
    word = normalize(asked)
    return bool(found & {word, *query_stems(word, {language, *others})})


@pytest.mark.parametrize(
    ("asked", "held", "language"),
    [
        ("plan", "planning", "en"),
        ("planning", "plans", "en"),
        ("planung", "Planungen", "de"),
        ("haus", "Häuser", "de"),
        ("hauser", "Haus", "de"),
        ("études", "etude", "fr"),
        ("naciones", "nación", "es"),
        ("программы", "программа", "ru"),
        ("άνθρωποι", "άνθρωπος", "el"),
        ("मानचित्र", "मानचित्रों", "hi"),
        ("كتاب", "الكتاب", "ar"),
        ("வீடு", "வீடுகள்", ""),
        ("plans", "plan", ""),
        ("planungen", "Planung", ""),
        ("planungen", "Planung", "xx"),
    ],
)
def test_inflected_forms_match(asked: str, held: str, language: str) -> None:
    assert meets(asked, held, language)
    assert meets(asked, held, language, others=LANGUAGES)


@pytest.mark.parametrize(
    ("asked", "held", "language"),
    [("date", "data", "en"), ("plan", "planet", "en"), ("as", "a", "en"), ("was", "wo", "de")],
)
def test_unrelated_words_do_not_match(asked: str, held: str, language: str) -> None:
    assert not meets(asked, held, language)


@given(st.text(), st.sampled_from([*LANGUAGES, UNKNOWN]))
@example("\u01ef\u0292\u01ef", "en")  # a letter that counts as Latin only with its accent
@example("FooA\u00df", "en")  # a part of two letters, three in lower case
def test_the_stems_of_a_query_are_in_every_map_that_says_it(text: str, language: str) -> None:
    forms = index_forms(text, language)
    for word in index_words(text):
        if word != SEPARATOR and not is_unspaced(word):
            assert forms & set(query_stems(word, [language])), word


def test_stems_of_other_languages_do_not_match() -> None:
    """``questionaire`` has the same stem in Italian as ``question`` in English."""
    assert not meets("questionaire", "question", "en", others=LANGUAGES)
    assert not meets("gardn", "garden", "en", others=LANGUAGES)


def test_every_language_and_script_has_a_stemmer() -> None:
    for code in LANGUAGES:
        assert any(stem.startswith(f"~{code}~") for stem in stems("words", with_unknown([code])))
    for pattern, names in SCRIPTS:
        letter = next(chr(code) for code in range(0x370, 0xC00) if pattern.match(chr(code)))
        assert stems(3 * letter, ()) != set()
        assert names


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_stems_begin_as_their_words_do_but_for_some_languages(word: str) -> None:
    kept = tuple(code for code in with_unknown(LANGUAGES) if code not in PREFIX_STRIPPING)
    assert {stem.rpartition(STEM)[2][0] for stem in stems(word, kept)} == {word[0]}


def test_stemmers_that_cut_at_the_front() -> None:
    assert stems("gewerkt", ("nl",)) == {"~nl~werk"}
    assert stems("ditulis", ("id",)) == {"~id~tulis"}


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("MindMap", ("mind", "map")),
        ("mindMapTool", ("mind", "map", "tool")),
        ("XMLFile2", ("xml", "file", "2")),
        ("ÄrgerBuch", ("ärger", "buch")),
        ("МойПлан", ("мой", "план")),
        ("x2", ("x", "2")),
        ("Mind", ()),
        ("MAP", ()),
        ("map", ()),
        ("2024", ()),
        ("", ()),
        ("漢字Map", ()),
        ("Ab" * 32, ("ab",) * 32),
        ("Ab" * 33, ()),
    ],
)
def test_subwords(word: str, parts: tuple[str, ...]) -> None:
    assert subwords(word) == parts


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("e-mail", "email"),
        ("Ann@Example.org", "annexampleorg"),
        ("rock'n'roll", "rocknroll"),
        ("file_name.mm", "filenamemm"),
        ("(e-mail)", "email"),
        ("a-b/c-d", ""),
        ("mail", ""),
        ("-", ""),
    ],
)
def test_written_together(text: str, whole: str) -> None:
    assert joined_word(text) == whole


def test_joined_words_have_places() -> None:
    assert list(joined_words("an e-mail, a.b.c")) == [(3, 9, "email"), (11, 16, "abc")]


@given(st.text(), st.sampled_from([*LANGUAGES, ""]))
def test_stems_are_marked_and_forms_are_single_words(text: str, language: str) -> None:
    forms = index_forms(text, language)
    for form in forms:
        assert form == "" or not set(form) & set(" \t\n")
    written = set(index_words(text))
    assert not any(word.startswith(STEM) for word in written)
    assert all(len(form) <= LONGEST_WORD + len("~en~") for form in forms if form.isascii())


@given(st.text(st.characters(categories=["Ll", "Lu"]), min_size=1, max_size=20))
def test_every_word_matches_itself_in_every_language(word: str) -> None:
    for language in (*LANGUAGES, ""):
        asked = index_words(word)
        if len(asked) == 1 and normalize_keeping_accents(word).isalpha():
            assert meets(asked[0], word, language), language
