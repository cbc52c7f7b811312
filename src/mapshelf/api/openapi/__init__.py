"""The OpenAPI document, generated from the tables in the code.

Filters, orders, formats, sizes, limits and errors come from the tables that the service uses, so a
new row appears in the document automatically. Descriptions for people (of operations, headers and
keys) are only written here:

* ``operations``: the operations and their responses.
* ``parameters``, ``responses``, ``schemas``: the components that operations share.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.errors import FAULT, TABLE, ErrorRow
from mapshelf.api.http import Request, Response, etag, json_response
from mapshelf.api.oauth.metadata import AUTHORIZE, TOKEN
from mapshelf.api.openapi.operations import TAGS, paths
from mapshelf.api.openapi.parameters import parameters
from mapshelf.api.openapi.responses import headers, responses
from mapshelf.api.openapi.schemas import schemas
from mapshelf.query import FILTERS, SORT_ORDERS, Filter, SortOrder
from mapshelf.tokens import ACCOUNT, MAPS, MAPS_WRITE
from mapshelf.writers import WRITERS, Writer

DESCRIPTION: Final = """\
Lists and searches the mind maps of a Mapshelf catalogue, finds topics in them, returns each map \
as a file in several formats and as a picture, and returns the owner of a token. Paths carry no \
version.

Every error has the same object, `Error`, as its body. An unknown path returns 404 (`NotFound`), a \
method that the path does not support 405 (`MethodNotAllowed`). A body that an operation takes \
needs a Content-Length header (411, `LengthRequired`), must be of a media type that the operation \
takes (415, `UnsupportedMediaType`), and must arrive (408, `RequestTimeout`).

Every path answers HEAD like GET, without the body, and OPTIONS with 204 (`Preflight`), without a \
token: browsers send it before a request from a page of another origin (CORS).

In addition, a catalogue has pages for people, unless its operator turns them off: the `URL` of a \
map is its page (`?embed=1` for a frame on another page), `/` the library, `/feed.atom` a feed of \
any list, `/oembed` embedding information (oEmbed 1.0), and `/docs` this description as a page."""

PAGES: Final = "They are public, like the pictures at `Thumbnail`."

PAGES_OF_PRIVATE: Final = """\
This catalogue is private: except for `/docs`, people see these pages when they have signed in."""

BEARER: Final = """\
An access token, as `mapshelf token create` prints it, in the Authorization header: \
`Bearer <token>`. `Bearer` is case-insensitive and may be omitted. A token in the URL is ignored. \
Each operation needs one of the scopes of the token."""


OAUTH: Final = """\
A program that the operator has registered gets tokens from its users, by the authorization code \
grant with PKCE (S256). `/.well-known/oauth-authorization-server` (RFC 8414) has all addresses, \
also of the device grant (RFC 8628), which this version of OpenAPI cannot describe."""

SCOPES_TOLD: Final = {
    ACCOUNT: "read the profile of the user",
    MAPS: "read maps",
    MAPS_WRITE: "publish maps, change those of the user, and vote",
}
"""The meaning of each scope."""


def openapi_document(
    *,
    private: bool = False,
    filters: Sequence[Filter] = FILTERS,
    orders: Sequence[SortOrder] = SORT_ORDERS,
    writers: Sequence[Writer] = WRITERS,
    errors: Sequence[ErrorRow] = (*TABLE.values(), FAULT),
) -> dict[str, Any]:
    """Return the document as JSON types.

    Args:
        private: whether the catalogue is private, so that pictures need a token, too.
        filters: the filters of lists.
        orders: the orders of lists.
        writers: the formats of outlines.
        errors: the responses to errors.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Mapshelf",
            "version": "1.0",
            "summary": "A catalogue of mind maps",
            "description": f"{DESCRIPTION} {PAGES_OF_PRIVATE if private else PAGES}",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"oauth": []}],
        "tags": TAGS,
        "paths": paths(filters, writers, private=private),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": BEARER},
                "oauth": {
                    "type": "oauth2",
                    "description": OAUTH,
                    "flows": {
                        "authorizationCode": {
                            "authorizationUrl": AUTHORIZE,
                            "tokenUrl": TOKEN,
                            "refreshUrl": TOKEN,
                            "scopes": SCOPES_TOLD,
                        }
                    },
                },
            },
            "parameters": parameters(filters, orders, writers),
            "headers": headers(),
            "responses": responses(),
            "schemas": schemas(errors),
        },
    }


async def show_openapi(context: Context, request: Request) -> Response:
    """Return the document. It is built on the first request, so that workers start faster."""
    return _response(private=context.settings.private)


@cache
def _response(*, private: bool) -> Response:
    body = orjson.dumps(openapi_document(private=private))
    return json_response(200, body, [etag(body), (b"cache-control", b"no-cache")])
