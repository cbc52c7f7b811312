"""When two texts count as the same, and into which words they are split."""

import unicodedata
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.text.normalize import (
    LONGEST_WORD,
    MOST_MARKS,
    SEPARATOR,
    normalize,
    normalize_keeping_accents,
    query_words,
    stream_safe,
)
from tests.indexing import index_words


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("", ""),
        ("Tea", "tea"),
        ("Ärger über Öl", "arger uber ol"),
        ("A\u0308rger", "arger"),
        ("Ça va, naïve Noël?", "ca va, naive noel?"),
        ("Straße", "strasse"),
        ("GROẞ", "gross"),
        ("ΟΔΟΣ", "οδοσ"),
        ("οδός", "οδοσ"),
        ("Ώρα", "ωρα"),
        ("İstanbul", "istanbul"),
        ("ıspanak", "ıspanak"),
        ("Ёлка й", "елка и"),
        ("ＦＵＬＬ　width", "full width"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ﬁne ①²", "fine 12"),
        ("が", "が"),
        ("か\u3099", "が"),
        ("각", "각"),
        ("\u1100\u1161\u11a8", "각"),
        ("ที่นี่", "ที่นี่"),
        ("हिन्दी", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
    ],
)
def test_normalize(text: str, normalized: str) -> None:
    assert normalize(text) == normalized


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_normalized_as_any_other_text(text: str) -> None:
    assert normalize(text) == normalize(text + "日")[:-1] == text.lower()


# Four letters have no upper case of their own, or share that of another letter.
LATIN = st.characters(categories=["Lu", "Ll"], max_codepoint=0x24F, exclude_characters="ıŉſǰ")


@given(st.text(LATIN))
def test_case_and_accents_do_not_count(text: str) -> None:
    assert normalize(text.upper()) == normalize(text)
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(text)
    assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize(
    ("text", "indexed", "asked"),
    [
        ("", "", []),
        (" -_!", "", []),
        ("Green-tea_pot 2.0", "green tea pot 2 0", ["green", "tea", "pot", "2", "0"]),
        ("日本語", "日本 本語 語", ["日本", "本語"]),
        ("日", "日", ["日"]),
        ("日本 語", "日本 本 語", ["日本", "本", "語"]),
        ("東京2020", "東京 京 2020", ["東京", "京", "2020"]),
        ("iPhone手机", "iphone 手机 机", ["iphone", "手机"]),
        ("한국어", "한국 국어 어", ["한국", "국어"]),
        ("𠀀𠀁", "𠀀𠀁 𠀁", ["𠀀𠀁"]),
        ("हिन्दी मानचित्र", "हिन्दी मानचित्र", ["हिन्दी", "मानचित्र"]),
        ("Ärger İpek", "arger ipek", ["arger", "ipek"]),
        ("x" * 70, "x" * LONGEST_WORD, ["x" * LONGEST_WORD]),
        ("ä" * 70, "a" * LONGEST_WORD, ["a" * LONGEST_WORD]),
    ],
)
def test_words(text: str, indexed: str, asked: list[str]) -> None:
    assert index_words(text) == indexed.split()
    assert query_words(text) == asked


MIXED = st.text(st.sampled_from("abÄß日本語ก한국िह 2-\u0301\uff76"), max_size=12)


@given(st.text() | MIXED)
def test_words_hold_nothing_that_separates_or_means_something_to_the_index(text: str) -> None:
    for word in {*index_words(text), *query_words(text)} - {SEPARATOR}:
        assert len(word) <= LONGEST_WORD
        assert not any(char.isspace() or char in r"\.*+?()[]{}|^$\"'-" for char in word)


@given(MIXED)
def test_a_text_is_found_by_itself(text: str) -> None:
    """The words of a query occur in sequence in the text, the last one as a prefix."""
    indexed, asked = index_words(text), query_words(text)
    assert bool(indexed) == bool(asked)
    assert follows(indexed, asked)


@given(before=MIXED, text=MIXED, after=MIXED)
def test_a_text_is_found_inside_another(before: str, text: str, after: str) -> None:
    asked = query_words(text)
    assert follows(index_words(f"{before} {text} {after}"), asked)


@given(st.text(st.sampled_from("日本語東京ก한"), min_size=1, max_size=8))
def test_every_character_of_an_unspaced_script_is_found_alone(text: str) -> None:
    words = index_words(text)
    for char in text:
        (asked,) = query_words(char)
        assert any(word.startswith(asked) for word in words)


@given(st.text(st.sampled_from("日本語東京"), min_size=2, max_size=8), st.data())
def test_every_part_of_an_unspaced_text_is_found(text: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text) - 2))
    last = data.draw(st.integers(first + 2, len(text)))
    assert follows(index_words(text), query_words(text[first:last]))


def follows(indexed: list[str], asked: list[str]) -> bool:
    """Return whether ``asked`` occur in sequence, the last one as a prefix."""
    if not asked:
        return True
    *whole, last = asked
    return any(
        indexed[i : i + len(whole)] == whole and indexed[i + len(whole)].startswith(last)
        for i in range(len(indexed) - len(whole))
    )


def longest_run(text: str) -> int:
    """Return the length of the longest run of characters that normalization may have to sort."""
    longest = current = 0
    for character in unicodedata.normalize("NFKD", text):
        current = current + 1 if unicodedata.combining(character) else 0
        longest = max(longest, current)
    return longest


# Marks of several classes, some of which become two, letters that become marks, and others between.
MARKS: Final = "\u0301\u0316\u0344\u0f73\uff9e\u3099\u20d0"


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*MARKS, "z", "か", "—", "😀", "\u0915", "ﾂ"]), st.integers(1, 70)
        ),
        max_size=8,
    )
)
def test_no_run_of_marks_is_long_enough_to_take_long(parts: list[tuple[str, int]]) -> None:
    text = "".join(character * count for character, count in parts)
    safe = stream_safe(text)
    assert longest_run(safe) <= 2 * MOST_MARKS, "each mark becomes two at most"
    assert normalize(text) == normalize(safe)
    assert normalize_keeping_accents(text) == normalize_keeping_accents(safe)
    if max((count for _, count in parts), default=0) * len(parts) <= MOST_MARKS:
        assert safe == text


def test_only_the_marks_that_follow_thirty_others_are_dropped() -> None:
    few, many = "a" + "\u0301" * MOST_MARKS, "a" + "\u0301" * 64_000
    assert stream_safe(few) == few
    assert stream_safe(f"{many} b{many}") == f"{few} b{few}"
    assert stream_safe("—" * 500) == "—" * 500
    assert normalize(many) == "a"
