"""Editing the details of a map (``PATCH /maps/{ID}``), removing it, and undoing the removal.

``DELETE /maps/{ID}`` removes a map; ``POST /maps/{ID}/restore`` undoes that.
"""

from functools import partial
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import may_undo, owns
from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, BodyRule, Request, Response
from mapshelf.api.map_fields import details_of, read_json
from mapshelf.api.map_writing import (
    map_response,
    sender_address,
    signed,
    with_map,
)
from mapshelf.api.quotas import check_restored
from mapshelf.api.visible_maps import no_map
from mapshelf.clock import milliseconds
from mapshelf.errors import Conflict, Forbidden, MapDeleted, MapHidden, NotFound
from mapshelf.model import UNDOABLE, AuditEvent, Map, RemovedMap, Role, User, about_map
from mapshelf.settings import Settings
from mapshelf.store import Store
from mapshelf.store.contract.publishing import unlimited

CHANGES: Final = BodyRule(65_536, ("application/json", "application/merge-patch+json"))
"""The body rule of an edit."""


async def edit_map(context: Context, request: Request) -> Response:
    """Change the details of a map."""
    async with context.bodies.content(request) as body:
        said = read_json(body)
    edit, event = partial(_edit, said), AuditEvent.MAP_CHANGED
    found = await with_map(context, request, context.queues.writing, edit, event=event)
    return map_response(found, context.base_url)


async def remove_map(context: Context, request: Request) -> Response:
    """Remove a map."""
    event = AuditEvent.MAP_REMOVED
    await with_map(context, request, context.queues.writing, _remove, event=event)
    return Response(204, NO_STORE)


async def restore_map(context: Context, request: Request) -> Response:
    """Undo the removal of a map."""
    public_id, user = request.parts["id"], signed(request)
    address = sender_address(context, request)
    undo = partial(
        undo_removal, context.store_for(request), public_id, user, address, context.settings
    )
    found = await context.queues.writing.result(object(), undo, owner=request.owner)
    context.map_finder.forget(found.id)
    return map_response(found, context.base_url)


def undo_removal(store: Store, public_id: str, user: User, address: str, settings: Settings) -> Map:
    """Undo the removal of a map, and return it.

    Args:
        store: the store that has the map.
        public_id: the map.
        user: the current user.
        address: the address of the client.
        settings: the quotas of members.

    Raises:
        NotFound: the user has no removed map with this id, or removed it over 30 days ago.
        Forbidden: an administrator removed it, or restoring it would exceed the user's quota.
    """
    now = milliseconds()
    found = [one for one in removed_maps(store, user, now) if one.map.id == public_id]
    if not found:
        raise no_map()
    _require_undoable(user, now, found[0])
    check = unlimited if user.role is Role.ADMINISTRATOR else partial(check_restored, settings)
    entry = done_by(user, address, AuditEvent.MAP_RESTORED, about_map(public_id))
    try:
        with store.auditing(entry):
            permit = partial(_require_undoable, user, now)
            return store.undo_removal(found[0].map.file_id, check, permit)
    except MapDeleted as error:
        raise Forbidden("deleted", str(error)) from error
    except NotFound as error:  # it was deleted or restored meanwhile
        raise no_map() from error


def _require_undoable(user: User, now: int, removed: RemovedMap) -> None:
    if user.role is not Role.ADMINISTRATOR and not owns(removed.map, user):
        raise no_map()
    if not may_undo(removed, user, now):
        raise Forbidden(
            "removed", "An administrator removed this map, so only administrators can restore it."
        )


def removed_maps(store: Store, user: User, now: int, *, own: bool = False) -> list[RemovedMap]:
    """Return the removed maps that a user may see, while removals can be undone.

    Args:
        store: the store.
        user: the current user; administrators see all removed maps.
        now: milliseconds since 1970-01-01 UTC.
        own: whether to return only the user's own maps.
    """
    own = own or user.role is not Role.ADMINISTRATOR
    found = store.removed_maps(user.id if own else None)
    since = now - UNDOABLE
    return [one for one in found if one.removed > since and (not own or owns(one.map, user))]


def _edit(said: dict[str, str], store: Store, found: Map, user: User) -> Map:
    details = details_of(said, store)
    try:
        return store.edit_map(found.file_id, details)
    except MapHidden:
        raise
    except Conflict as error:
        raise Conflict("The title and the template of this map come from its file.") from error


def _remove(store: Store, found: Map, user: User) -> None:
    store.remove_map(found.file_id, user.id)
