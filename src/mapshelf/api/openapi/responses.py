"""The headers and shared responses of the OpenAPI document."""

from collections.abc import Iterable
from typing import Any, Final

from mapshelf.api.http import MAXIMUM_BODY, MAXIMUM_QUERY_STRING

Json = dict[str, Any]

TEXT: Final = {"type": "string"}

ALWAYS: Final[dict[str, tuple[str, Json]]] = {
    "X-Request-Id": (
        "Identifies this answer; quote it when reporting a problem, the log of the service has it "
        "too.",
        TEXT,
    ),
    "X-Content-Type-Options": (
        "Keeps browsers from guessing another content type.",
        {"const": "nosniff"},
    ),
    "Access-Control-Allow-Methods": ("Methods that web pages of other origins may use.", TEXT),
    "Access-Control-Allow-Headers": ("Headers that such pages may send.", TEXT),
    "Access-Control-Max-Age": (
        "Seconds for which a browser may remember this.",
        {"type": "integer"},
    ),
    "Allow": ("The methods this address takes.", TEXT),
    "X-Total-Count": (
        "How many maps match in all, whatever `limit` and `offset` say.",
        {"type": "integer", "minimum": 0},
    ),
    "Content-Disposition": (
        "Says that the answer is a file to keep, and under which name (RFC 6266).",
        TEXT,
    ),
    "ETag": ("Changes when the answer does; send it back in If-None-Match to be told so.", TEXT),
    "Cache-Control": ("Whether the answer may be kept, and by whom.", TEXT),
    "Vary": ("The request headers the answer depends on.", TEXT),
    "WWW-Authenticate": (
        'How to authenticate; says `error="invalid_token"` when a token was sent.',
        TEXT,
    ),
    "Retry-After": (
        "Seconds after which asking again makes sense.",
        {"type": "integer", "minimum": 1},
    ),
}
"""Headers that every response which names them has, each with what it means and its values."""

SOMETIMES: Final[dict[str, tuple[str, Json]]] = {
    "Access-Control-Allow-Origin": (
        "Which web pages may read the answer: any, unless the operator names an origin or turns "
        "this off.",
        TEXT,
    ),
    "Access-Control-Expose-Headers": ("Which headers such pages may read.", TEXT),
    "Link": (
        "Addresses of the pages `first`, `prev`, `next` and `last` (RFC 8288), each only where "
        "there is such a page. Absent when `limit` is 0.",
        TEXT,
    ),
    "X-Corrected-Query": (
        "What was searched for instead, because nothing matches `query` as it is written: UTF-8, "
        "percent-encoded. Absent where nothing was corrected.",
        {"type": "string", "pattern": "^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"},
    ),
    "Content-Security-Policy": ("On SVG: that it may load and run nothing.", TEXT),
}
"""Headers that a response which names them may lack."""

COMMON: Final = (
    "X-Request-Id",
    "X-Content-Type-Options",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
)
"""Headers of every response."""

KEPT: Final = ("ETag", "Cache-Control")
"""Headers of what clients and caches may keep."""

CHECKED: Final = (*KEPT, "Vary")
"""Headers of what a client may keep for itself, and asks about each time."""

LIST: Final = ("X-Total-Count", "Link", "X-Corrected-Query", *CHECKED)
"""Headers of a page of a list."""

PREFLIGHT: Final = (
    "Allow",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Max-Age",
)
"""Headers of the answer to OPTIONS."""

ERRORS: Final[dict[str, tuple[int, str, tuple[str, ...]]]] = {
    "BadRequest": (
        400,
        "A parameter has a value that is not offered, is given twice, or is not UTF-8 text; or the "
        "request breaks a rule of HTTP (no Host header, or two).",
        (),
    ),
    "Unauthorized": (
        401,
        "There is no access token, or it is not valid: mistyped, unknown, expired or revoked, or "
        "its user is disabled.",
        ("WWW-Authenticate",),
    ),
    "NotFound": (404, "Nothing is at this address.", ()),
    "MapNotFound": (
        404,
        "There is no map with this ID, it does not have what is asked for, or the format is none "
        "that is offered.",
        (),
    ),
    "MethodNotAllowed": (
        405,
        "The address is right, but it does not take this method.",
        ("Allow",),
    ),
    "ContentTooLarge": (
        413,
        f"The request announces a body of more than {MAXIMUM_BODY} bytes; no operation takes one.",
        (),
    ),
    "UriTooLong": (414, f"The query string is longer than {MAXIMUM_QUERY_STRING} bytes.", ()),
    "ServerError": (
        500,
        "A fault of the service. The log has the details under the X-Request-Id.",
        (),
    ),
    "Unavailable": (
        503,
        "The service cannot answer for a moment: its database is out of reach, or the catalogue "
        "is being prepared.",
        ("Retry-After",),
    ),
}
"""What an ``Error`` object is sent with: the status, when it is, and headers of its own."""

NOT_MODIFIED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "ListNotModified": ("The client has this page already.", LIST),
    "DocumentNotModified": ("The client has this document already.", KEPT),
    "MapNotModified": ("The client has this already.", CHECKED),
}
"""The answers with status 304, each with its headers; that for pictures is made below."""


def headers() -> Json:
    """Return all headers, by the names under which responses refer to them."""
    return {
        **{name: _header(*row, required=True) for name, row in ALWAYS.items()},
        **{name: _header(*row) for name, row in SOMETIMES.items()},
    }


def responses() -> Json:
    """Return the responses that operations share, by the names under which these refer to them."""
    return {
        **{
            name: response(description, ("Cache-Control", *own), json_content("Error"))
            for name, (_, description, own) in ERRORS.items()
        },
        "Preflight": response(
            "What the address takes; for browsers that ask before they send.", PREFLIGHT
        ),
        **{name: response(*row) for name, row in NOT_MODIFIED.items()},
        "PictureNotModified": picture_response("The client has this picture already.", KEPT),
    }


def response(description: str, names: Iterable[str], content: Json | None = None) -> Json:
    """Return a response with these headers, with those that every one has, and with a body."""
    return {
        "description": description,
        "headers": {name: reference("headers", name) for name in (*names, *COMMON)},
        **({"content": content} if content else {}),
    }


def picture_response(description: str, names: Iterable[str], content: Json | None = None) -> Json:
    """Return a response about a picture, for which only a private catalogue asks for a token."""
    found = response(description, names, content)
    found["headers"]["Vary"] = _header(
        "`Authorization`, in a private catalogue alone.", {"const": "Authorization"}
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
