"""Responses that are prepared for each new snapshot, because clients have just requested them.

A slow response that many clients want, such as the home page, must not delay them and the others
behind them after each publication.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

from mapshelf.api.http import Request, Response
from mapshelf.errors import SnapshotError, StoreError
from mapshelf.lru_cache import LRUCache
from mapshelf.snapshot.read import Snapshot

PREPARED_FOR: Final = 60.0
"""Seconds after a request during which its response is prepared."""

MOST_PREPARED: Final = 4
"""Most responses that are prepared."""

Key = tuple[str, bytes]
"""The key of a response: path and query string, separately, so that no two requests have the same
key."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Popular:
    """How to make a response, ``until`` that time (``time.monotonic``)."""

    key: Key
    make: Callable[[Snapshot], object]
    until: float


class PopularResponses:
    """The requests whose responses are prepared."""

    def __init__(self) -> None:
        self._popular: LRUCache[Key, _Popular] = LRUCache(MOST_PREPARED)

    def note(self, request: Request, make: Callable[[Snapshot], object]) -> None:
        """Note a request, and what makes the response to it, or something else if that is slow."""
        key = request.path, request.query_string
        self._popular.put(key, _Popular(key, make, monotonic() + PREPARED_FOR))

    def of(self, snapshot: Snapshot) -> Iterator[tuple[Key, Response]]:
        """Make the responses of a snapshot; those that fail are left out, and made on request."""
        now = monotonic()
        for one in self._popular.values():
            if now < one.until:
                try:
                    response = one.make(snapshot)
                except (StoreError, SnapshotError) as error:
                    log.info("%s is not ready with the new snapshot: %s", one.key[0], error)
                else:
                    if isinstance(response, Response):
                        yield one.key, response
