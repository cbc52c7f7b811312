"""Shared code of operations that change a single map: permission checks and responses.

Each change runs in a thread, with the current state of the map in the store.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import orjson

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import may_change, may_see
from mapshelf.api.context import Context, address_of
from mapshelf.api.http import NO_STORE, Request, Response, json_response
from mapshelf.api.visible_maps import no_map, visible_map
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import Forbidden, NotFound
from mapshelf.model import AuditEntry, AuditEvent, Map, User, about_map
from mapshelf.snapshot.format.records import encode_record, page_path, with_base_url
from mapshelf.store import Store

T = TypeVar("T")

Change = Callable[[Store, Map, User], T]
"""Changes a map that a user may see, or reads its restricted parts."""


async def with_map(  # noqa: PLR0913 - who does what, where, and what is noted
    context: Context,
    request: Request,
    queue: WorkQueue,
    work: Change[T],
    *,
    own: bool = True,
    event: AuditEvent | None = None,
) -> T:
    """Return the result of ``work`` with the map in the path of a request.

    Args:
        context: the service.
        request: the request, with a token.
        queue: the queue in which to run the work.
        work: the work.
        own: whether only users who may change the map may do it.
        event: the event for the audit log, if any.

    Raises:
        NotFound: the user may see no such map.
        Forbidden: the user may see it, but not change it.
        StoreUnavailable: the store cannot be reached.
        Overloaded: the queue is full.
        MapshelfError: raised by ``work``.
    """
    user = signed(request)
    store, public_id = context.store_for(request), request.parts["id"]
    if event is not None:
        work = noted_change(done_by(user, sender_address(context, request), event), work)
    do = partial(change_map, store, public_id, user, work, own)
    # A unique key: two equal changes are still two changes.
    return await queue.result(object(), do, owner=request.owner)


def noted_change(entry: AuditEntry, work: Change[T]) -> Change[T]:
    """Return ``work`` such that ``entry`` goes to the audit log together with its writes."""

    def do(store: Store, found: Map, user: User) -> T:
        with store.auditing(replace(entry, target=about_map(found.id))):
            return work(store, found, user)

    return do


def sender_address(context: Context, request: Request) -> str:
    """Return the client address of a request."""
    return address_of(context.settings.trusted_proxies, request.sender)


def signed(request: Request) -> User:
    """Return the user of a request that needs a token."""
    assert request.user is not None
    return request.user


def map_object(found: Map, base_url: bytes) -> bytes:
    """Return the Map object of a map."""
    return with_base_url(encode_record(found), base_url)


def map_response(found: Map, base_url: bytes) -> Response:
    """Return the response to a change of a map."""
    return json_response(200, map_object(found, base_url), NO_STORE)


def published_response(found: Map, base_url: bytes, *, new: bool) -> Response:
    """Return the response to an upload: the Map object, and the address of its page.

    Desktop clients expect that address under ``url``, older ones under ``map``.
    """
    values = orjson.loads(map_object(found, base_url))
    page = base_url.decode() + page_path(found)
    body = orjson.dumps({**values, "url": page, "map": page})
    location = (b"location", base_url + b"/maps/" + found.id.encode())
    return json_response(201 if new else 200, body, (location, *NO_STORE))


def only_owner() -> Forbidden:
    """Return the error for a map that a user may see, but not change."""
    return Forbidden("owner", "Only its owner and administrators may do this with a map.")


def change_map(store: Store, public_id: str, user: User, work: Change[T], own: bool) -> T:
    """Return the result of ``work`` with a map, in a thread; see ``with_map``."""
    found = visible_map(store, public_id, user)
    if own and not may_change(found, user):
        raise only_owner()
    try:
        return work(permitted_store(store, found, user, own=own), found, user)
    except NotFound as error:
        if store.find_map(public_id) is None:  # removed meanwhile
            raise no_map() from error
        raise


def permitted_store(store: Store, found: Map, user: User, *, own: bool = True) -> Store:
    """Return the store for what a user changes of a map, as long as they may.

    Work may wait, and reading a file takes seconds. Meanwhile, the map may get another owner.

    Args:
        store: the store for the request.
        found: the map.
        user: the user.
        own: whether only users who may change the map may do it, or all who may see it.
    """
    return store.acting_on(found.file_id, partial(_require_permitted, user, own))


def _require_permitted(user: User, own: bool, found: Map | None) -> None:
    if found is None or not may_see(found, user):
        raise no_map()
    if own and not may_change(found, user):
        raise only_owner()
