"""Finds a single map that the client may see: in the snapshot, otherwise in the store.

The snapshot has all published maps, and nearly always suffices. Other IDs are looked up in the
store, so that a map is available as soon as it is published, and that unlisted and private maps are
available to those who may see them; for all other clients, they do not exist. Maps withdrawn after
the snapshot was made are looked up in the store, too (``withdrawals.py``).

Outlines and files are always in the store. Between finding a map and reading its outline, somebody
may make it private or give it to another owner, and replace its file; the snapshot may be older
still. So what was read is sent only if the client may see the map *afterwards*
(``FoundMap.checked``).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mapshelf.accounts.permissions import may_see
from mapshelf.api.browser_sessions import BrowserSessions, is_late
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import CachedSnapshot, Deferred, MakeResponse
from mapshelf.api.http import Request, Response
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import (
    InsufficientScope,
    InvalidToken,
    NotFound,
    Overloaded,
    StoreUnavailable,
)
from mapshelf.model import Map, User, Visibility
from mapshelf.snapshot.format.records import encode_record, with_base_url
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store import Store
from mapshelf.store.contract import Maps, MapsOfPeople
from mapshelf.tokens import MAPS, scopes_of

HIDDEN_WITHIN: Final = 5.0
"""Seconds within which a withdrawn map leaves the snapshots of a large catalogue."""

LOOK_AGAIN_AFTER: Final = 0.05

PRESENT_WITHIN: Final = 1.0
"""Seconds to wait for what the store has of a map that the snapshot has, too."""

_NO_MAP: Final = "There is no map with this ID."

NO_INDEX: Final = (b"x-robots-tag", b"noindex")
"""Header that tells search engines not to index a map."""

CACHING: Final = {
    Visibility.UNLISTED: b"private, no-cache",
    Visibility.PRIVATE: b"private, no-store",
}
"""Caching headers of responses about maps that are not published."""


class _HiddenMeanwhileError(NotFound):
    """The map was hidden before its outline or file was read."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """What held when a response was begun.

    Attributes:
        takeovers: how often another server had taken over.
        open_since: since which revision the client might see the map.
    """

    takeovers: int
    open_since: int


@dataclass(frozen=True, slots=True)
class FoundMap:
    """A map that the client may see.

    Attributes:
        record: the map.
        visibility: its visibility.
        current: the snapshot, which has the map unless ``is_cached`` is false.
        is_cached: whether responses may be cached with the snapshot.
        open_since: asks the store since which revision everybody may see the map, ``None`` if they
            may not; for a private map, 0 if the user may for whom it was found.
        store: returns the store.
        look_again: finds the map in the store, if the client may see it there.
        reader: the number of the user for whom a private map was found, 0 for other maps.
    """

    record: Record
    visibility: Visibility
    current: CachedSnapshot
    is_cached: bool
    open_since: Callable[[], int | None]
    store: Callable[[], Store]
    look_again: Callable[[], Awaitable["FoundMap"]]
    reader: int = 0

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot, with the other maps."""
        return self.current.snapshot

    async def response(
        self,
        request: Request,
        queue: WorkQueue,
        make: MakeResponse,
        query_string: bytes | None = None,
    ) -> Response:
        """Return the response from ``make``, as ``CachedSnapshot.response`` does.

        Responses about a map that is not in the snapshot are not cached.
        """
        try:
            if self.is_cached:
                checked = self.checked(make)
                return await self.current.response(request, queue, checked, query_string)
            return await self._uncached(request, queue, make, query_string)
        except _HiddenMeanwhileError:  # its owner still sees it, or everybody does again
            found = await self.look_again()
        if self.visibility is Visibility.PRIVATE:
            found = replace(found, visibility=self.visibility, reader=found.reader or self.reader)
        return await found._uncached(request, queue, make, query_string)

    async def _uncached(
        self, request: Request, queue: WorkQueue, make: MakeResponse, query_string: bytes | None
    ) -> Response:
        checked = self.checked(make)
        began = time.perf_counter()
        key = request.path, request.query_string if query_string is None else query_string
        # What is found for one user is sent to no other, who might see it no longer.
        place = (self.record.file_id, self.visibility, self.reader, *key)
        made: Response | Deferred = await queue.result(
            place, checked, request.disconnection, owner=request.owner
        )
        while isinstance(made, Deferred):
            made = await made.queue.result(
                place, made.make, request.disconnection, owner=request.owner
            )
        if self.visibility is Visibility.PRIVATE and is_late(began):
            await self.look_again()  # refuses it if the session or token has ended meanwhile
        return self.guarded(made)

    async def present(self) -> "FoundMap | None":
        """Return the map as the store has it now, ``None`` if the store does not say so soon.

        The look-up waits in a queue in which clients take turns, and equal ones share a query.

        Raises:
            NotFound: the client may not see it any longer.
        """
        if not self.is_cached:  # it has just been found there
            return self
        try:
            async with asyncio.timeout(PRESENT_WITHIN):
                return await self.look_again()
        except (StoreUnavailable, Overloaded, TimeoutError):
            return None

    def checked(self, make: MakeResponse) -> MakeResponse:
        """Return ``make`` such that it raises ``NotFound`` if the map has been hidden meanwhile.

        This is also the case if it is open again: ``make`` may have read a file of which its owner
        shows none but the next. The owner of a private map may have given it away meanwhile. If
        another server takes over meanwhile, ``make`` raises ``StoreUnavailable``.
        """
        return partial(self._checked_response, make, None)

    def _checked_response(self, make: MakeResponse, begun: _Begun | None) -> Response | Deferred:
        begun = begun or _Begun(self.store().takeovers(), self._still_open())
        response = make()
        if isinstance(response, Deferred):
            begun = None if response.lasting else begun
            return replace(response, make=partial(self._checked_response, response.make, begun))
        if self._still_open() != begun.open_since:
            raise _HiddenMeanwhileError(_NO_MAP)
        require_no_takeover(self.store(), begun.takeovers)
        return response

    def _still_open(self) -> int:
        since = self.open_since()
        if since is None:
            raise _HiddenMeanwhileError(_NO_MAP)
        return since

    def guarded(self, response: Response) -> Response:
        """Return a response with the caching headers for the visibility of the map."""
        return guarded(response, self.visibility)


async def find_map(
    context: Context, request: Request, base_url: bytes | None = None, *, public_id: str = ""
) -> FoundMap:
    """Return the map in the path of a request.

    Args:
        context: the service.
        request: the request.
        base_url: the prefix of our own addresses in the record, by default the public address.
        public_id: the map, if it is not in the path.

    Raises:
        NotFound: the client may see no such map.
        StoreUnavailable: it is not in the snapshot, and the store cannot be reached.
        Overloaded: there are too many requests for maps that are not in the snapshot.
    """
    current = context.snapshot.get()
    public_id = public_id or request.parts["id"]
    base_url = context.base_url if base_url is None else base_url
    record = current.find(public_id, base_url)
    look_again = partial(_find_in_store, context, request, public_id, base_url)
    if record is None:
        return await look_again()
    open_since, store = partial(_open_since, context, public_id), context.store.get
    return FoundMap(record, Visibility.PUBLISHED, current, True, open_since, store, look_again)


async def _find_in_store(
    context: Context, request: Request, public_id: str, base_url: bytes
) -> FoundMap:
    current = context.snapshot.get()
    found = await context.map_finder.find(public_id, request)
    if found is None:
        raise no_map()
    open_since, reader = partial(_open_since, context, public_id), 0
    if found.visibility is Visibility.PRIVATE:
        user = request.user or await user_if_any(context.sessions, request)
        if user is None or not may_see(found, user):
            raise no_map()
        open_since, reader = partial(_seen_since, context, public_id, user), user.id
    record = Record(found.file_id, with_base_url(encode_record(found), base_url))
    look_again = partial(_find_in_store, context, request, public_id, base_url)
    store = context.store.get
    return FoundMap(record, found.visibility, current, False, open_since, store, look_again, reader)


def _open_since(context: Context, public_id: str) -> int | None:
    return context.store.get().open_since(public_id)


def _seen_since(context: Context, public_id: str, user: User) -> int | None:
    found = context.store.get().find_map(public_id)
    return 0 if found is not None and may_see(found, user) else None


async def until_hidden(context: Context, request: Request) -> None:
    """Wait until no snapshot shows the map in a path, unless the map is published.

    Outlines and files come from the store. So while a snapshot still shows a map that its owner has
    just hidden, everybody could read what the owner uploads next.

    Raises:
        Overloaded: that takes too long now.
        StoreUnavailable: the store cannot be reached.
    """
    public_id = request.parts["id"]
    ask = partial(context.store.get().find_map, public_id)
    # A unique key: the result of an earlier request may be from before the map was hidden.
    found = await context.queues.lookups.result(
        object(), ask, request.disconnection, owner=request.owner
    )
    if found is None or found.visibility is Visibility.PUBLISHED:
        return
    deadline = time.monotonic() + HIDDEN_WITHIN
    while context.snapshot.get().snapshot.find(public_id, b"") is not None:
        if time.monotonic() > deadline:
            raise Overloaded("Readers still see this map; try again soon.")
        await asyncio.sleep(LOOK_AGAIN_AFTER)


async def user_if_any(sessions: BrowserSessions, request: Request) -> User | None:
    """Return the user of a request that needs no token, ``None`` if it is anonymous.

    A token that is invalid, or lacks the scope to read maps, is ignored.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    header = request.headers.get(b"authorization")
    if header is None:
        session = await sessions.session(request)
        return session.user if session and MAPS in scopes_of(session.token.scopes) else None
    try:
        return await (await sessions.authenticator()).user(header, MAPS)
    except (InvalidToken, InsufficientScope):
        return None


def visible_map(store: MapsOfPeople, public_id: str, user: User) -> Map:
    """Return a map in the store that a user may see, in a thread.

    Raises:
        NotFound: there is no such map that the user may see.
    """
    found = store.find_map(public_id)
    if found is None or not may_see(found, user):
        raise no_map()
    return found


def require_no_takeover(store: Maps, takeovers: int) -> None:
    """Check that what was read is not from a server that another has replaced meanwhile.

    A standby may still have what the new server lacks: the content that a map had while it was
    private, for instance, although the new server says that it is published.

    Args:
        store: the store.
        takeovers: ``store.takeovers()`` before the first read.

    Raises:
        StoreUnavailable: it may be.
    """
    if store.takeovers() != takeovers:
        raise StoreUnavailable("another server took over meanwhile")


def no_map() -> NotFound:
    """Return the error for a map that does not exist, or that the client may not see."""
    return NotFound(_NO_MAP)


def guarded(response: Response, visibility: Visibility) -> Response:
    """Return a response with the caching headers for the visibility of what it shows.

    If shared caches may keep it while it is published, it gets another ETag. Otherwise, one that
    still has it would send its ETag when somebody looks who may, and take a 304 as permission to
    show it to everybody again: nginx does.
    """
    if visibility is Visibility.PUBLISHED:
        return response
    shared = not (response.header(b"cache-control") or b"").startswith(b"private")
    mark = b'-%s"' % visibility.value.encode()
    kept = (
        (name, value.removesuffix(b'"') + mark if name == b"etag" and shared else value)
        for name, value in response.headers
        if name != b"cache-control"
    )
    caching = (b"cache-control", CACHING[visibility])
    compressed = response.compressed and guarded(response.compressed, visibility)
    return replace(
        response, headers=(*kept, caching, NO_INDEX), compressed=compressed, text_headers=None
    )
