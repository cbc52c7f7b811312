"""Collect visits in the memory of a worker and write them to the store in batches.

Recording a visit only checks headers and computes a hash, so it neither delays a page nor makes it
fail. Every few seconds, the worker writes the collected visits in one transaction. The store
decides which visits count, because it sees all workers. A visit written twice counts once, so after
a failure the same visits are simply sent again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from mapshelf.client_address import Network, Sender, client_address
from mapshelf.clock import milliseconds
from mapshelf.errors import StoreError
from mapshelf.model import DAY, HOUR, Visit, VisitKind
from mapshelf.plurals import noun
from mapshelf.store.contract import VisitCounts
from mapshelf.visits.bot_filter import LONGEST_AGENT, is_bot, may_count
from mapshelf.visits.visitor_key import visit_key, visitor_of

WRITTEN_EVERY: Final = 2.0  # seconds between writes: what a crash may lose

MOST_WAITING_VISITS: Final = 5000  # per worker; further visits do not count

MOST_KNOWN_VISITS: Final = 50_000
"""Maximum number of stored visits that a worker remembers to avoid sending them again."""

MOST_STORED_VISITS: Final = 250_000
"""Maximum number of visits that the store remembers, each for two hours in a few dozen bytes.

Further visits do not count.
"""

AHEAD: Final = 600_000  # milliseconds before its day at which a salt is fetched

PATIENCE: Final = 1.0  # seconds to wait for a salt before the first request

LOGGED_EVERY: Final = 60_000  # milliseconds between log lines about visits that do not count

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Noted:
    """A visit that has not been checked for bots yet, with its User-Agent."""

    visit: Visit
    agent: bytes


class VisitCounter:
    """Records visits and writes them to the store; for use in one event loop."""

    def __init__(
        self,
        store: Callable[[], VisitCounts],
        trusted: Sequence[Network] = (),
        clock: Callable[[], int] = milliseconds,
        *,
        counting: bool = True,
    ) -> None:
        """Create a counter.

        Args:
            store: returns the store, or raises ``StoreUnavailable``.
            trusted: networks of trusted proxies.
            clock: returns the time in milliseconds since 1970-01-01 UTC.
            counting: whether to count. Otherwise, the counter only deletes expired visitor keys
                from the store.
        """
        self._store = store
        self._trusted = trusted
        self._clock = clock
        self._counting = counting
        self._begun = asyncio.Event()
        self._salts: dict[int, bytes] = {}
        self._waiting: dict[bytes, _Noted] = {}
        self._counted: set[bytes] = set()
        self._hour = -1
        self._dropped = 0
        self._logged = 0
        self._behind = False
        self._ended = False
        # A dedicated thread: waiting for the store must not delay anything else.
        self._thread = ThreadPoolExecutor(1, "visits")

    def note(self, sender: Sender, file_id: int, kind: VisitKind) -> None:
        """Record a visit if the request from ``sender`` counts."""
        try:
            if self._counting and may_count(sender, kind):
                self._note(sender, file_id, kind)
        except Exception:
            # A failure here must not prevent the page from being sent.
            log.exception("a visit could not be noted")

    def _note(self, sender: Sender, file_id: int, kind: VisitKind) -> None:
        now = self._clock()
        salt = self._salts.get(now // DAY)
        if salt is None:
            self._dropped += 1
            return
        agent = sender.header(b"user-agent")[:LONGEST_AGENT]
        address = client_address(sender.address(), sender.header(b"x-forwarded-for"), self._trusted)
        hour = now // HOUR
        key = visit_key(salt, visitor_of(address, agent), file_id, kind, hour)
        if key in self._waiting or key in self._counted:
            return
        if len(self._waiting) >= MOST_WAITING_VISITS:
            self._dropped += 1
            return
        self._waiting[key] = _Noted(Visit(key, file_id, kind, hour), agent)

    async def follow(self) -> None:
        """Write the recorded visits every few seconds, until cancelled."""
        while True:
            try:
                await self.write()
            except Exception:
                log.exception("visits could not be counted")
            self._begun.set()
            await asyncio.sleep(WRITTEN_EVERY)

    async def begun(self) -> None:
        """Wait until visits can be recorded, for at most ``PATIENCE`` seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._begun.wait(), PATIENCE)

    async def write(self) -> None:
        """Write the recorded visits; if the store fails, keep them for the next attempt."""
        now = self._clock()
        self._drop_late(now // HOUR)
        noted = dict(self._waiting)
        days = {now // DAY, (now + AHEAD) // DAY} if self._counting else set()
        if noted or now // HOUR != self._hour or days - set(self._salts):
            loop = asyncio.get_running_loop()
            try:
                refused = await loop.run_in_executor(
                    self._thread, self._hand_over, list(noted.values()), days, now
                )
            except StoreError as error:
                self._log_delay(error)
            else:
                self._forget(noted, now // HOUR)
                self._dropped += refused
                self._behind = False
        self._log_dropped(now)

    async def stop(self) -> None:
        """Write the remaining visits and stop. Calling it again is harmless."""
        if self._ended:
            return
        self._ended = True
        await self.write()
        self._logged = 0
        self._dropped += len(self._waiting)
        self._log_dropped(self._clock())
        self._thread.shutdown(wait=True)

    def _hand_over(self, noted: Sequence[_Noted], days: set[int], now: int) -> int:
        """Write visits to the store, in a thread; return how many it dropped for lack of space."""
        store = self._store()
        visits = [one.visit for one in noted if not is_bot(one.agent)]
        self._salts = {day: self._salts.get(day) or store.visitor_salt(day) for day in days}
        return store.count_visits(visits, now, MOST_STORED_VISITS)

    def _forget(self, noted: dict[bytes, _Noted], hour: int) -> None:
        for key in noted:
            self._waiting.pop(key, None)
        if hour != self._hour or len(self._counted) > MOST_KNOWN_VISITS:
            self._counted.clear()
        self._hour = hour
        self._counted.update(noted)

    def _drop_late(self, hour: int) -> None:
        """Drop visits that the store would no longer count."""
        late = [key for key, one in self._waiting.items() if one.visit.hour < hour - 1]
        for key in late:
            del self._waiting[key]
        self._dropped += len(late)

    def _log_delay(self, error: StoreError) -> None:
        if not self._behind and self._waiting:
            waiting = len(self._waiting)
            visits = noun(waiting, "visit is", "visits are")
            log.warning("%d %s waiting to be counted: %s", waiting, visits, error)
            self._behind = True

    def _log_dropped(self, now: int) -> None:
        if self._dropped and now - self._logged >= LOGGED_EVERY:
            log.warning(
                "%d %s not counted: the store was unreachable, or there were too many",
                self._dropped,
                noun(self._dropped, "visit was", "visits were"),
            )
            self._dropped, self._logged = 0, now
