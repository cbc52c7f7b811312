"""The snapshot that this worker answers from, replaced by newer ones without a pause.

A request uses the snapshot that is current when it arrives; the next one is opened in the
background. Responses are cached with their snapshot, so a repeated request costs one look-up, and
nothing has to be invalidated. The least recently requested responses are evicted first. A snapshot
is verified before it is used (``snapshot/format/verification.py``).
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from threading import Lock
from typing import Final

from mapshelf.api.http import Request, Response
from mapshelf.api.popular_responses import Key, PopularResponses
from mapshelf.api.waiting import LONGEST, POLL_INTERVAL, FileChanges
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import SnapshotError, SnapshotMissing, SnapshotUnavailable
from mapshelf.lru_cache import LRUCache
from mapshelf.metrics.counts import OperationCounts
from mapshelf.model import User
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.verification import VerifiedSnapshots
from mapshelf.snapshot.read import Record, Snapshot

FIRST_SNAPSHOT_AWAITED: Final = 0.5
"""Seconds to wait for the first snapshot. If verifying it takes longer, the service reports
meanwhile that it is not ready."""

LOOK_INTERVAL: Final = 0.05
"""Seconds between checks whether another thread has opened the first snapshot."""

RESPONSES_SIZE: Final = 16 << 20
"""Maximum total size of cached responses, in bytes."""

RESPONSE_OVERHEAD: Final = 1024
"""Bytes counted for a response in addition to its body: an empty page is mostly headers."""

LARGEST_CACHED: Final = 1 << 20
"""Maximum size of a cached response in bytes: a larger one would evict hundreds of others."""

MOST_USERS: Final = 256
"""Most users for whom the response to the same request is cached."""

MOST_DEFERRED: Final = 256
"""Most requests to remember that belong into another queue."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """The remaining work of making a response, to be run in another queue.

    Attributes:
        queue: where the response is made.
        make: makes it, or returns what remains for a third queue.
        lasting: whether this applies to every equal request until the next snapshot. So ``make``
            reads what it needs of the store itself.
    """

    queue: WorkQueue
    make: "MakeResponse"
    lasting: bool = False


MakeResponse = Callable[[], Response | Deferred]
"""Makes a response in a thread."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CachedResponse:
    """A cached response.

    Attributes:
        response: the response, ``None`` if each user gets a different one.
        size: its approximate size in memory, in bytes.
        of_users: the responses by user if each gets a different one.
        counts: counts requests for it, once it is known that it can be sent unchanged to every
            client, or to its user, if the client may ``GET`` it (``rsgi.py``).
        scope: the scope that a token needs for that, ``None`` if no token is needed.
    """

    response: Response | None
    size: int
    of_users: LRUCache[User, Response] | None = None
    counts: OperationCounts | None = None
    scope: str | None = None

    def for_user(self, user: User | None) -> Response | None:
        """Return the response to a request of ``user``, ``None`` if that is not cached."""
        if self.of_users is None:
            return self.response
        return None if user is None else self.of_users.get(user)


class CachedSnapshot:
    """A snapshot with the responses made from it so far.

    Attributes:
        snapshot: the snapshot.
        withdrawn: the public ids of maps in it that must no longer be found.
    """

    def __init__(self, snapshot: Snapshot, withdrawn: Set[str] = frozenset()) -> None:
        self.snapshot = snapshot
        self.withdrawn = withdrawn
        self._responses: OrderedDict[Key, CachedResponse] = OrderedDict()
        self._deferred: LRUCache[Key, Deferred] = LRUCache(MOST_DEFERRED)
        self._size = 0

    def find(self, public_id: str, base_url: bytes) -> Record | None:
        """Return the map with this public id, ``None`` if it is missing or withdrawn."""
        if public_id in self.withdrawn:
            return None
        return self.snapshot.find(public_id, base_url)

    def response_under(self, key: Key) -> CachedResponse | None:
        """Return the response cached under a key, if it can still be sent."""
        cached = self._responses.get(key)
        if cached is None:
            return None
        response = cached.response
        if response is not None and response.file is not None and not response.is_complete():
            return None
        self._responses.move_to_end(key)
        return cached

    def cached(self, path: str, query_string: bytes) -> Response | None:
        """Return the response to the same request, if it is cached and can still be sent."""
        cached = self.response_under((path, query_string))
        return cached.response if cached else None

    def cache(self, key: Key, response: Response) -> None:
        """Cache a response; evict the least recently requested ones if the cache is full."""
        size = _size(key, response)
        if size > LARGEST_CACHED:
            return
        self._put(key, CachedResponse(response, size))

    def cache_for(self, user: User, key: Key, response: Response) -> None:
        """Cache a response that only ``user`` may get, for up to ``MOST_USERS`` users per key."""
        cached = self._responses.get(key)
        if cached is None or cached.of_users is None:
            # Counted once: small responses of a few operations are cached this way.
            size = MOST_USERS * _size(key, response)
            cached = CachedResponse(None, size, of_users=LRUCache(MOST_USERS))
            self._put(key, cached)
        assert cached.of_users is not None
        cached.of_users.put(user, response)

    def _put(self, key: Key, cached: CachedResponse) -> None:
        replaced = self._responses.pop(key, None)
        self._size += cached.size - (replaced.size if replaced else 0)
        self._responses[key] = cached
        while self._size > RESPONSES_SIZE:
            _, oldest = self._responses.popitem(last=False)
            self._size -= oldest.size

    async def response(
        self,
        request: Request,
        queue: WorkQueue,
        make: MakeResponse,
        query_string: bytes | None = None,
    ) -> Response:
        """Return the response to a request: cached, or made once for all clients that wait for it.

        Args:
            request: the request.
            queue: where to make it.
            make: makes it.
            query_string: the part of the query string that it depends on, by default all of it.

        Raises:
            Overloaded: the queue is full.
            ClientDisconnected: all waiting clients disconnected.
        """
        key = request.path, request.query_string if query_string is None else query_string
        response = self.cached(*key)
        if response is not None:
            return response
        place = (self, *key)
        made: Response | Deferred | None = self._deferred.get(key)
        if made is None:
            made = await queue.result(place, make, request.disconnection, owner=request.owner)
        while isinstance(made, Deferred):
            if made.lasting:  # the next equal request goes there directly
                self._deferred.put(key, made)
            made = await made.queue.result(
                place, made.make, request.disconnection, owner=request.owner
            )
        if not made.provisional:
            self.cache(key, made)
        return made


def _size(key: Key, response: Response) -> int:
    """Return the approximate size of a cached response in bytes."""
    size = len(key[0]) + len(key[1]) + _size_of(response)
    return size + _size_of(response.compressed) if response.compressed else size


def _size_of(response: Response) -> int:
    values = sum([len(value) for _, value in response.headers])
    return RESPONSE_OVERHEAD + len(response.body) + values


class CurrentSnapshot:
    """The current snapshot of a directory.

    Attributes:
        in_use: the snapshot that requests are answered from, ``None`` before the first.
        popular: the responses that each new snapshot gets before it is used.
    """

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self.in_use: CachedSnapshot | None = None
        self.popular = PopularResponses()
        self._withdrawn: dict[str, int] = {}
        self._refused = ""
        self._lacks_resources = False
        self._seen: tuple[int, int] | None = None
        self._refreshing = Lock()
        self._replacing = Lock()  # held for moments only: verifying a snapshot may take seconds
        self._verified = VerifiedSnapshots(directory)
        self._verifying = False

    def get(self) -> CachedSnapshot:
        """Return the snapshot to answer from.

        Raises:
            SnapshotMissing: there is none yet.
        """
        if self.in_use is None:
            # Another worker may already use the first snapshot, and its client must not get a "not
            # ready" from this one. So all requests wait here once, but not while the snapshot is
            # being verified, when no worker has it.
            self._open_first()
        if self.in_use is None:
            raise SnapshotMissing("no snapshot has been published yet")
        return self.in_use

    def revision(self) -> int:
        """Return the revision of the catalogue in the snapshot in use, 0 if there is none."""
        return self.in_use.snapshot.revision if self.in_use else 0

    @property
    def withdrawals_after(self) -> int | None:
        """The revision up to which withdrawals are known, ``None`` if there is no snapshot."""
        if self.in_use is None:
            return None
        return max((self.in_use.snapshot.revision, *self._withdrawn.values()))

    def withdraw(self, maps: Mapping[str, int]) -> None:
        """Hide these maps from all snapshots made before they were withdrawn.

        Cached responses are dropped, as with a new snapshot: some of them may show these maps.

        Args:
            maps: the revisions in which they were withdrawn, by public id.
        """
        with self._replacing:
            known = self._withdrawn
            newer = {one: at for one, at in maps.items() if at > known.get(one, 0)}
            self._withdrawn = {**known, **newer}
            if self.in_use is not None:
                present = self.in_use.snapshot
                # A map may have been published again meanwhile, and be in a newer snapshot.
                later = (one for one, revision in maps.items() if revision > present.revision)
                shown = {one for one in later if present.find(one, b"") is not None}
                if shown - self.in_use.withdrawn:
                    self.in_use = CachedSnapshot(present, self.in_use.withdrawn | shown)

    def refresh(self) -> None:
        """Switch to the current snapshot if it is not the one in use.

        An unusable snapshot is reported once, in the log and to the builder. A lack of system
        resources is logged once, and the switch is retried.
        """
        with self._refreshing:
            self._refresh_locked()

    def close(self) -> None:
        """Stop following published snapshots; the one in use stays open."""
        with self._refreshing:
            self._verified.close()

    def _open_first(self) -> None:
        """Wait until a thread has tried to open the first snapshot, this one or another.

        Raises:
            SnapshotMissing: another thread is verifying it.
        """
        locked = False
        while not locked:
            if self._verifying:
                raise SnapshotMissing("the snapshot is being verified")
            locked = self._refreshing.acquire(timeout=LOOK_INTERVAL)
        try:
            if self.in_use is None:
                self._refresh_locked()
        finally:
            self._refreshing.release()

    def _refresh_locked(self) -> None:
        """Switch to the current snapshot, or log why not; the caller holds ``_refreshing``."""
        try:
            self._switch_to_current()
        except Exception:
            # No error may leave this worker on an old snapshot forever.
            log.exception("looking for a new snapshot failed")

    def _switch_to_current(self) -> None:
        """Open and use the current snapshot, unless it is in use or was refused."""
        name, stamp, self._seen = "", self._directory.stamp(), None
        try:
            name = self._directory.current()
            in_use = self.in_use.snapshot.name if self.in_use else None
            if name not in (in_use, self._refused):
                self._verify(name)
                new = self._without_withdrawn(Snapshot(self._directory.folder(name)))
                for key, response in self.popular.of(new.snapshot):
                    new.cache(key, response)
                self._use(new)
            self._lacks_resources = False
            self._seen = stamp
        except SnapshotUnavailable as error:
            if not self._lacks_resources:
                log.warning("snapshot %s cannot be opened now, and is tried again: %s", name, error)
            self._lacks_resources = True
        except SnapshotError as error:
            # It may have been replaced between reading its name and opening it.
            with contextlib.suppress(SnapshotError):
                if name and self._directory.current() == name:
                    if not self._directory.is_refused(name):  # nor reported by another worker
                        log.warning("snapshot %s cannot be used: %s", name, error)
                    self._refused = name
                    self._seen = stamp
                    self._directory.refuse(name)

    def _without_withdrawn(self, snapshot: Snapshot) -> CachedSnapshot:
        """Return a new snapshot without the maps that were withdrawn after it was made."""
        known = self._withdrawn
        later = (one for one, at in known.items() if at > snapshot.revision)
        return CachedSnapshot(
            snapshot, {one for one in later if snapshot.find(one, b"") is not None}
        )

    def _use(self, new: CachedSnapshot) -> None:
        """Answer from a new snapshot, without maps that were withdrawn during its preparation."""
        with self._replacing:
            revision = new.snapshot.revision
            now = self._without_withdrawn(new.snapshot)
            self._withdrawn = {one: at for one, at in self._withdrawn.items() if at > revision}
            self.in_use = new if new.withdrawn == now.withdrawn else now

    def _verify(self, name: str) -> None:
        self._verifying = True
        try:
            self._verified.verify_once(name)
        finally:
            self._verifying = False

    async def begin(self) -> None:
        """Open the current snapshot, and wait for it for a short time."""
        looking = asyncio.get_running_loop().run_in_executor(None, self.refresh)
        await asyncio.wait({looking}, timeout=FIRST_SNAPSHOT_AWAITED)

    async def follow(self) -> None:
        """Switch to each published snapshot, until cancelled."""
        loop = asyncio.get_running_loop()
        with contextlib.closing(FileChanges(self._directory.path)) as changes:
            while True:
                await changes.wait(LONGEST if self._seen else POLL_INTERVAL)
                stamp = self._directory.stamp()
                if stamp is None or stamp != self._seen:
                    await loop.run_in_executor(None, self.refresh)
