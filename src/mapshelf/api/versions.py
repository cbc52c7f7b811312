"""``GET /maps/{ID}/versions`` and ``POST /maps/{ID}/versions/{N}/restore``: the file history."""

from functools import partial

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, Request, Response, json_response
from mapshelf.api.map_writing import map_response, with_map
from mapshelf.api.uploads import Publisher
from mapshelf.api.visible_maps import until_hidden
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import AuditEvent, Map, User, Version
from mapshelf.store import Store


async def list_versions(context: Context, request: Request) -> Response:
    """Return the versions of a map, newest first."""
    found = await with_map(context, request, context.queues.lookups, _versions)
    body = orjson.dumps([_described(version) for version in found])
    return json_response(200, body, NO_STORE)


async def restore_version(context: Context, request: Request) -> Response:
    """Restore the file of an earlier version as a new version."""
    await until_hidden(context, request)
    publisher = Publisher(context.store_for(request), context.settings, context.upload_reader)
    restore = partial(publisher.restore, int(request.parts["number"]))
    event = AuditEvent.MAP_REPLACED
    found = await with_map(context, request, context.queues.uploads, restore, event=event)
    return map_response(found, context.base_url)


def _versions(store: Store, found: Map, user: User) -> list[Version]:
    return store.versions(found.file_id)


def _described(version: Version) -> dict[str, object]:
    return {
        "number": version.number,
        "name": version.name,
        "size": version.size,
        "sha256": version.digest.hex(),
        "created": format_date(version.created),
        "created_by": version.created_by,
        "current": version.current,
    }
