"""The judgements are consistent with the maps, independently of the service.

These tests fold words with their own function, so that they do not share faults with the service.
"""

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import islice
from typing import Final

import pytest
from rapidfuzz.distance import OSA

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import MapDraft
from tests.relevance.catalogue import all_maps, filler_maps, named_maps
from tests.relevance.judgements import Judgement, judgements

KINDS: Final = {
    "exact-title", "title-other-order", "title-and-topic", "deep", "description", "inflection",
    "typo", "prefix", "phrase", "exclusion", "cjk", "mixed-script", "folding", "names", "ranking",
    "owner-and-category",
}  # fmt: skip
WORD: Final = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    marks = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652]")
    return unicodedata.normalize("NFKC", marks.sub("", decomposed))


def text_of(draft: MapDraft) -> str:
    topics = decode_outline(draft.outline or b"").topics()
    texts = [draft.title, draft.description, draft.owner, draft.category]
    texts += [draft.source.name if draft.source else ""]
    texts += [part for _, topic in topics for part in (topic.text, topic.note)]
    return fold("\n".join(text or "" for text in texts))


@cache
def maps() -> tuple[tuple[str, MapDraft], ...]:
    return tuple(all_maps())


@cache
def texts() -> tuple[tuple[str, str], ...]:
    return tuple((key, text_of(draft)) for key, draft in maps())


@cache
def by_key() -> dict[str, str]:
    return {key: text for key, text in texts() if key}


@cache
def vocabulary() -> frozenset[str]:
    return frozenset(word for _, text in texts() for word in WORD.findall(text))


def of_kind(*kinds: str) -> list[Judgement]:
    return [each for each in judgements() if each.kind in kinds]


def wanted_words(judgement: Judgement) -> list[str]:
    """Return the words that a wanted map must contain: the intended ones without excluded ones."""
    spoken = re.sub(r'(?<!\S)-("[^"]*"|\S+)', "", judgement.meant)
    return re.findall(r"[\w\u0e00-\u0e7f\u0900-\u0dff]+", fold(spoken))


def distance(one: str, other: str, most: int | None = None) -> int:
    """Return the smallest number of letters to add, drop, change or swap with their neighbour.

    Above ``most``, it is ``most + 1``.
    """
    return OSA.distance(one, other, score_cutoff=most)


def test_there_are_enough_of_every_kind() -> None:
    counts = Counter(each.kind for each in judgements())
    assert set(counts) == KINDS
    assert counts.total() >= 200
    assert min(counts.values()) >= 10
    assert counts["cjk"] >= 30


def test_no_query_is_judged_twice_in_a_kind() -> None:
    counts = Counter((each.kind, each.query) for each in judgements())
    assert [query for query, count in counts.items() if count > 1] == []


@pytest.mark.slow
@pytest.mark.parametrize("judgement", judgements(), ids=lambda each: f"{each.kind}: {each.query}")
def test_wanted_maps_contain_the_intended_words(judgement: Judgement) -> None:
    named = [*judgement.wanted, judgement.never]
    keys = [key for grade in named for key in grade]
    assert all(judgement.wanted)
    assert len(keys) == len(set(keys))
    assert set(keys) <= by_key().keys()
    words = wanted_words(judgement)
    assert words
    lacking = {
        (key, word)
        for grade in judgement.wanted
        for key in grade
        for word in words
        if word not in by_key()[key]
    }
    assert not lacking


@pytest.mark.slow
@pytest.mark.parametrize("judgement", of_kind("deep"), ids=lambda each: each.query)
def test_deep_words_occur_together_in_one_map_only(judgement: Judgement) -> None:
    (key,) = judgement.wanted[0]
    words = set(wanted_words(judgement))
    assert [each for each, text in texts() if words <= set(WORD.findall(text))] == [key]


@pytest.mark.slow
@pytest.mark.parametrize("judgement", of_kind("typo"), ids=lambda each: each.query)
def test_a_typo_is_small_and_is_not_a_word_of_any_map(judgement: Judgement) -> None:
    typed, meant = (WORD.findall(fold(text)) for text in (judgement.query, judgement.meant))
    slips = [(one, other) for one, other in zip(typed, meant, strict=True) if one != other]
    ((typo, word),) = slips
    allowed = 2 if min(len(typo), len(word)) >= 8 else 1
    assert min(len(typo), len(word)) >= 4
    assert 1 <= distance(typo, word) <= allowed
    assert not [each for each in vocabulary() if each.startswith(typo)]
    # No other word in the maps is as near, except other forms of the intended word.
    slip = distance(typo, word)
    like = [each for each in vocabulary() if abs(len(each) - len(typo)) <= slip]
    near = [each for each in like if each[:3] != word[:3]]
    assert [each for each in near if distance(typo, each, slip) <= slip] == []


@pytest.mark.parametrize("judgement", of_kind("inflection"), ids=lambda each: each.query)
def test_an_inflection_is_a_form_of_the_intended_word(judgement: Judgement) -> None:
    typed, meant = (WORD.findall(fold(text)) for text in (judgement.query, judgement.meant))
    for one, other in zip(typed, meant, strict=True):
        assert one[:2] == other[:2]


def test_distance() -> None:
    assert distance("recipe", "recpie") == 1
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3
    assert distance("kitten", "sitting", 1) == 2


def test_filler_titles_match_no_query() -> None:
    """A filler with all words of a query in its title would deserve to be found first."""
    titles = [fold(draft.title or "") for key, draft in maps() if not key]
    asked = [set(wanted_words(each)) for each in judgements() if each.kind != "prefix"]
    held = [set(WORD.findall(title)) for title in dict.fromkeys(titles)]
    assert [words for words in asked if any(words <= title for title in held)] == []


@pytest.mark.slow
def test_the_catalogue_is_the_same_each_time() -> None:
    fillers = [draft for key, draft in maps() if not key]
    assert list(islice(filler_maps(), 300)) == fillers[:300]
    assert named_maps() == {key: draft for key, draft in maps() if key}
