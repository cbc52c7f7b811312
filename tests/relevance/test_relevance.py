"""Search finds what people mean, as often as we promise and no less often than before.

What is asked and what is wanted stand in ``judgements.toml``, the catalogue in ``catalogue.py``.
``python -m tests.relevance`` prints the scores of each kind and the queries that go wrong.
"""

from collections.abc import Callable
from typing import Final

import pytest

from tests.relevance.asking import ask_everything, failures_table, summary_table
from tests.relevance.floor import below_floor
from tests.relevance.scoring import OVERALL, Answer, Summary, summaries

PROMISES: Final[dict[str, tuple[str, Callable[[Summary], float], float]]] = {
    "MRR": (OVERALL, lambda found: found.mrr, 0.9),
    "recall": (OVERALL, lambda found: found.recall, 0.97),
    "recall of typos": ("typo", lambda found: found.recall, 0.9),
    "recall of CJK": ("cjk", lambda found: found.recall, 1.0),
}


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """What the service answers to every judged query."""
    return ask_everything(tmp_path_factory.mktemp("relevance"))


@pytest.mark.parametrize("promise", PROMISES)
def test_search_is_as_good_as_promised(promise: str, answers: list[Answer]) -> None:
    kind, number, least = PROMISES[promise]
    by_kind = summaries(answers)
    concerned = [answer for answer in answers if kind in {OVERALL, answer.judgement.kind}]
    if number(by_kind[kind]) < least:
        pytest.fail(
            f"{promise} is {number(by_kind[kind])}, should be {least}\n"
            f"{failures_table(concerned)}\n{summary_table(by_kind)}",
            pytrace=False,
        )


def test_search_is_no_worse_than_before(answers: list[Answer]) -> None:
    by_kind = summaries(answers)
    fallen = below_floor(by_kind)
    if fallen:
        kinds = {line.partition(":")[0] for line in fallen}
        concerned = [
            answer for answer in answers if OVERALL in kinds or answer.judgement.kind in kinds
        ]
        lines = "\n".join(fallen)
        pytest.fail(
            f"{lines}\n{failures_table(concerned)}\n"
            "If that is on purpose: python -m tests.relevance --write",
            pytrace=False,
        )
