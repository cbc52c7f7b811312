"""``GET /folders`` and ``GET /tags``: the folders and tags of maps, with counts."""

from functools import partial
from typing import Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response, etag, json_response
from mapshelf.query import read_parameters
from mapshelf.snapshot.read import Snapshot

BELOW: Final = "below"
"""The parameter for the parent folder."""


async def show_folders(context: Context, request: Request) -> Response:
    """Return the direct subfolders of a folder, with the number of maps in and below each."""
    below = read_parameters(request.query_string, (BELOW,)).get(BELOW, "")
    current = context.snapshot.get()
    make = partial(_folders, current.snapshot, below)
    return await current.response(request, context.queues.searches, make)


async def show_tags(context: Context, request: Request) -> Response:
    """Return all tags, with the number of maps of each."""
    current = context.snapshot.get()
    make = partial(_tags, current.snapshot)
    return await current.response(request, context.queues.searches, make)


def _folders(snapshot: Snapshot, below: str) -> Response:
    found = snapshot.folders(below)
    return _response([{"name": one.name, "count": one.count, "path": one.path} for one in found])


def _tags(snapshot: Snapshot) -> Response:
    return _response([{"name": one.name, "count": one.count} for one in snapshot.tags()])


def _response(rows: list[dict[str, object]]) -> Response:
    body = orjson.dumps(rows)
    return json_response(200, body, [etag(body), *CHECKED_EACH_TIME])
