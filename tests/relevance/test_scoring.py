"""Scores of answers, compared with numbers calculated by hand."""

import pytest

from tests.relevance.judgements import Judgement
from tests.relevance.scoring import OVERALL, Answer, Score, Summary, score, summaries


def judged(*grades: str, never: str = "", kind: str = "any") -> Judgement:
    wanted = tuple(frozenset(grade.split()) for grade in grades)
    return Judgement(kind, "query", wanted, frozenset(never.split()), "query")


TWENTY = " ".join(f"m{number}" for number in range(20))


@pytest.mark.parametrize(
    ("judgement", "found", "expected"),
    [
        (judged("a"), "a", Score(1, 1, None)),
        (judged("a"), "x a", Score(1 / 2, 1, None)),
        (judged("a"), "", Score(0, 0, None)),
        (judged("a"), "1 2 3 4 5 6 7 8 9 a", Score(1 / 10, 1, None)),
        (judged("a"), "1 2 3 4 5 6 7 8 9 10 a", Score(0, 0, None)),
        # Any map of the best grade counts for the reciprocal rank.
        (judged("a b c"), "x c a", Score(1 / 2, 2 / 3, None)),
        # The second grade does not replace the first; before it, it is in the wrong order.
        (judged("a", "b"), "b x a", Score(1 / 3, 1, 0)),
        (judged("a", "b"), "a x b", Score(1, 1, 1)),
        (judged("a", "b"), "b", Score(0, 1 / 2, 0)),
        (judged("a", "b"), "a", Score(1, 1 / 2, 1)),
        (judged("a", "b"), "", Score(0, 0, 0)),
        # Pairs: a-b wrong, a-c wrong, a-d right, b-d right, c-d right; b and c are alike.
        (judged("a", "b c", "d"), "b c a d", Score(1 / 3, 1, 3 / 5)),
        # Ten of twenty count as all.
        (judged(TWENTY), " ".join(TWENTY.split()[:10]), Score(1, 1, None)),
        (judged(TWENTY), "x " + " ".join(TWENTY.split()[:4]), Score(1 / 2, 4 / 10, None)),
        # A map that must not be shown makes all scores 0, but only on the first page.
        (judged("a", never="z"), "a z", Score(0, 0, None)),
        (judged("a", "b", never="z"), "a b z", Score(0, 0, 0)),
        (judged("a", never="z"), "a 2 3 4 5 6 7 8 9 10 z", Score(1, 1, None)),
    ],
)
def test_score(judgement: Judgement, found: str, expected: Score) -> None:
    assert score(judgement, found.split()) == expected


def test_means_by_kind() -> None:
    answers = [
        Answer(judged("a", kind="one"), ("a",)),
        Answer(judged("a", "b", kind="one"), ("x", "a")),
        Answer(judged("a b", kind="two"), ("x", "y", "a")),
    ]
    assert summaries(answers) == {
        "one": Summary(2, mrr=0.75, recall=0.75, order=1.0),
        "two": Summary(1, mrr=0.3333, recall=0.5, order=1.0),
        # (1 + 1/2 + 1/3) / 3 = 0.6111…, (1 + 1/2 + 1/2) / 3 = 0.6666…
        OVERALL: Summary(3, mrr=0.6111, recall=0.6666, order=1.0),
    }
    assert [answer.flawless for answer in answers] == [True, False, False]


def test_means_are_rounded_down_without_binary_errors() -> None:
    assert Summary.of([Score(1, 0.7, None)] * 3 + [Score(1, 0.7, 0)] * 7).recall == 0.7
    assert Summary.of([Score(1, 1, 1)] * 29_999 + [Score(0, 1, 1)]).mrr == 0.9999
