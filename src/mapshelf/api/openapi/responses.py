"""The headers and shared responses of the OpenAPI document."""

from collections.abc import Iterable
from typing import Any, Final

from mapshelf.api.http import MAXIMUM_BODY, MAXIMUM_QUERY_STRING

Json = dict[str, Any]

TEXT: Final = {"type": "string"}

ALWAYS: Final[dict[str, tuple[str, Json]]] = {
    "X-Request-Id": (
        "Identifies this response in the log of the service; quote it when you report a problem.",
        TEXT,
    ),
    "X-Content-Type-Options": (
        "Prevents browsers from guessing another content type.",
        {"const": "nosniff"},
    ),
    "Access-Control-Allow-Methods": ("Methods that web pages of other origins may use.", TEXT),
    "Access-Control-Allow-Headers": ("Headers that such pages may send.", TEXT),
    "Access-Control-Max-Age": (
        "Seconds for which a browser may remember this.",
        {"type": "integer"},
    ),
    "Allow": ("The methods this path supports.", TEXT),
    "X-Total-Count": (
        "Total number of matching maps, whatever `limit` and `offset` say.",
        {"type": "integer", "minimum": 0},
    ),
    "Content-Disposition": (
        "Tells browsers to save the file, and the name (RFC 6266).",
        TEXT,
    ),
    "ETag": ("Changes when the response does; send it back in If-None-Match.", TEXT),
    "Cache-Control": ("Whether the response may be cached, and by whom.", TEXT),
    "Vary": ("The request headers the response depends on.", TEXT),
    "WWW-Authenticate": (
        'How to authenticate; says `error="invalid_token"` when a token was sent, or '
        '`error="insufficient_scope"` with the `scope` that the token does not have.',
        TEXT,
    ),
    "Location": ("URL of what was made, as the API has it.", TEXT),
    "Retry-After": (
        "Seconds to wait before trying again.",
        {"type": "integer", "minimum": 1},
    ),
}
"""Headers that are always in the responses that name them, each with its meaning and values."""

SOMETIMES: Final[dict[str, tuple[str, Json]]] = {
    "Access-Control-Allow-Origin": (
        "Which origins may read the response: any, unless the operator names one or turns this "
        "off.",
        TEXT,
    ),
    "Access-Control-Expose-Headers": ("Which headers pages of these origins may read.", TEXT),
    "Link": (
        "URLs of the pages `first`, `prev`, `next` and `last` (RFC 8288), each only if there is "
        "such a page. Absent if `limit` is 0.",
        TEXT,
    ),
    "X-Corrected-Query": (
        "The query used instead, because nothing matches `query` as written: UTF-8, "
        "percent-encoded. Absent if nothing was corrected.",
        {"type": "string", "pattern": "^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"},
    ),
    "X-Robots-Tag": (
        "`noindex` for a map that is not published: search engines must not list it.",
        {"const": "noindex"},
    ),
    "X-Missing-Pictures": (
        "How many pictures of the map are not in the file: they cannot be shown, are too many, or "
        "there was no time to make them (then `Cache-Control` is `no-store`, and the next "
        "response has more of them). Absent if all are there.",
        {"type": "integer", "minimum": 1},
    ),
    "RateLimit": (
        "What is left of the rate limit: its name, how many requests (`r`), and the seconds until "
        "there are all of them again, or one if there is none (`t`). Absent if the operator has "
        "set no limit.",
        {"type": "string", "pattern": '^"[a-z-]+";r=[0-9]+;t=[0-9]+$'},
    ),
    "RateLimit-Policy": (
        "The rate limit: its name, how many requests (`q`), and the seconds in which as many more "
        "become possible (`w`). Absent if the operator has set none.",
        {"type": "string", "pattern": '^"[a-z-]+";q=[0-9]+;w=[0-9]+$'},
    ),
    "Content-Security-Policy": (
        "On SVG: prevents the picture from loading or running anything.",
        TEXT,
    ),
}
"""Headers that may be missing in the responses that name them."""

COMMON: Final = (
    "X-Request-Id",
    "X-Content-Type-Options",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "RateLimit",
    "RateLimit-Policy",
)
"""Headers of every response."""

KEPT: Final = ("ETag", "Cache-Control")
"""Headers of what clients and caches may cache."""

OF_PICTURE: Final = (*KEPT, "X-Robots-Tag")
"""The same, of a map."""

CHECKED: Final = (*KEPT, "Vary")
"""Headers of what only the client may cache, and must revalidate each time."""

OF_MAP: Final = (*CHECKED, "X-Robots-Tag")
"""The same, of a map."""

LIST: Final = ("X-Total-Count", "Link", "X-Corrected-Query", *CHECKED)
"""Headers of a page of a list."""

PREFLIGHT: Final = (
    "Allow",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Max-Age",
)
"""Headers of the response to OPTIONS."""

ERRORS: Final[dict[str, tuple[int, str, tuple[str, ...]]]] = {
    "BadRequest": (
        400,
        "A parameter has an invalid value, is given twice, or is not UTF-8 text; or the request is "
        "not valid HTTP (no Host header, or two).",
        (),
    ),
    "Unauthorized": (
        401,
        "There is no access token, or it is not valid: mistyped, unknown, expired or revoked, or "
        "its user is disabled.",
        ("WWW-Authenticate",),
    ),
    "InsufficientScope": (
        403,
        "The access token is valid, but does not have the scope that the operation needs.",
        ("WWW-Authenticate",),
    ),
    "Forbidden": (
        403,
        "The access token does not have the scope that the operation needs; or its user may see "
        "the map or the collection, but not do this with it, or may not upload more.",
        (),
    ),
    "NotFound": (404, "There is nothing at this path.", ()),
    "MapNotFound": (
        404,
        "There is no map with this ID, it does not have what was requested, or the format is not "
        "supported.",
        (),
    ),
    "CollectionNotFound": (
        404,
        "There is no collection with this ID, or it does not have this map.",
        (),
    ),
    "SearchNotFound": (404, "The user has no saved search with this ID.", ()),
    "MethodNotAllowed": (
        405,
        "The path exists, but it does not support this method.",
        ("Allow",),
    ),
    "RequestTimeout": (408, "The body of the request does not arrive.", ()),
    "Conflict": (
        409,
        "The map was read from a file in a folder, which alone can say this; or administrators "
        "have hidden the map or the collection, and decide who sees it.",
        (),
    ),
    "TooManyCollections": (
        409,
        "The user has as many collections as one may have, or the collection would have more maps "
        "than one may have.",
        (),
    ),
    "TooManySearches": (409, "The user has as many saved searches as one may have.", ()),
    "LengthRequired": (411, "The request has a body, but no Content-Length header.", ()),
    "ContentTooLarge": (
        413,
        "The body of the request is larger than the operation takes, or larger than "
        f"{MAXIMUM_BODY} bytes for an operation that takes none.",
        (),
    ),
    "UriTooLong": (414, f"The query string is longer than {MAXIMUM_QUERY_STRING} bytes.", ()),
    "UnsupportedMediaType": (
        415,
        "The body of the request is of another media type than the operation takes, or is "
        "compressed; or its file is no mind map.",
        (),
    ),
    "UnreadableFile": (
        422,
        "The file is a map, but it is damaged, or cannot be read within the limits.",
        (),
    ),
    "TooManyUploads": (
        429,
        "The user reached the limit of uploads per hour, or the client sent more requests than "
        "a rate limit allows.",
        ("Retry-After",),
    ),
    "TooManyReports": (
        429,
        "The user reached the limit of reports per day, or the client sent more "
        "requests than a rate limit allows.",
        ("Retry-After",),
    ),
    "TooManyRequests": (
        429,
        "The client sent more requests than a rate limit allows, if the operator has set one.",
        ("Retry-After",),
    ),
    "ServerError": (
        500,
        "A bug in the service. The log has details under the X-Request-Id.",
        (),
    ),
    "Unavailable": (
        503,
        "The service cannot respond at the moment: its database is unreachable, the catalogue is "
        "being prepared, or there are too many requests.",
        ("Retry-After",),
    ),
}
"""The responses with an ``Error`` object: status, reason, and headers that only they have."""

NOT_MODIFIED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "ListNotModified": ("The client has this page already.", LIST),
    "DocumentNotModified": ("The client has this document already.", KEPT),
    "MapNotModified": ("The client has this already.", OF_MAP),
}
"""The responses with status 304, each with its headers; that for pictures is made below."""


def headers() -> Json:
    """Return all headers, by the names that responses refer to."""
    return {
        **{name: _header(*row, required=True) for name, row in ALWAYS.items()},
        **{name: _header(*row) for name, row in SOMETIMES.items()},
    }


def responses() -> Json:
    """Return the responses that operations share, by the names that operations refer to."""
    errors = {
        name: response(description, ("Cache-Control", *own), json_content("Error"))
        for name, (_, description, own) in ERRORS.items()
    }
    errors["Forbidden"]["headers"]["WWW-Authenticate"] = _header(
        "Names the scope, if it is that which the token does not have.", TEXT
    )
    return {
        **errors,
        "Preflight": response(
            "What the path supports; browsers ask before they send a request.", PREFLIGHT
        ),
        **{name: response(*row) for name, row in NOT_MODIFIED.items()},
        "PictureNotModified": picture_response("The client has this picture already.", OF_PICTURE),
    }


def response(description: str, names: Iterable[str], content: Json | None = None) -> Json:
    """Return a response with these headers, the common ones, and a body."""
    return {
        "description": description,
        "headers": {name: reference("headers", name) for name in (*names, *COMMON)},
        **({"content": content} if content else {}),
    }


def picture_response(description: str, names: Iterable[str], content: Json | None = None) -> Json:
    """Return a response with a picture, for which only a private catalogue requires a token."""
    found = response(description, names, content)
    found["headers"]["Vary"] = _header(
        "`Authorization, Cookie`, in a private catalogue only.", {"const": "Authorization, Cookie"}
    )
    return found


def or_provisional(found: Json) -> Json:
    """Return a response that has no ETag if a later one may have more pictures."""
    description, schema = ALWAYS["ETag"]
    found["headers"]["ETag"] = _header(
        f"{description} Absent if some pictures could not be made in time: then `Cache-Control` "
        f"is `no-store`, and a later response has more of them.",
        schema,
    )
    return found


def json_content(schema: str) -> Json:
    """Return a body of JSON with a schema of the document."""
    return {"application/json": {"schema": reference("schemas", schema)}}


def reference(kind: str, name: str) -> Json:
    """Return a reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def _header(description: str, schema: Json, *, required: bool = False) -> Json:
    return {
        "description": description,
        **({"required": True} if required else {}),
        "schema": schema,
    }
