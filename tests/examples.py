"""How many examples hypothesis tries: few while you work, more where nobody waits.

``--hypothesis-profile`` chooses a profile by its name: ``fast``, ``default`` or ``ci``. A test that
needs another number than the profile's asks ``examples`` for it, so that it follows the profile.

Every profile is derandomized: a test tries the same examples each time, on every machine. None has
a deadline: machines differ, and are busy with other things.
"""

from typing import Final

from hypothesis import settings

PERCENT: Final = {"fast": 10, "default": 100, "ci": 200}
"""How many examples a profile tries of those the default tries."""


def register_profiles() -> None:
    """Make the profiles known, and load the default, which the option may replace."""
    for name, percent in PERCENT.items():
        settings.register_profile(name, max_examples=percent, deadline=None, derandomize=True)
    settings.load_profile("default")


def examples(number: int) -> int:
    """Return how many examples the profile tries where the default tries ``number``."""
    return max(1, number * settings().max_examples // PERCENT["default"])
