"""Phrases are limited, so that no search takes seconds: in the query, and in each text of a map.

Maps without an index must be found by the same rules, so each search is made both ways.
"""

from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import MapDraft
from mapshelf.search.map_words import MOST_OCCURRENCES
from mapshelf.search.query_parser import MOST_PHRASE_WORDS, parse_query_text
from tests.harness import outline_of
from tests.snapshot.world import world_in

NUMBERED: Final = [f"w{place}" for place in range(MOST_PHRASE_WORDS + 8)]
IN_ORDER: Final = " ".join(NUMBERED)
END_MIXED: Final = " ".join(
    [*NUMBERED[:MOST_PHRASE_WORDS], *reversed(NUMBERED[MOST_PHRASE_WORDS:])]
)
BEGINNING_MIXED: Final = " ".join(reversed(NUMBERED))
REPEATED: Final = " ".join(
    ["red blue"] * (MOST_OCCURRENCES - 1) + ["blue green blue red blue pink"]
)

QUERIES: Final = [
    ('"blue red"', {"repeated"}),
    ('"blue green"', {"repeated"}),
    ('"blue pink"', set()),
    ("blue pink", {"repeated"}),
    (f'"{IN_ORDER}"', {"in order", "end mixed"}),
    (f'"{IN_ORDER}" absent', set()),
    (f'title:"{IN_ORDER}"', set()),
    (f'-"{IN_ORDER}" w1', {"in order", "end mixed", "beginning mixed"}),
    (f'-"{" ".join(NUMBERED[:8])}" w1', {"beginning mixed"}),
    (
        " ".join(f'"{first} {second}"' for first, second in pairwise(NUMBERED)),
        {"in order", "end mixed"},
    ),
    ("-".join(NUMBERED), {"in order", "end mixed"}),
    ("-".join(NUMBERED)[:-1], {"in order", "end mixed"}),
]


@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_words_over_the_limit_may_be_anywhere(
    tmp_path: Path, query: str, expected: set[str]
) -> None:
    texts = {
        "repeated": REPEATED,
        "in order": IN_ORDER,
        "end mixed": END_MIXED,
        "beginning mixed": BEGINNING_MIXED,
    }
    with world_in(tmp_path) as world:
        world.put(
            *(MapDraft(title=title, outline=outline_of(text)) for title, text in texts.items())
        )
        world.published()
        assert world.titles_found(query) == (expected, expected)


@given(
    st.lists(
        st.builds(
            lambda form, words: form.format(" ".join(words)),
            st.sampled_from(["{}", '"{}"', '-"{}"', 'title:"{}"', "{}-x", "{}東京都"]),
            st.lists(st.sampled_from(["a", "AbCdEf", "x-y", "東京都", "b"]), min_size=1),
        )
    )
)
def test_no_query_has_more_words_in_phrases(terms: list[str]) -> None:
    phrases = [
        words
        for term in parse_query_text(" ".join(terms))
        for words in (term.words, term.subwords)
        if len(words) > 1
    ]
    assert sum(map(len, phrases)) <= MOST_PHRASE_WORDS
