"""The OpenAPI document of the interface, made from the tables that the interface is made of.

Filters, orders, formats, sizes, limits and errors come from where the service takes them, so a new
row shows up in the document by itself. What only people need (what an operation, a header or a key
means) is written here, once each:

* ``operations``: what can be asked, and what answers it.
* ``parameters``, ``responses``, ``schemas``: the components that operations share.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.errors import FAULT, TABLE, ErrorRow
from mapshelf.api.http import Request, Response, etag, json_response
from mapshelf.api.openapi.operations import TAGS, paths
from mapshelf.api.openapi.parameters import parameters
from mapshelf.api.openapi.responses import headers, responses
from mapshelf.api.openapi.schemas import schemas
from mapshelf.query import FILTERS, SORT_ORDERS, Filter, SortOrder
from mapshelf.writers import WRITERS, Writer

DESCRIPTION: Final = """\
Lists and searches the mind maps of a Mapshelf catalogue, tells where in them something stands, \
gives out each as a file of several formats and as a picture, and tells who a token belongs to. \
Addresses carry no version.

Every failure is told by the same object, `Error`. Whatever the address, an unknown one is \
answered with 404 (`NotFound`) and a method it does not take with 405 (`MethodNotAllowed`).

Every path answers HEAD like GET, without the body, and OPTIONS with 204 (`Preflight`), without a \
token: browsers ask so before they send a request from a page of another origin (CORS).

Besides these operations a catalogue has pages for people, unless its operator leaves them out: \
`URL` of a map leads to its page (`?embed=1` for a frame of another page), `/` to the library, \
`/feed.atom` to a feed of any list, `/oembed` to how a map is embedded (oEmbed 1.0), and `/docs` \
to this description as a page. They are public, like the pictures that `Thumbnail` leads to."""

BEARER: Final = """\
An access token, as `mapshelf token create` prints it, in the Authorization header: \
`Bearer <token>`, the scheme in any case. The token without a scheme is taken too. It is never \
read from the address."""


def openapi_document(
    *,
    filters: Sequence[Filter] = FILTERS,
    orders: Sequence[SortOrder] = SORT_ORDERS,
    writers: Sequence[Writer] = WRITERS,
    errors: Sequence[ErrorRow] = (*TABLE.values(), FAULT),
) -> dict[str, Any]:
    """Return the document, of what JSON can hold; the same for the same tables.

    Args:
        filters: the filters of lists.
        orders: the orders of lists.
        writers: the formats of outlines.
        errors: how every error is told.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Mapshelf",
            "version": "1.0",
            "summary": "A catalogue of mind maps",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": TAGS,
        "paths": paths(filters, writers),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": BEARER}
            },
            "parameters": parameters(filters, orders, writers),
            "headers": headers(),
            "responses": responses(),
            "schemas": schemas(errors),
        },
    }


async def show_openapi(context: Context, request: Request) -> Response:
    """Return the document. It is made when it is first asked for: a worker starts without it."""
    return _response()


@cache
def _response() -> Response:
    body = orjson.dumps(openapi_document())
    return json_response(200, body, [etag(body), (b"cache-control", b"no-cache")])
