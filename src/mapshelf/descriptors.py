"""File descriptor limits: raise the limit, and derive the number of connections from it.

Many systems allow 1024 by default, and more on request. A worker without free descriptors can
neither accept connections nor open a snapshot, so some are reserved and all others are available
for connections.
"""

import resource
import sys
from contextlib import suppress
from typing import Final

from mapshelf.errors import TooFewDescriptors

RESERVED: Final = 512
"""Descriptors of a worker that are not for connections. A snapshot needs about fifty, and three can
be open while one replaces another and requests still read the previous one. Each large response
needs three more (``streaming.MOST_BODIES``). The others are for files that arrive, the store, the
render worker, and Python itself."""

MIN_CONNECTIONS: Final = 64
"""Connections that a worker must be able to hold to be of use."""

MAX_CONNECTIONS: Final = 4096
"""Connections that a worker holds at once, if there are enough descriptors. Slow ones count, so it
is far above what is ever busy."""

MIN_DESCRIPTORS: Final = RESERVED + MIN_CONNECTIONS
"""Descriptors without which the service does not start."""


def raise_descriptor_limit() -> None:
    """Raise the limit of this process and its children as far as the system allows.

    Raises:
        TooFewDescriptors: it is still too low to serve.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems refuse their own hard limit: keep the soft
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if _limit() < MIN_DESCRIPTORS:
        raise TooFewDescriptors(
            f"{_limit()} file descriptors are too few, {MIN_DESCRIPTORS} are needed:"
            " raise the limit (ulimit -n, or LimitNOFILE of systemd)"
        )


def connection_limit() -> int:
    """Return how many connections a worker may hold: a child of this process, or this process."""
    return max(MIN_CONNECTIONS, min(MAX_CONNECTIONS, _limit() - RESERVED))


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
