"""How many examples tests try: few while you work, more where nobody waits.

``--hypothesis-profile`` chooses a profile by its name: ``fast``, ``default``, ``full`` or, before a
release, ``thorough``. A test that needs another number than the profile's asks ``examples`` for it,
one over many real files asks ``some``, one over all combinations a ``share`` in each turn, so that
they follow the profile.

Every profile is derandomized: a test tries the same examples each time, on every machine. None has
a deadline, nor takes slow examples for a fault: machines differ, and are busy with other things.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from hypothesis import HealthCheck, settings

T = TypeVar("T")

PERCENT: Final = {"fast": 10, "default": 25, "full": 100, "thorough": 1000}
"""How many examples a profile tries of those that ``full`` tries."""


def register_profiles() -> None:
    """Make the profiles known, and load the default, which the option may replace."""
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
    """Return the same where an example takes a tenth of a second or more: a third of them.

    With ``full`` there are as many as of others.
    """
    return max(1, examples(number) if is_full() else examples(number) // 3)


def is_full() -> bool:
    """Tell whether everything is to be tried, however long it takes."""
    return settings().max_examples >= PERCENT["full"]


def share(found: Sequence[T], turn: int) -> list[T]:
    """Return the part of ``found`` that it is the turn of, every fourth with ``default``.

    With ``full`` that is all of it. As many turns as the step is wide have seen everything, so let
    a test that has several (its parameters, its rounds) count them.
    """
    apart = 1 if is_full() else PERCENT["full"] // settings().max_examples
    return list(found[turn % apart :: apart])


def some(found: Sequence[T], number: int) -> list[T]:
    """Return some of ``found``, evenly spread: ``number`` of them with ``full``."""
    chosen = min(examples(number), len(found))
    return [found[place * len(found) // chosen] for place in range(chosen)]
