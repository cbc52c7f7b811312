"""Hides maps that were hidden, removed or deleted before a new snapshot without them is ready.

A snapshot of a large catalogue takes seconds. A user or an administrator who withdraws a map must
not have to wait for it: the map disappears from its own addresses at once. Lists and searches
follow with the next snapshot.
"""

import asyncio
import logging
import time
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Final

from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.api.shared_answer import SharedAnswer
from mapshelf.api.waiting import FileChanges
from mapshelf.errors import StoreError
from mapshelf.store.contract import ChangeFeed

MOST_AT_ONCE: Final = 1000
"""Maps to query at once."""

LOOK_INTERVAL: Final = 0.2
"""Seconds between checks. The store is queried less often, once for all workers of the node. While
a store that reports writes is not written to, there are none."""

AFTER_FAILURE: Final = 1.0
"""Seconds to pause if the store does not respond: meanwhile no map can be withdrawn either."""

log = logging.getLogger(__name__)


class Withdrawals:
    """Keeps a worker informed of withdrawn maps."""

    def __init__(self, snapshot: CurrentSnapshot, note: Path) -> None:
        """Update ``snapshot``; ``note`` is a file that all workers of the node share."""
        self._snapshot = snapshot
        self._note = note

    async def follow(self, store: ChangeFeed) -> None:
        """Check at intervals, until cancelled."""
        written = store.written_file
        with closing(FileChanges(written)) if written else nullcontext() as changes:
            await self._follow(store, changes)

    async def _follow(self, store: ChangeFeed, changes: FileChanges | None) -> None:
        last = SharedAnswer(
            lambda: str(store.last_withdrawal()), store.last_withdrawal_age, self._note
        )
        loop, pause = asyncio.get_running_loop(), 0.0
        # For so long, the workers may share an answer from before a change.
        shared = store.last_withdrawal_age + LOOK_INTERVAL
        busy_until, seen = time.monotonic() + shared, self._state(store)
        while True:
            if changes is not None and time.monotonic() > busy_until:
                while self._state(store) == seen and not await changes.wait():
                    pass
                busy_until, seen = time.monotonic() + shared, self._state(store)
            await asyncio.sleep(pause)
            pause = LOOK_INTERVAL
            try:
                if not self._is_up_to_date(last):
                    await loop.run_in_executor(None, self._look, store, last)
            except StoreError as error:
                log.debug("which maps were hidden cannot be asked now: %s", error)
                pause, seen = AFTER_FAILURE, ()
            except Exception:
                # No error may stop this worker from learning about later withdrawals.
                log.exception("looking for hidden maps failed")
                pause, seen = AFTER_FAILURE, ()

    def _state(self, store: ChangeFeed) -> tuple[object, ...]:
        """Return what differs after a write that was not reported, or with another snapshot."""
        return store.written_stamp(), self._snapshot.withdrawals_after

    def _is_up_to_date(self, last: SharedAnswer) -> bool:
        """Return whether the snapshot is up to date; this wakes no thread."""
        noted, after = last.noted(), self._snapshot.withdrawals_after
        return after is None or (noted is not None and int(noted.value) <= after)

    def _look(self, store: ChangeFeed, last: SharedAnswer) -> None:
        newest = int(last.current().value)
        while (after := self._snapshot.withdrawals_after) is not None and after < newest:
            found = store.withdrawn(after, MOST_AT_ONCE)
            if not found:  # visible again by now
                return
            self._snapshot.withdraw({public_id: revision for revision, _, public_id in found})
