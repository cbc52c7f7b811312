"""Send every judged query to the service over HTTP, as any client would."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.harness import Service, Shelf, serve, shelf_with
from tests.relevance.catalogue import all_maps
from tests.relevance.judgements import Judgement, judgements
from tests.relevance.scoring import OVERALL, PAGE, Answer, Summary


@dataclass(frozen=True, slots=True)
class Judged:
    """A running service with the judged maps.

    Attributes:
        service: the service.
        keys: the key of each map, by its public id.
    """

    service: Service
    keys: dict[str, str]


@contextmanager
def judged(folder: Path) -> Iterator[Judged]:
    """Build the catalogue in ``folder`` and run a service for it."""
    with shelf_with(folder) as shelf:
        keys = _fill(shelf)
        with serve(shelf) as service:
            yield Judged(service, keys)


def ask_everything(asked: Judged) -> list[Answer]:
    """Return the answer to every query."""
    return [Answer(each, _ask(asked, each)) for each in judgements()]


def failures_table(answers: list[Answer]) -> str:
    """Return the answers that are not perfect, the worst first, as a table.

    Maps without a judgement are shown by their title; ``>`` separates grades.
    """
    faulty = [answer for answer in answers if not answer.flawless]
    faulty.sort(key=_badness)
    kind_width = max((len(answer.judgement.kind) for answer in faulty), default=0)
    lines = []
    for answer in faulty:
        wanted, score = answer.judgement, answer.score
        grades = " > ".join(" ".join(sorted(grade)) for grade in wanted.wanted)
        never = f", never {' '.join(sorted(wanted.never))}" if wanted.never else ""
        order = "   - " if score.order is None else f"{score.order:5.2f}"
        lines += [
            f"{wanted.kind:{kind_width}} {score.reciprocal_rank:5.2f} {score.recall:5.2f} {order}"
            f"  {wanted.query}",
            f"{'':{kind_width}} wanted {grades}{never}",
            f"{'':{kind_width}} got    {' | '.join(answer.found[:PAGE]) or 'nothing'}",
        ]
    return "\n".join(lines)


def summary_table(by_kind: dict[str, Summary]) -> str:
    """Return the scores of each kind as a table."""
    width = max(map(len, by_kind))
    rows = [f"{'kind':{width}} queries    MRR recall@10  order"]
    rows += [
        f"{kind:{width}} {each.queries:7} {each.mrr:6.4f} {each.recall:9.4f} {each.order:6.4f}"
        for kind, each in by_kind.items()
        if kind != OVERALL
    ]
    total = by_kind[OVERALL]
    last = f"{OVERALL:{width}} {total.queries:7} {total.mrr:6.4f} {total.recall:9.4f}"
    return "\n".join([*rows, f"{last} {total.order:6.4f}"])


def _fill(shelf: Shelf) -> dict[str, str]:
    """Put all maps into ``shelf``; return the key of each by its public id."""
    maps = all_maps()
    ids = shelf.put(*(draft for _, draft in maps))
    shelf.publish()
    return {
        public_id: key or f"({draft.title})"
        for public_id, (key, draft) in zip(ids, maps, strict=True)
    }


def _ask(asked: Judged, judgement: Judgement) -> tuple[str, ...]:
    response = asked.service.maps(query=judgement.query, limit=PAGE)
    assert response.status_code == 200, (judgement.query, response.text)
    return tuple(asked.keys[found["ID"]] for found in response.json())


def _badness(answer: Answer) -> tuple[float, float, float]:
    order = 1.0 if answer.score.order is None else answer.score.order
    return answer.score.recall, answer.score.reciprocal_rank, order
