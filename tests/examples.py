"""How many examples tests try: few while you work, more when nobody waits.

``--hypothesis-profile`` selects a profile: ``fast``, ``default``, ``full`` or, before a release,
``thorough``. To follow it, a test that needs another number than the profile's calls ``examples``
or ``few``, a test with many real files calls ``some``, and a test with all combinations calls
``share``.

Every profile is derandomized: a test tries the same examples each time, on every machine, if the
same modules are imported. Hypothesis also tries constants from our modules, so a test may try other
examples when it runs alone. To keep one that failed, add it to the test with ``@example``. No
profile has a deadline or rejects slow examples, because machines differ and may be busy.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from hypothesis import HealthCheck, settings

T = TypeVar("T")

PERCENT: Final = {"fast": 10, "default": 25, "full": 100, "thorough": 1000}
"""The number of examples that each profile tries, in per cent of ``full``."""


def register_profiles() -> None:
    """Register the profiles, and load the default, which the option can replace."""
    for name, percent in PERCENT.items():
        settings.register_profile(
            name,
            max_examples=percent,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile("default")


def examples(number: int) -> int:
    """Return how many examples the profile tries where ``full`` tries ``number``."""
    return max(1, number * settings().max_examples // PERCENT["full"])


def few(number: int) -> int:
    """Return a third of ``examples``, for examples that take a tenth of a second or more.

    With ``full``, return all of them.
    """
    return max(1, examples(number) if is_full() else examples(number) // 3)


def is_full() -> bool:
    """Return whether everything is to be tried, however long it takes."""
    return settings().max_examples >= PERCENT["full"]


def share(found: Sequence[T], turn: int) -> list[T]:
    """Return a part of ``found``: all of it with ``full``, every fourth one with ``default``.

    Each ``turn`` selects another part. A test with several parameters or rounds numbers them, so
    that together they try everything.
    """
    apart = 1 if is_full() else PERCENT["full"] // settings().max_examples
    return list(found[turn % apart :: apart])


def some(found: Sequence[T], number: int) -> list[T]:
    """Return some of ``found``, evenly spread: ``number`` of them with ``full``."""
    chosen = min(examples(number), len(found))
    return [found[place * len(found) // chosen] for place in range(chosen)]
