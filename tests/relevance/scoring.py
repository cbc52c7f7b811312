"""Scores of answers: three numbers from 0 to 1.

* **reciprocal rank**: 1 if a map of the best grade comes first, 1/2 if the first such map comes
  second, and so on; 0 if none is on the page. Its mean is MRR.
* **recall@10**: the share of the wanted maps, of any grade, that is on the first page. If more than
  ten are wanted, ten of them count as all.
* **order**: the share of pairs of wanted maps with different grades that are in the right order. A
  map that is not found ranks after all found ones; two that are not found are in the wrong order.

An answer with a map that must not be shown scores 0 in all three.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor
from statistics import fmean
from typing import Final, Self

from tests.relevance.judgements import Judgement

PAGE: Final = 10
"""The number of maps that count, those on the first page."""

OVERALL: Final = "all"
"""The name of the scores over all kinds."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one answer; ``order`` is ``None`` if all wanted maps have the same grade."""

    reciprocal_rank: float
    recall: float
    order: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a judged query: the keys of the maps, best first, and their score."""

    judgement: Judgement
    found: tuple[str, ...]

    @property
    def score(self) -> Score:
        """The score of this answer."""
        return score(self.judgement, self.found)

    @property
    def flawless(self) -> bool:
        """Whether all scores are 1."""
        return self.score in {Score(1.0, 1.0, 1.0), Score(1.0, 1.0, None)}


@dataclass(frozen=True, slots=True)
class Summary:
    """The means over some queries, rounded down to four places; ``order`` is 1 if none has any."""

    queries: int
    mrr: float
    recall: float
    order: float

    @classmethod
    def of(cls, scores: Sequence[Score]) -> Self:
        """Return the means of ``scores``."""
        return cls(
            len(scores),
            _mean(each.reciprocal_rank for each in scores),
            _mean(each.recall for each in scores),
            _mean(each.order for each in scores if each.order is not None),
        )


def score(judgement: Judgement, found: Sequence[str]) -> Score:
    """Return the score of the answer ``found``, keys of maps with the best first."""
    page = list(found[:PAGE])
    ordered = len(judgement.wanted) > 1
    if set(page) & judgement.never:
        return Score(0.0, 0.0, 0.0 if ordered else None)
    ranks = {key: rank for rank, key in enumerate(page, 1) if key}
    wanted = set().union(*judgement.wanted)
    return Score(
        max((1 / ranks[key] for key in judgement.wanted[0] if key in ranks), default=0.0),
        len(wanted & ranks.keys()) / min(PAGE, len(wanted)),
        _order(judgement.wanted, ranks) if ordered else None,
    )


def summaries(answers: Sequence[Answer]) -> dict[str, Summary]:
    """Return the means of each kind of query, in the order of the kinds, and over ``OVERALL``."""
    kinds = dict.fromkeys(answer.judgement.kind for answer in answers)
    by_kind = {
        kind: Summary.of([each.score for each in answers if each.judgement.kind == kind])
        for kind in kinds
    }
    return {**by_kind, OVERALL: Summary.of([each.score for each in answers])}


def _order(grades: Sequence[frozenset[str]], ranks: dict[str, int]) -> float:
    pairs = [
        (better, worse)
        for higher, lower in combinations(grades, 2)
        for better in higher
        for worse in lower
    ]
    beyond = PAGE + 1
    right = [ranks.get(better, beyond) < ranks.get(worse, beyond) for better, worse in pairs]
    return sum(right) / len(right)


def _mean(values: Iterable[float]) -> float:
    # Remove the error of binary fractions before rounding down.
    return floor(round(fmean([*values] or [1.0]) * 10_000, 6)) / 10_000
