"""Rejects invisible characters in the names of users and programs, to prevent impersonation.

A character that shows nothing is the easiest way to make a name look like another one.
"""

import re
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that show nothing, although Unicode counts them as printable."""


def has_invisible(name: str) -> bool:
    """Return whether a name has an invisible character."""
    return _INVISIBLE.search(name) is not None


def without_invisible(name: str) -> str:
    """Return a name without its invisible characters."""
    return _INVISIBLE.sub("", name)
