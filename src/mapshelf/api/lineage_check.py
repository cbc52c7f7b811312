"""Stops answering from a snapshot that shows changes which the store lacks.

An older copy of the database may have been restored. New changes then have revisions that the
snapshot has seen, so a map that became private would not be noticed until the snapshot is rebuilt,
and lists would show what the restored catalogue does not. Until then, this worker responds like one
without a snapshot.
"""

import logging
import time

from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.store.contract import ChangeFeed

log = logging.getLogger(__name__)


class LineageCheck:
    """Compares the snapshot of a worker with the store, after a change of either.

    Attributes:
        is_pending: whether one of them has changed since the last comparison.
    """

    def __init__(self, snapshot: CurrentSnapshot, store: ChangeFeed) -> None:
        self._snapshot = snapshot
        self._store = store
        self._compared = "", ""
        self._next = 0.0
        self.is_pending = False

    def is_due(self, mark: str) -> bool:
        """Return whether to compare now; while all is written to, that is not after each write.

        Args:
            mark: that of the store's newest change (``Newest.mark``).
        """
        latest = self._snapshot.latest
        self.is_pending = latest is not None and self._compared != (latest.name, mark)
        return self.is_pending and time.monotonic() >= self._next

    def compare(self, mark: str) -> None:
        """Compare if that is due; start or stop answering from the snapshot.

        Raises:
            StoreError: the store does not respond.
        """
        snapshot = self._snapshot.latest
        if snapshot is None or not self.is_due(mark):
            return
        if not self._store.has_diverged(*snapshot.seen):
            self._snapshot.take_back(snapshot)
        elif self._snapshot.in_use is not None:
            log.warning("the database lacks changes of the snapshot, which is no longer used")
            self._snapshot.set_aside(snapshot)
        self._next = time.monotonic() + self._store.last_withdrawal_age
        self._compared, self.is_pending = (snapshot.name, mark), False
