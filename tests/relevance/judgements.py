"""Read ``judgements.toml``, which defines the maps that people want for each query."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).resolve().parent / "judgements.toml"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A query, and the maps that a person who types it wants.

    Attributes:
        kind: what makes the query hard.
        query: as it is typed.
        wanted: keys of maps by grade, the most wanted first.
        never: keys of maps that must not be shown.
        meant: the intended words, as the maps have them.
    """

    kind: str
    query: str
    wanted: tuple[frozenset[str], ...]
    never: frozenset[str]
    meant: str


@cache
def judgements() -> tuple[Judgement, ...]:
    """Return all judgements, by kind and in the order of the file."""
    kinds = tomllib.loads(FILE.read_text("utf-8"))
    return tuple(
        Judgement(
            kind=kind,
            query=row["query"],
            wanted=tuple(frozenset(grade.split()) for grade in row["wanted"]),
            never=frozenset(row.get("never", [])),
            meant=row.get("meant", row["query"]),
        )
        for kind, table in kinds.items()
        for row in table["queries"]
    )
