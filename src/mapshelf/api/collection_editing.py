"""Creating, changing and deleting collections: ``POST``, ``PATCH`` and ``DELETE /collections…``.

The list of maps can be replaced by ``PUT /collections/{ID}/maps``, extended by ``POST``, and
shortened by ``DELETE /collections/{ID}/maps/{map}``, so that programs that add maps concurrently do
not overwrite each other's changes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import is_shown, may_change, may_see
from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, BodyRule, Request, Response, json_response
from mapshelf.api.json_bodies import parse_json, parse_object
from mapshelf.api.map_collections import collection_object, new_collection_response
from mapshelf.api.map_fields import VISIBILITIES
from mapshelf.api.map_writing import sender_address, signed
from mapshelf.api.text_values import read_line, read_lines
from mapshelf.api.visible_collections import no_collection, visible_collection
from mapshelf.errors import (
    Forbidden,
    InvalidParameter,
    NotFound,
    TooManyCollections,
)
from mapshelf.model import (
    COLLECTION_TEXT_LENGTH,
    COLLECTION_TITLE_LENGTH,
    MOST_COLLECTED,
    AuditEntry,
    AuditEvent,
    Collection,
    CollectionDetails,
    User,
    Visibility,
    about_collection,
    is_public_id,
)
from mapshelf.store import Store

T = TypeVar("T")

COLLECTION: Final = BodyRule(65_536, ("application/json", "application/merge-patch+json"))
COLLECTED: Final = BodyRule(16_384, ("application/json",))
"""The body rules for the details of a collection, and for a list of maps."""

DETAILS: Final = ("title", "text", "visibility")
MAPS: Final = "maps"

Change = Callable[[Store, Collection, User], T]
"""Changes a collection."""


async def make_collection(context: Context, request: Request) -> Response:
    """Create a collection, with maps if given."""
    async with context.bodies.content(request) as body:
        said = parse_object(body, (*DETAILS, MAPS))
    details, ids = read_details(said), _read_ids(said.get(MAPS, []))
    if details.title is None:
        raise InvalidParameter("A collection needs a title.")
    user, store, base_url = signed(request), context.store_for(request), context.base_url
    entry = done_by(user, sender_address(context, request), AuditEvent.COLLECTION_MADE)

    def make() -> Response:
        found = added(details, ids, user, entry, store)
        return new_collection_response(_shown(base_url, store, found, user), found, base_url)

    return await context.queues.writing.result(object(), make, owner=request.owner)


async def edit_collection(context: Context, request: Request) -> Response:
    """Change the details of a collection."""
    async with context.bodies.content(request) as body:
        details = read_details(parse_object(body, DETAILS))
    return await _changed(
        context, request, lambda store, found, _: store.edit_collection(found.id, details)
    )


async def arrange_collection(context: Context, request: Request) -> Response:
    """Replace the list of maps of a collection."""
    async with context.bodies.content(request) as body:
        ids = _read_ids(parse_json(body))
    return await _changed(context, request, partial(arranged, ids))


async def collect_maps(context: Context, request: Request) -> Response:
    """Append maps to a collection."""
    async with context.bodies.content(request) as body:
        ids = _read_ids(parse_json(body))
    return await _changed(context, request, partial(collected, ids))


async def take_map_out(context: Context, request: Request) -> Response:
    """Remove a map from a collection."""
    await _changed(context, request, partial(taken_out, request.parts["map"]))
    return Response(204, NO_STORE)


async def remove_collection(context: Context, request: Request) -> Response:
    """Delete a collection."""
    await _change(context, request, AuditEvent.COLLECTION_REMOVED, _remove)
    return Response(204, NO_STORE)


# -- shared with pages --------------------------------------------------------------------------


def read_details(said: Mapping[str, object]) -> CollectionDetails:
    """Return the details of a collection from a form or JSON.

    Raises:
        InvalidParameter: a value is invalid.
    """
    texts = {name: said[name] for name in DETAILS if name in said}
    for name, value in texts.items():
        if not isinstance(value, str) or "\0" in value:
            raise InvalidParameter(f"The {name} value must be a text without NUL characters.")
    details: dict[str, Any] = {}
    if "title" in texts:
        details["title"] = read_line("title", str(texts["title"]), COLLECTION_TITLE_LENGTH)
    if "text" in texts:
        details["text"] = read_lines("text", str(texts["text"]), COLLECTION_TEXT_LENGTH)
    if "visibility" in texts:
        details["visibility"] = _visibility(str(texts["visibility"]))
    return CollectionDetails(**details)


def added(
    details: CollectionDetails, ids: Sequence[str], user: User, entry: AuditEntry, store: Store
) -> Collection:
    """Create a collection, and return it; ``entry`` goes to the audit log.

    Raises:
        InvalidParameter: an id belongs to no map that the user may see.
        TooManyCollections: the user has the maximum number of collections.
    """
    file_ids = _seen_file_ids(store, ids, user)
    with store.auditing(entry):
        return store.add_collection(user.id, details, file_ids)


def arranged(ids: Sequence[str], store: Store, found: Collection, user: User) -> Collection:
    """Replace the maps of a collection, and return it; raises errors like ``added``."""
    return store.arrange(found.id, _seen_file_ids(store, ids, user))


def collected(ids: Sequence[str], store: Store, found: Collection, user: User) -> Collection:
    """Append maps to a collection, and return it; raises errors like ``added``."""
    return store.collect(found.id, _seen_file_ids(store, ids, user))


def taken_out(public_id: str, store: Store, found: Collection, user: User) -> Collection:
    """Remove a map from a collection, and return the collection.

    Raises:
        NotFound: the user sees no such map in it.
    """
    gone = [
        one.file_id
        for one in store.collected_maps(found.id)
        if one.id == public_id and is_shown(one, found, user)
    ]
    if not gone:
        raise NotFound("There is no such map in this collection.")
    return store.take_out(found.id, gone)


def changeable_collection(store: Store, public_id: str, user: User) -> Collection:
    """Return a collection that a user may change.

    Raises:
        NotFound: there is no such collection that the user may see.
        Forbidden: the user may see it, but not change it.
    """
    found = visible_collection(store, public_id, user)
    if not may_change(found, user):
        message = "Only its owner and administrators may do this with a collection."
        raise Forbidden("collection", message)
    return found


def change_collection(
    store: Store, public_id: str, user: User, work: Change[T], entry: AuditEntry
) -> T:
    """Run ``work`` with a collection, in a thread; ``entry`` goes to the audit log.

    Raises:
        NotFound: the user may see no such collection.
        Forbidden: the user may see it, but not change it.
        MapshelfError: raised by ``work``.
    """
    found = changeable_collection(store, public_id, user)
    try:
        with store.auditing(entry):
            return work(store, found, user)
    except NotFound as error:
        if store.find_collection(public_id) is None:  # removed meanwhile
            raise no_collection() from error
        raise


# -- common ---------------------------------------------------------------------------------------


async def _changed(context: Context, request: Request, work: Change[Collection]) -> Response:
    """Return the response to a change: the updated collection."""

    def change(store: Store, found: Collection, user: User) -> bytes:
        return _shown(context.base_url, store, work(store, found, user), user)

    body = await _change(context, request, AuditEvent.COLLECTION_CHANGED, change)
    return json_response(200, body, NO_STORE)


async def _change(context: Context, request: Request, event: AuditEvent, work: Change[T]) -> T:
    user, public_id = signed(request), request.parts["id"]
    entry = done_by(user, sender_address(context, request), event, about_collection(public_id))
    do = partial(change_collection, context.store_for(request), public_id, user, work, entry)
    return await context.queues.writing.result(object(), do, owner=request.owner)


def _shown(base_url: bytes, store: Store, found: Collection, user: User) -> bytes:
    maps = store.collected_maps(found.id)
    return collection_object(found, [one for one in maps if is_shown(one, found, user)], base_url)


def _remove(store: Store, found: Collection, user: User) -> None:
    store.remove_collection(found.id)


def _seen_file_ids(store: Store, ids: Sequence[str], user: User) -> list[int]:
    """Return the ``file_id`` of maps that a user may see."""
    found = {one.id: one for one in store.maps_with_ids(ids)}
    for public_id in ids:
        one = found.get(public_id)
        if one is None or not may_see(one, user):
            which = f"the ID {public_id}" if is_public_id(public_id) else "one of these IDs"
            raise InvalidParameter(f"There is no map with {which}.")
    return [found[public_id].file_id for public_id in ids]


def _visibility(text: str) -> Visibility:
    chosen = text.strip().lower()
    if chosen not in VISIBILITIES:
        raise InvalidParameter(f"The visibility value must be one of {', '.join(VISIBILITIES)}.")
    return Visibility(chosen)


def _read_ids(values: object) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise InvalidParameter("The maps must be an array of the IDs of maps.")
    ids = list(dict.fromkeys(values))
    if len(ids) > MOST_COLLECTED:
        raise TooManyCollections("maps", MOST_COLLECTED)
    return ids
