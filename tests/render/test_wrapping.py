"""Wrapped lines use the allowed width, and no text is lost."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.render.fonts import font
from mapshelf.render.wrapping import ELLIPSIS, STRETCH, wrapped
from tests.render.trees import WORDS
from tests.writers.outlines import TEXTS

REGULAR = font(bold=False)
WIDEST = 1.3
"""No character is wider than this, in font sizes."""


def lines_of(text: str, width: float = 8, most: int = 3) -> list[str]:
    return [line.text for line in wrapped(text, REGULAR, width, most)]


@pytest.mark.slow
@given(WORDS | TEXTS, st.floats(3, 30), st.integers(1, 5))
def test_lines_fit_and_none_is_blank(text: str, width: float, most: int) -> None:
    lines = wrapped(text, REGULAR, width, most)
    assert len(lines) <= most
    for line in lines:
        assert line.text.strip() == line.text != ""
        assert line.width == REGULAR.width(line.text)
        clusters = sum(not unicodedata.category(sign).startswith(("M", "C")) for sign in line.text)
        assert line.width <= STRETCH * width or clusters <= 3


@given(WORDS, st.floats(3, 30))
def test_wrapping_loses_and_adds_no_text(text: str, width: float) -> None:
    lines = wrapped(text, REGULAR, width, 1000)
    assert "".join("".join(line.text.split()) for line in lines) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        (" \n ", []),
        ("short", ["short"]),
        ("one\ntwo", ["one", "two"]),
        ("a rather long line of words", ["a rather long", "line of words"]),
        ("well-known half-truths", ["well-known", "half-truths"]),
        ("康奈尔笔记法的优点和缺点", ["康奈尔笔记法", "的优点和缺点"]),
        ("早起，吃饭，睡觉，打豆豆", ["早起，吃饭，", "睡觉，打豆豆"]),
        ("Internationalization", ["Internationalization"]),
        ("x" * 60, ["x" * 30, "x" * 30]),
    ],
)
def test_where_lines_break(text: str, lines: list[str]) -> None:
    assert lines_of(text) == lines


def test_long_text_is_cut_with_an_ellipsis() -> None:
    lines = lines_of("word " * 100)
    assert len(lines) == 3
    assert lines[-1].endswith(ELLIPSIS)
    assert lines_of("one\ntwo\nthree\nfour")[-1] == f"three{ELLIPSIS}"


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301", "กำ", "❤️"])
def test_grapheme_clusters_are_never_cut(cluster: str) -> None:
    for line in lines_of(cluster * 40, 5):
        assert not line.removesuffix(ELLIPSIS).replace(cluster, "")


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "🚀", "🏳️‍🌈"])
def test_emoji_sequences_are_as_wide_as_one_emoji(cluster: str) -> None:
    assert REGULAR.width(cluster) == REGULAR.width("🚀")


def test_endless_text_is_wrapped_quickly() -> None:
    assert len(wrapped("\u0301" * 10_000_000, REGULAR, 8, 3)) <= 3
    assert lines_of("x" * 10_000_000)[-1].endswith(ELLIPSIS)
