"""The snapshot that this worker answers from, replaced by the next one without a pause.

A request uses the snapshot that is current when it arrives until it is finished; the next one is
opened meanwhile. Responses are cached with the snapshot they were made from, so a repeated request
costs a look-up, and nothing has to be invalidated. A snapshot is verified before it is used
(``snapshot/format/verification.py``).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from mapshelf.api.http import Request, Response
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import SnapshotError, SnapshotMissing, SnapshotUnavailable
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.verification import VerifiedSnapshots
from mapshelf.snapshot.read import Snapshot

POLL_INTERVAL: Final = 0.1
"""Seconds between checks which snapshot is current."""

FIRST_SNAPSHOT_AWAITED: Final = 0.5
"""Seconds to wait for the first snapshot. If verifying it takes longer, the service answers
meanwhile that it is not ready."""

LOOK_INTERVAL: Final = 0.05
"""Seconds between checks whether another thread has opened the first snapshot."""

RESPONSES_SIZE: Final = 16 << 20
"""Bytes of responses to cache."""

RESPONSE_OVERHEAD: Final = 1024
"""Bytes counted for a response in addition to its body: an empty page is mostly headers."""

LARGEST_CACHED: Final = 1 << 20
"""Maximum of bytes of a cached response: a larger one would displace hundreds of others."""

MOST_DEFERRED: Final = 256
"""Maximum of requests to remember that belong into another queue."""

Key = tuple[str, bytes]
"""The key of a cached response: path and query string, separately, so that no two requests have the
same key."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """The rest of making a response, if it belongs into another queue.

    Attributes:
        queue: where the response is made.
        make: makes it.
        lasting: whether the same is true of every equal request, until the next snapshot.
    """

    queue: WorkQueue
    make: Callable[[], Response]
    lasting: bool = False


Make = Callable[[], Response | Deferred]
"""Makes a response in a thread."""

log = logging.getLogger(__name__)


class CachedSnapshot:
    """A snapshot with the responses made from it so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._responses: dict[Key, Response] = {}
        self._deferred: dict[Key, Deferred] = {}
        self._size = 0

    def cached(self, path: str, query_string: bytes) -> Response | None:
        """Return the response to the same request, if it is cached and can still be sent."""
        response = self._responses.get((path, query_string))
        if response is not None and response.file is not None and not response.is_complete():
            return None
        return response

    def cache(self, key: Key, response: Response) -> None:
        """Cache a response; if there is no room, remove the oldest ones."""
        size = _size(key, response)
        if size > LARGEST_CACHED:
            return
        replaced = self._responses.pop(key, None)
        self._size += size - (_size(key, replaced) if replaced else 0)
        self._responses[key] = response
        while self._size > RESPONSES_SIZE:
            oldest = next(iter(self._responses))
            self._size -= _size(oldest, self._responses.pop(oldest))

    async def response(
        self, request: Request, queue: WorkQueue, make: Make, query_string: bytes | None = None
    ) -> Response:
        """Return the response to a request: cached, or made once for all that wait for it.

        Args:
            request: the request.
            queue: where it is made.
            make: makes it.
            query_string: the part of the query string that it depends on, by default all of it.

        Raises:
            Overloaded: the queue is full.
            ClientDisconnected: nobody waits for it any longer.
        """
        key = request.path, request.query_string if query_string is None else query_string
        response = self.cached(*key)
        if response is not None:
            return response
        place = (self, *key)
        made: Response | Deferred | None = self._deferred.get(key)
        if made is None:
            made = await queue.result(place, make, request.disconnection)
        if isinstance(made, Deferred):
            self._remember(key, made)
            made = await made.queue.result(place, made.make, request.disconnection)
        if not made.provisional:
            self.cache(key, made)
        return made

    def _remember(self, key: Key, deferred: Deferred) -> None:
        """Remember the queue, so that the next equal request goes there directly."""
        if not deferred.lasting:
            return
        if len(self._deferred) >= MOST_DEFERRED:
            self._deferred.clear()
        self._deferred[key] = deferred


def _size(key: Key, response: Response) -> int:
    """Return about how many bytes caching a response takes."""
    size = len(key[0]) + len(key[1])
    for one in filter(None, (response, response.smaller)):
        size += RESPONSE_OVERHEAD + len(one.body) + sum(len(value) for _, value in one.headers)
    return size


class CurrentSnapshot:
    """The current snapshot of a directory."""

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self._snapshot: CachedSnapshot | None = None
        self._refused = ""
        self._lacking = False
        self._refreshing = Lock()
        self._verified = VerifiedSnapshots(directory)
        self._verifying = False

    def get(self) -> CachedSnapshot:
        """Return the snapshot to answer from.

        Raises:
            SnapshotMissing: there is none yet.
        """
        if self._snapshot is None:
            # Another worker may have answered from the first snapshot already, and its client must
            # not get the response from this one that there is none. So all requests wait here
            # once, but not while the snapshot is being verified, when no worker answers.
            self._take_up_first()
        if self._snapshot is None:
            raise SnapshotMissing("no snapshot has been published yet")
        return self._snapshot

    def refresh(self) -> None:
        """Switch to the current snapshot if it is another than the one in use.

        A snapshot that cannot be used is reported once, in the log and to the builder. A lack of
        system resources is logged once, and the switch is tried again.
        """
        with self._refreshing:
            self._refresh()

    def close(self) -> None:
        """Stop following published snapshots; the one in use stays open."""
        with self._refreshing:
            self._verified.close()

    def _take_up_first(self) -> None:
        taken = False
        while not taken:
            if self._verifying:
                raise SnapshotMissing("the snapshot is being verified")
            taken = self._refreshing.acquire(timeout=LOOK_INTERVAL)
        try:
            if self._snapshot is None:
                self._refresh()
        finally:
            self._refreshing.release()

    def _refresh(self) -> None:
        try:
            self._take_up()
        except Exception:
            # No error may keep this worker on an old snapshot for good.
            log.exception("looking for a new snapshot failed")

    def _take_up(self) -> None:
        name = ""
        try:
            name = self._directory.current()
            in_hand = self._snapshot.snapshot.name if self._snapshot else None
            if name not in (in_hand, self._refused):
                self._verify(name)
                self._snapshot = CachedSnapshot(Snapshot(self._directory.folder(name)))
            self._lacking = False
        except SnapshotUnavailable as error:
            if not self._lacking:
                log.warning("snapshot %s is taken up when it can be: %s", name, error)
            self._lacking = True
        except SnapshotError as error:
            # Between reading the name and opening, the next one may have taken its place.
            with contextlib.suppress(SnapshotError):
                if name and self._directory.current() == name:
                    if not self._directory.is_refused(name):  # nor reported by another worker
                        log.warning("snapshot %s cannot be used: %s", name, error)
                    self._refused = name
                    self._directory.refuse(name)

    def _verify(self, name: str) -> None:
        self._verifying = True
        try:
            self._verified.verify_once(name)
        finally:
            self._verifying = False

    async def begin(self) -> None:
        """Open the current snapshot, and wait for that if it does not take long."""
        looking = asyncio.get_running_loop().run_in_executor(None, self.refresh)
        await asyncio.wait({looking}, timeout=FIRST_SNAPSHOT_AWAITED)

    async def follow(self) -> None:
        """Switch to each published snapshot, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            await loop.run_in_executor(None, self.refresh)
