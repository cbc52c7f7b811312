"""Names by which people know each other, and programs: no two should look the same.

Letters that show nothing are the cheapest way to look like another. No name that somebody chooses
may have one.
"""

import re
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that show nothing, though they count as printable."""


def has_invisible(name: str) -> bool:
    """Tell whether there is something in a name that nobody sees."""
    return _INVISIBLE.search(name) is not None


def without_invisible(name: str) -> str:
    """Return a name without what nobody sees."""
    return _INVISIBLE.sub("", name)
