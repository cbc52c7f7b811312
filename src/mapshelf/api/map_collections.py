"""``GET /collections`` and ``GET /collections/{ID}``: ordered lists of maps curated by people."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import (
    CHECKED_EACH_TIME,
    NO_STORE,
    Headers,
    Request,
    Response,
    etag,
    json_response,
)
from mapshelf.api.map_writing import map_object, signed
from mapshelf.api.maps import list_response
from mapshelf.api.visible_collections import find_collection
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import Collection, Map
from mapshelf.query import parse_query
from mapshelf.snapshot.format.records import slug


async def list_collections(context: Context, request: Request) -> Response:
    """Return a page of published collections and the user's own."""
    query, user = parse_query(request.query_string), signed(request)
    owner = dict(query.given).get("owner")
    asked = (owner, user.id, query.offset, query.limit)
    make = partial(context.store.get().collections, *asked)
    queue = context.queues.lookups
    some, total = await queue.result(
        ("collections", *asked), make, request.disconnection, owner=request.owner
    )
    body = orjson.dumps([collection_facts(one, context.base_url) for one in some])
    return list_response(body, query, total, "", f"{context.base_url.decode()}/collections")


async def show_collection(context: Context, request: Request) -> Response:
    """Return a collection with those of its maps that the token's owner may see."""
    found = await find_collection(context, request)
    body = collection_object(found.collection, found.maps, context.base_url)
    return found.guarded(json_response(200, body, [etag(body), *CHECKED_EACH_TIME]))


def collection_facts(found: Collection, base_url: bytes) -> Mapping[str, Any]:
    """Return the fields of a collection."""
    base = base_url.decode()
    return {
        "id": found.id,
        "title": found.title,
        "text": found.text,
        "owner": found.owner,
        "visibility": found.visibility,
        "created": format_date(found.created),
        "changed": format_date(found.changed),
        "pinned": found.pinned is not None,
        "count": found.maps,
        "url": base + collection_path(found),
        "picture": f"{base}/collections/{found.id}/picture.png",
    }


def collection_object(found: Collection, maps: Sequence[Map], base_url: bytes) -> bytes:
    """Return the Collection object for a collection with these maps."""
    objects = [orjson.Fragment(map_object(one, base_url)) for one in maps]
    return orjson.dumps({**collection_facts(found, base_url), "maps": objects})


def collection_path(found: Collection) -> str:
    """Return the path of the page of a collection."""
    return f"/collected/{found.id}/{quote(slug(found.title))}"


def new_collection_response(body: bytes, found: Collection, base_url: bytes) -> Response:
    """Return the response to the creation of a collection."""
    location: Headers = ((b"location", base_url + b"/collections/" + found.id.encode()),)
    return json_response(201, body, (*location, *NO_STORE))
