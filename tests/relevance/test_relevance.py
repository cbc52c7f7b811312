"""Search reaches the promised scores, and is no worse than before.

The queries and the wanted maps are in ``judgements.toml``, the catalogue is in ``catalogue.py``.
``python -m tests.relevance`` prints the scores of each kind and the queries with wrong answers.
"""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from mapshelf.query import MAXIMUM_LIMIT
from tests.harness import Service
from tests.relevance.asking import Judged, ask_everything, failures_table, judged, summary_table
from tests.relevance.floor import below_floor
from tests.relevance.judgements import judgements
from tests.relevance.scoring import OVERALL, Answer, Summary, summaries

pytestmark = pytest.mark.slow

PROMISES: Final[dict[str, tuple[str, Callable[[Summary], float], float]]] = {
    "MRR": (OVERALL, lambda found: found.mrr, 0.9),
    "recall": (OVERALL, lambda found: found.recall, 0.97),
    "recall of typos": ("typo", lambda found: found.recall, 0.9),
    "recall of CJK": ("cjk", lambda found: found.recall, 1.0),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """A service with the judged maps."""
    with judged(tmp_path_factory.mktemp("relevance")) as running:
        yield running


@pytest.fixture(scope="module")
def answers(asked: Judged) -> list[Answer]:
    """The answers of the service to all judged queries."""
    return ask_everything(asked)


@pytest.mark.parametrize("promise", PROMISES)
def test_search_reaches_the_promised_scores(promise: str, answers: list[Answer]) -> None:
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
            "If you accept these scores: python -m tests.relevance --write",
            pytrace=False,
        )


def test_every_order_finds_the_same_maps(asked: Judged) -> None:
    """Results in another order than relevance come from another, faster search."""
    for judgement in judgements():
        found = [_found(asked.service, judgement.query, order) for order in ("", "views", "alpha")]
        assert found[0] == found[1] == found[2], judgement.query
        counted = asked.service.maps(query=judgement.query, limit=0)
        assert counted.headers["X-Total-Count"] == found[0][0], judgement.query


def _found(service: Service, query: str, order: str) -> tuple[str, str, set[str]]:
    """Return the number of maps, the corrected query, and the ids of maps unless too many."""
    response = service.maps(query=query, order_by=order, limit=MAXIMUM_LIMIT)
    total = response.headers["X-Total-Count"]
    ids = {found["ID"] for found in response.json()} if int(total) <= MAXIMUM_LIMIT else set()
    return total, response.headers.get("X-Corrected-Query", ""), ids
