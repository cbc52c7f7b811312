"""Returning memory that a process has freed but keeps.

The search engine fills and frees buffers with every snapshot, most of all while one is compacted.
glibc keeps such memory, and small blocks between the freed ones let it keep more and more: after
two compactions of 2,000 maps, 63 MB that nobody used.
"""

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

INTERVAL: Final = 60.0
"""Seconds between two returns."""


def _malloc_trim() -> Callable[[int], int] | None:
    """Return the function of glibc, ``None`` on systems without it (macOS, Alpine)."""
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim


@dataclass(slots=True)
class HeapTrimmer:
    """Returns freed memory to the system.

    Attributes:
        next_return: when (``time.monotonic``) to do so.
    """

    next_return: float = 0.0
    _trim: Callable[[int], int] | None = field(default_factory=_malloc_trim)

    def trim_due(self) -> None:
        """Return freed memory, unless that was done recently."""
        now = time.monotonic()
        if self._trim is not None and now >= self.next_return:
            self._trim(0)
            self.next_return = now + INTERVAL
