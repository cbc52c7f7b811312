"""``docs/search.md`` agrees with the code."""

import re
from pathlib import Path

import pytest

from mapshelf.formats.outline_codec import LONGEST_TEXT
from mapshelf.query.rating import POPULARITIES
from mapshelf.search.alike_words import MOST_ALIKE
from mapshelf.search.map_words import MOST_OCCURRENCES
from mapshelf.search.query_parser import MOST_PHRASE_WORDS
from mapshelf.snapshot.build.documents import COUNTED_TITLE
from mapshelf.snapshot.format import term_dictionary
from mapshelf.snapshot.format.term_dictionary import LONGEST, SHORTEST, typos_in
from mapshelf.snapshot.format.text_fields import CHARACTER_WEIGHT, PHRASE_WEIGHT, WEIGHTS
from mapshelf.snapshot.read.endings import MOST_ENDINGS
from mapshelf.snapshot.read.relevance_order import BLOCK, NEAR
from mapshelf.snapshot.read.spelling import FAR_MORE, LONGEST_CORRECTION, MOST_WORDS
from mapshelf.text.normalize import LONGEST_WORD
from mapshelf.text.stemming import (
    LANGUAGES,
    LONGEST_ENDING,
    SCRIPTS,
    STEMMERS_OF,
    UNKNOWN,
    query_stems,
)
from mapshelf.text.word_forms import MOST_VARIANTS
from tests.relevance.test_relevance import PROMISES

DOCUMENT = (Path(__file__).parents[1] / "docs" / "search.md").read_text("utf-8")


def rows_below(heading: str) -> list[list[str]]:
    """Return the rows of the table below a heading, cell by cell."""
    section = DOCUMENT.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\|(.*)\|$", section, re.MULTILINE)
    return [[cell.strip(" `") for cell in row.split("|")] for row in rows[2:]]


def test_every_weight_is_documented_and_no_other() -> None:
    told = {field: float(weight) for field, _, weight in rows_below("## Ranking")}
    assert told == WEIGHTS


def test_every_language_is_documented_and_no_other() -> None:
    assert dict(rows_below("## Languages")) == LANGUAGES
    scripts = [name for _, names in SCRIPTS for name in names]
    assert ", ".join(scripts[:-1]) + f" and {scripts[-1]}" in " ".join(DOCUMENT.split())
    assert " and ".join(name.title() for name in STEMMERS_OF[UNKNOWN]) in DOCUMENT


@pytest.mark.parametrize(
    "sentence",
    [
        f"adjacent in the title score with weight {PHRASE_WEIGHT:g}",
        f"without spaces counts {CHARACTER_WEIGHT:g} times",
        f"beyond {COUNTED_TITLE} words length",
        f"one of {POPULARITIES} levels",
        f"less than {NEAR:.0%}".replace("%", " %") + " apart",
        f"in blocks of {BLOCK},",
        f"at least {FAR_MORE} times as many",
        f"any but the first {MOST_WORDS} words",
        f"at most {term_dictionary.MOST_FROM_ONE_MAP:,} words of each map",
        f"and {term_dictionary.MOST_WORDS:,} in all",
        {0.5: "at most half a second of processor time"}[LONGEST_CORRECTION],
        f"At most {MOST_PHRASE_WORDS} words of a query count as parts of phrases",
        f"phrases match only the first {MOST_OCCURRENCES:,}",
        f"begin with the same 5 characters, only the first {MOST_ALIKE[5]} are",
        f"({MOST_ALIKE[1]:,} of those that begin with the same character)",
        f"over {MOST_ENDINGS - 1:,} words have the prefix",
        f"only the first {LONGEST_WORD} characters count",
        f"only the first {LONGEST_TEXT:,} characters of the topics and notes",
        f"the first {MOST_VARIANTS:,} different words, their parts and compounds",
        f"at most {LONGEST_ENDING} letters shorter",
        f"have {SHORTEST} to {LONGEST} letters",
        f"a mean reciprocal rank of {PROMISES['MRR'][2]}",
        f"a recall at ten of {PROMISES['recall'][2]}",
        f"of {PROMISES['recall of typos'][2]} for typos and {PROMISES['recall of CJK'][2]}",
    ],
)
def test_numbers_are_those_of_the_code(sentence: str) -> None:
    assert sentence in " ".join(DOCUMENT.split())


def test_allowed_typos_are_as_documented() -> None:
    assert "Words of 4 to 7 letters may have one, longer ones two." in DOCUMENT
    assert [typos_in("x" * length) for length in range(1, 10)] == [0, 0, 0, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("asked", "held"),
    [("go", "went"), ("mouse", "mice"), ("plan", "projektplan"), ("car", "automobile")],
)
def test_documented_limitations_of_search_are_true(asked: str, held: str) -> None:
    assert not set(query_stems(asked, LANGUAGES)) & set(query_stems(held, LANGUAGES))
