"""File descriptors: how many this process may have, and how many of them may be connections.

Systems often allow 1024 by default and many more to whoever asks. Whoever runs out of them can
neither take connections nor open a snapshot, so connections get what is left when all else has
had its share.
"""

import resource
import sys
from contextlib import suppress
from typing import Final

from mapshelf.errors import TooFewDescriptors

RESERVED: Final = 256
"""Descriptors of a worker that are not for connections. A snapshot takes about fifty, and there
are three while one takes the place of another and requests still read the one before; the rest is
for the store, its connections, what draws pictures, and Python itself."""

FEWEST_CONNECTIONS: Final = 64
"""Connections that a worker must be able to hold to be of use."""

LEAST: Final = RESERVED + FEWEST_CONNECTIONS
"""Descriptors without which the service does not start."""


def raise_limit() -> None:
    """Take as many descriptors as the system lets this process and its children have.

    Raises:
        TooFewDescriptors: they are not enough to serve.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems allow less than they say: then all as it was
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if _limit() < LEAST:
        raise TooFewDescriptors(
            f"{_limit()} file descriptors are too few, {LEAST} are needed:"
            " raise the limit (ulimit -n, or LimitNOFILE of systemd)"
        )


def connections(most: int) -> int:
    """Return how many connections a worker of this process may hold, no more than ``most``."""
    return max(FEWEST_CONNECTIONS, min(most, _limit() - RESERVED))


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
