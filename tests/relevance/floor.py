"""The minimum scores (``floor.json``), so that search does not get worse unnoticed."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

import orjson

from tests.relevance.scoring import Summary

FILE: Final = Path(__file__).resolve().parent / "floor.json"
NUMBERS: Final = ("mrr", "recall", "order")


def write_floor(by_kind: dict[str, Summary]) -> None:
    """Save these scores as the minimum."""
    kinds = {kind: asdict(summary) for kind, summary in by_kind.items()}
    FILE.write_bytes(orjson.dumps(kinds, option=orjson.OPT_INDENT_2) + b"\n")


def below_floor(by_kind: dict[str, Summary]) -> list[str]:
    """Return a line for every score that is below its minimum, or has no minimum."""
    floor = orjson.loads(FILE.read_bytes())
    return [
        f"{kind}: {number} is {getattr(summary, number):.4f}, was {least:.4f}"
        for kind, summary in by_kind.items()
        for number in NUMBERS
        for least in [floor.get(kind, {}).get(number, 1.0)]
        if getattr(summary, number) < least
    ]
