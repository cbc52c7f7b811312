"""The option ``--rate-limit`` of ``serve``: how many requests a client may send."""

import argparse
import re
from collections.abc import Iterable
from typing import Final

from mapshelf.settings import RECOMMENDED_LIMITS, Budget, RateLimit

RECOMMENDED: Final = "recommended"
"""Sets all limits that we recommend."""

MOST_REQUESTS: Final = 1_000_000
MOST_SECONDS: Final = 86_400

_WORD: Final = re.compile(r"([a-z-]+)=(?:(off)|([0-9]{1,7})/([0-9]{1,5}))", re.ASCII)


def add_rate_limit_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    names = ", ".join(budget.value for budget in Budget)
    parser.add_argument(
        "--rate-limit",
        metavar="WHAT=REQUESTS/SECONDS",
        type=_checked,
        action="append",
        default=[],
        help=f"requests that a client may send, for example api=600/60; WHAT is one of {names}. "
        f"'{RECOMMENDED}' sets the recommended limits, api=off removes one; may be repeated; "
        "default: no limits",
    )


def rate_limits(words: Iterable[str]) -> dict[Budget, RateLimit]:
    """Return the limits that the option sets; later words override earlier ones."""
    limits: dict[Budget, RateLimit] = {}
    for word in words:
        if word == RECOMMENDED:
            limits.update(RECOMMENDED_LIMITS)
            continue
        budget, limit = _read(word)
        limits.pop(budget, None)
        if limit is not None:
            limits[budget] = limit
    return limits


def _checked(word: str) -> str:
    """Check a word of the option, and return it unchanged."""
    if word != RECOMMENDED:
        _read(word)
    return word


def _read(word: str) -> tuple[Budget, RateLimit | None]:
    """Return the budget that a word limits, and the limit; ``None`` for no limit.

    Raises:
        ArgumentTypeError: it is not well-formed.
    """
    found = _WORD.fullmatch(word)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"must be like api=600/60, api=off, or {RECOMMENDED}, not {word!r}"
        )
    name, off, requests, seconds = found.groups()
    if name not in list(Budget):
        names = ", ".join(budget.value for budget in Budget)
        raise argparse.ArgumentTypeError(f"must be one of {names}, not {name!r}")
    if off:
        return Budget(name), None
    limit = RateLimit(int(requests), int(seconds))
    if not (0 < limit.requests <= MOST_REQUESTS and 0 < limit.seconds <= MOST_SECONDS):
        raise argparse.ArgumentTypeError(
            f"must be 1 to {MOST_REQUESTS} requests in 1 to {MOST_SECONDS} seconds, not {word!r}"
        )
    return Budget(name), limit
