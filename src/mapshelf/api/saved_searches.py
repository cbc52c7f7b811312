"""``/users/me/searches``: the saved searches of the token's owner.

A saved search consists of those parameters of ``GET /maps`` that select and order maps. They are
validated like those, and stored as a query string.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from mapshelf.accounts.audit import done_by
from mapshelf.api.context import Context
from mapshelf.api.http import (
    CHECKED_EACH_TIME,
    NO_STORE,
    BodyRule,
    Headers,
    Request,
    Response,
    etag,
    json_response,
)
from mapshelf.api.json_bodies import parse_object
from mapshelf.api.map_writing import sender_address, signed
from mapshelf.api.text_values import read_line
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import SEARCH_LENGTH, SEARCH_NAME_LENGTH, AuditEvent, SavedSearch, about_search
from mapshelf.query import PARAMETERS, parse_query
from mapshelf.store import Store

SEARCH: Final = BodyRule(65_536, ("application/json", "application/merge-patch+json"))
"""The body rule for the details of a saved search."""

SELECTING: Final = tuple(sorted(PARAMETERS - {"limit", "offset"}))
"""The parameters that a saved search may have."""

_KEYS: Final = ("name", "parameters")


async def list_saved_searches(context: Context, request: Request) -> Response:
    """Return all saved searches of the token's owner."""
    read = partial(context.store.get().saved_searches_of, signed(request).id)
    # A unique key: a client that has just saved a search must find it in the list.
    found = await context.queues.lookups.result(
        object(), read, request.disconnection, owner=request.owner
    )
    body = orjson.dumps([search_facts(one, context.base_url.decode()) for one in found])
    return json_response(200, body, [etag(body), *CHECKED_EACH_TIME])


async def save_search(context: Context, request: Request) -> Response:
    """Save a search."""
    async with context.bodies.content(request) as body:
        name, parameters = _read_details(body)
    if name is None or parameters is None:
        raise InvalidParameter("A saved search needs a name and parameters.")
    user = signed(request)
    entry = done_by(user, sender_address(context, request), AuditEvent.SEARCH_SAVED)

    def save() -> Response:
        store = context.store_for(request)
        with store.auditing(entry):
            found = store.save_search(user.id, name, parameters)
        path = f"/users/me/searches/{found.id}".encode()
        location: Headers = ((b"location", context.base_url + path),)
        return _response(context, 201, found, location)

    return await context.queues.writing.result(object(), save, owner=request.owner)


async def edit_saved_search(context: Context, request: Request) -> Response:
    """Change the name or the parameters of a saved search."""
    async with context.bodies.content(request) as body:
        name, parameters = _read_details(body)
    user, public_id = signed(request), request.parts["id"]
    address = sender_address(context, request)
    entry = done_by(user, address, AuditEvent.SEARCH_CHANGED, about_search(public_id))

    def edit() -> Response:
        store = context.store_for(request)
        try:
            with store.auditing(entry):
                found = store.edit_saved_search(user.id, public_id, name, parameters)
        except NotFound as error:
            raise no_search() from error
        return _response(context, 200, found)

    return await context.queues.writing.result(object(), edit, owner=request.owner)


async def remove_saved_search(context: Context, request: Request) -> Response:
    """Delete a saved search."""
    user, public_id = signed(request), request.parts["id"]
    address = sender_address(context, request)
    entry = done_by(user, address, AuditEvent.SEARCH_REMOVED, about_search(public_id))

    def remove(store: Store) -> None:
        try:
            with store.auditing(entry):
                store.remove_saved_search(user.id, public_id)
        except NotFound as error:
            raise no_search() from error

    work = partial(remove, context.store_for(request))
    await context.queues.writing.result(object(), work, owner=request.owner)
    return Response(204, NO_STORE)


# -- shared with pages --------------------------------------------------------------------------


def search_facts(found: SavedSearch, base_url: str) -> Mapping[str, Any]:
    """Return the fields of a saved search."""
    return {
        "id": found.id,
        "name": found.name,
        "parameters": dict(parse_query(found.parameters.encode()).given),
        "created": format_date(found.created),
        "changed": format_date(found.changed),
        "url": f"{base_url}/?{found.parameters}" if found.parameters else f"{base_url}/",
        "feed": f"{base_url}/saved/{found.id}/feed.atom",
    }


def read_name(value: object) -> str:
    """Return the validated name of a saved search.

    Raises:
        InvalidParameter: the name is invalid.
    """
    text = value if isinstance(value, str) and "\0" not in value else ""
    return read_line("name", text, SEARCH_NAME_LENGTH)


def read_search(query_string: bytes) -> str:
    """Return the parameters to save, from the query string of a list.

    Raises:
        InvalidParameter: a parameter is not supported, or the query string is too long.
    """
    found = urlencode(parse_query(query_string).given)
    if len(found) > SEARCH_LENGTH:
        raise InvalidParameter("The parameters of a saved search are too long.")
    return found


def no_search() -> NotFound:
    """Return the error for a saved search that the client does not have."""
    return NotFound("There is no saved search with this ID.")


# -- common -------------------------------------------------------------------------------------


def _response(context: Context, status: int, found: SavedSearch, headers: Headers = ()) -> Response:
    body = orjson.dumps(search_facts(found, context.base_url.decode()))
    return json_response(status, body, (*headers, *NO_STORE))


def _read_details(body: bytes) -> tuple[str | None, str | None]:
    """Return the name and the parameters in a body, ``None`` for a missing one."""
    said = parse_object(body, _KEYS)
    name = read_name(said["name"]) if "name" in said else None
    return name, _read_parameters(said["parameters"]) if "parameters" in said else None


def _read_parameters(given: object) -> str:
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        raise InvalidParameter("The parameters must be an object whose values are texts.")
    if not given.keys() <= set(SELECTING):
        raise InvalidParameter(f"The parameters must be some of {', '.join(SELECTING)}.")
    return read_search(urlencode(given).encode())
