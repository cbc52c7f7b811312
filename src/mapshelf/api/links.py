"""``GET /maps/{ID}/links``: links between maps, in both directions.

This is for programs that show how maps are connected. Other links (to the web, to topics, to other
files) are in the outline.
"""

from functools import partial

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response, etag, json_response
from mapshelf.api.map_links import linking_maps, links_and_maps
from mapshelf.api.visible_maps import find_map
from mapshelf.formats.links import TargetKind, target_kind
from mapshelf.snapshot.read import Snapshot
from mapshelf.store.contract import Links


async def show_links(context: Context, request: Request) -> Response:
    """Return the links from a map to other maps, and from other maps to it."""
    found = await find_map(context, request)
    of_map = (found.record.file_id, request.parts["id"])
    make = partial(map_links_response, context.store.get(), found.snapshot, *of_map)
    return await found.response(request, context.queues.files, make, query_string=b"")


def map_links_response(store: Links, snapshot: Snapshot, file_id: int, public_id: str) -> Response:
    """Return the response with the links of a map.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    out = [
        {"topic": link.topic, "target": link.target, "map": found.id if found else ""}
        for link, found in links_and_maps(store, snapshot, file_id)
        # Many text files are maps only if they are in the catalogue.
        if found or target_kind(link.target) is TargetKind.MAP
    ]
    linking = linking_maps(store, snapshot, file_id, public_id)
    body = orjson.dumps(
        {"out": out, "in": [{"map": found.id, "topic": found.topic} for found in linking]}
    )
    return json_response(200, body, [etag(body), *CHECKED_EACH_TIME])
