"""Finding a collection for whoever asks, with the maps in it that they may see.

Collections are not in the snapshot: they are few, and read from the store for each request. So a
change is seen at once, and nobody sees more than they may.
"""

from dataclasses import dataclass, replace
from functools import partial

from mapshelf.accounts.permissions import is_shown, may_see
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_maps import CACHING, NO_INDEX, user_if_any
from mapshelf.errors import NotFound
from mapshelf.model import Collection, Map, User, Visibility
from mapshelf.store.contract import ReadCollections


@dataclass(frozen=True, slots=True)
class SeenCollection:
    """A collection that whoever asks may see.

    Attributes:
        collection: the collection.
        maps: those of its maps that they see, in its order.
        hidden: how many more it has.
        reader: who asks, ``None`` if nobody says so.
    """

    collection: Collection
    maps: list[Map]
    hidden: int
    reader: User | None

    def guarded(self, response: Response) -> Response:
        """Return a response with the headers that keep it from those who may not see it."""
        return guarded(response, self.collection.visibility)


def guarded(response: Response, visibility: Visibility) -> Response:
    """Return a response about a collection that these people see, as it may be kept."""
    if visibility is Visibility.PUBLISHED:
        return response
    kept = (one for one in response.headers if one[0] != b"cache-control")
    caching = (b"cache-control", CACHING[visibility])
    smaller = response.smaller and guarded(response.smaller, visibility)
    return replace(response, headers=(*kept, caching, NO_INDEX), smaller=smaller, text_headers=None)


async def find_collection(
    context: Context, request: Request, public_id: str = "", *, for_anybody: bool = False
) -> SeenCollection:
    """Return the collection in the path of a request.

    Args:
        context: the service.
        request: the request.
        public_id: the collection, if it is not in the path.
        for_anybody: whether only what nobody in particular sees is wanted.

    Raises:
        NotFound: there is none that whoever asks may see.
        StoreUnavailable: the store cannot be reached.
        Overloaded: too many ask for collections.
    """
    public_id = public_id or request.parts["id"]
    user = request.user
    if user is None and not for_anybody:
        user = await user_if_any(context.sessions, request)
    await context.sessions.authenticator()  # once the store is open
    make = partial(seen_collection, context.store.get(), public_id, user)
    key = ("collection", public_id, user)
    return await context.queues.lookups.result(key, make, request.disconnection)


def seen_collection(store: ReadCollections, public_id: str, user: User | None) -> SeenCollection:
    """Return a collection as a user, or nobody, sees it.

    Raises:
        NotFound: there is none that they may see.
    """
    found = store.find_collection(public_id)
    if found is None or not may_see(found, user):
        raise no_collection()
    maps = store.collected_maps(public_id)
    shown = [one for one in maps if is_shown(one, found, user)]
    return SeenCollection(found, shown, len(maps) - len(shown), user)


def no_collection() -> NotFound:
    """Return the error for a collection that is not there for whoever asks."""
    return NotFound("There is no collection with this ID.")
