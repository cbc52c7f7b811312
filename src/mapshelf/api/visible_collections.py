"""Finds a collection for a client, with those of its maps that the client may see.

Collections are few and not in the snapshot: they are read from the store for each request. So
changes are visible immediately, and clients never see more than they may.
"""

from dataclasses import dataclass
from functools import partial

from mapshelf.accounts.permissions import is_shown, may_see
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_maps import guarded, user_if_any
from mapshelf.errors import NotFound
from mapshelf.model import Collection, Map, User
from mapshelf.store.contract import ReadCollections


@dataclass(frozen=True, slots=True)
class SeenCollection:
    """A collection that the client may see.

    Attributes:
        collection: the collection.
        maps: those of its maps that the client may see, in order.
        hidden: the number of its other maps.
        reader: the user, ``None`` for an anonymous visitor.
    """

    collection: Collection
    maps: list[Map]
    hidden: int
    reader: User | None

    def guarded(self, response: Response) -> Response:
        """Return a response with the caching headers for the visibility of this collection."""
        return guarded(response, self.collection.visibility)


async def find_collection(
    context: Context, request: Request, public_id: str = "", *, for_anybody: bool = False
) -> SeenCollection:
    """Return the collection in the path of a request.

    Args:
        context: the service.
        request: the request.
        public_id: the collection, if it is not in the path.
        for_anybody: whether to return it as anonymous visitors see it.

    Raises:
        NotFound: the client may see no such collection.
        StoreUnavailable: the store cannot be reached.
        Overloaded: there are too many requests for collections.
    """
    public_id = public_id or request.parts["id"]
    user = request.user
    if user is None and not for_anybody:
        user = await user_if_any(context.sessions, request)
    await context.sessions.authenticator()  # once the store is open
    make = partial(seen_collection, context.store.get(), public_id, user)
    key = ("collection", public_id, user)
    return await context.queues.lookups.result(
        key, make, request.disconnection, owner=request.owner
    )


def seen_collection(store: ReadCollections, public_id: str, user: User | None) -> SeenCollection:
    """Return a collection as seen by a user or an anonymous visitor.

    Raises:
        NotFound: they may see no such collection.
    """
    found = visible_collection(store, public_id, user)
    maps = store.collected_maps(public_id)
    shown = [one for one in maps if is_shown(one, found, user)]
    return SeenCollection(found, shown, len(maps) - len(shown), user)


def visible_collection(store: ReadCollections, public_id: str, user: User | None) -> Collection:
    """Return a collection that a user or an anonymous visitor may see, in a thread.

    Raises:
        NotFound: there is no such collection that they may see.
    """
    found = store.find_collection(public_id)
    if found is None or not may_see(found, user):
        raise no_collection()
    return found


def no_collection() -> NotFound:
    """Return the error for a collection that does not exist, or that the client may not see."""
    return NotFound("There is no collection with this ID.")
