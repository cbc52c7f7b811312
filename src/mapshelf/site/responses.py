"""Responses with pages: templates compiled once, and headers that make hostile text harmless.

A page may run only our scripts, apply only our styles, load nothing from other hosts, and not be
framed, except for a page made to be embedded. JSON-LD and other data are in ``script`` elements
whose type is no script: browsers do not run them, so the policy does not apply.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mapshelf.api.compression import packable
from mapshelf.api.http import Headers, Response, body_response, etag
from mapshelf.site.choices import choice_rows
from mapshelf.site.escaping import breakable
from mapshelf.site.messages import ENGLISH, counted, say
from mapshelf.site.messages.scripts import SCRIPT_ENGLISH

if TYPE_CHECKING:
    from jinja2 import Environment

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'{images}; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors {frames}"
)


def _safety(
    frames: str = "'none'", images: str = "", referrer: bytes = b"strict-origin-when-cross-origin"
) -> Headers:
    policy = _POLICY.format(frames=frames, images=images)
    return (
        (b"content-security-policy", policy.encode()),
        (b"referrer-policy", referrer),
    )


_ALONE: Final[Headers] = (
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
)

STRICT: Final[Headers] = (*_safety(), *_ALONE)
"""Headers of pages."""

PERSONAL: Final[Headers] = (
    *_safety(referrer=b"same-origin"),
    *_ALONE,
    (b"cache-control", b"no-store"),
)
"""Headers of pages about a person."""

SECRET: Final[Headers] = (
    *_safety(referrer=b"no-referrer"),
    *_ALONE,
    (b"cache-control", b"no-store"),
)
"""Headers of pages whose address is a secret: nobody is told where a request comes from."""

_OWN_FORMS: Final = b"form-action 'self'"


def leading_to(source: str) -> Headers:
    """Return the headers of a page about a person, whose form leads on to another place.

    Browsers follow a redirect in answer to a form only where the policy of its page lets forms go.

    Args:
        source: an origin or a scheme with its colon, as a Content-Security-Policy names it.
    """
    return tuple(
        (name, value.replace(_OWN_FORMS, _OWN_FORMS + b" " + source.encode("ascii")))
        for name, value in PERSONAL
    )


EMBEDDED: Final[Headers] = _safety(frames="*")
"""Headers of pages that other sites may embed."""

REFERENCE: Final[Headers] = (*_safety(images=" data: blob:"), *_ALONE)
"""Headers of the reference: Swagger UI has icons in its style sheet (``data:``), and shows pictures
from the API (``blob:``)."""

HTML: Final = b"text/html; charset=utf-8"

FRESH: Final = (b"cache-control", b"public, no-cache")
"""Any cache may keep a copy, and must revalidate it before each use."""

_STRAY_PERCENT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
"""A percent sign that stands for itself, as parsers of query strings read it."""

Values = Mapping[str, Any]
"""The variables of a template."""


class Templates:
    """The templates of the package."""

    def __init__(self, common: Values) -> None:
        """Prepare them; ``common`` are variables of all templates."""
        self._common = common

    @cached_property
    def _environment(self) -> "Environment":
        # A process that only makes one kind of page loads no more than it takes.
        from jinja2 import (  # noqa: PLC0415
            Environment,
            PackageLoader,
            StrictUndefined,
            select_autoescape,
        )
        from jinja2.utils import htmlsafe_json_dumps  # noqa: PLC0415

        from mapshelf.site.compiled_templates import compiled_templates  # noqa: PLC0415

        environment = Environment(
            loader=PackageLoader("mapshelf.site"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            bytecode_cache=compiled_templates(),
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(
            self._common, say=say, counted=counted, messages=ENGLISH, rows=choice_rows
        )
        environment.filters["breakable"] = breakable
        environment.globals["script_messages"] = htmlsafe_json_dumps(
            dict(SCRIPT_ENGLISH),
            sort_keys=True,  # as the filter "tojson" does
        )
        return environment

    def load(self) -> None:
        """Load all templates: those that nobody has compiled yet take a third of a second."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def text(self, name: str, values: Values) -> str:
        """Return a template filled with ``values``."""
        return self._environment.get_template(name).render(values)

    def page(self, name: str, values: Values, safety: Headers = STRICT) -> Response:
        """Return a page with the headers ``safety``."""
        body = self.text(name, values).encode()
        return page_response(200, body, (*safety, FRESH))

    def error(self, status: int, heading: str, message: str, headers: Headers) -> Response:
        """Return an error page."""
        values = {"status": status, "heading": heading, "message": message}
        body = self.text("error.html", values).encode()
        return page_response(status, body, (*STRICT, *headers))


def page_response(status: int, body: bytes, headers: Headers) -> Response:
    """Return HTML, with an ETag unless it is an error."""
    validator = (etag(body),) if status == 200 else ()
    return packable(body_response(status, HTML, body, (*headers, *validator)))


def fragment_response(body: bytes) -> Response:
    """Return a part of a page, for a script to insert."""
    return page_response(200, body, (*STRICT, FRESH))


def data_response(media_type: bytes, body: bytes) -> Response:
    """Return data for programs."""
    return packable(body_response(200, media_type, body, (FRESH, etag(body))))


def redirect(address: str, query_string: bytes = b"") -> Response:
    """Redirect to the current address, with the same query string.

    It must not be cached without revalidation: a title may change back.
    """
    if query_string:
        address = f"{address}?{quoted_query(query_string)}"
    headers = ((b"location", address.encode()), (b"content-length", b"0"), FRESH)
    return Response(308, headers)


def see_other(address: str, *headers: tuple[bytes, bytes]) -> Response:
    """Let the browser ask for another page, whatever it asked for."""
    own = ((b"location", address.encode()), (b"content-length", b"0"))
    return Response(303, (*own, (b"cache-control", b"no-store"), *headers))


def quoted_query(query_string: bytes) -> str:
    """Return an equivalent query string with only the characters of RFC 3986, section 3.4.

    Clients send any bytes, some of which would end a header.
    """
    return quote(_STRAY_PERCENT.sub(b"%25", query_string), safe="%!$&'()*+,;=:@/?")
