"""Build page responses: render templates, and set security headers against hostile content.

A page may run only scripts of this site, apply only its styles, load nothing from other hosts, and
not be framed, unless it is made to be embedded. JSON-LD and other data are in ``script`` elements
with a type that is not a script type: browsers do not run them, so the policy does not apply.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mapshelf.api.compression import also_compressed
from mapshelf.api.http import NO_STORE, Headers, Response, body_response, etag
from mapshelf.site.card_html import (
    card_facts,
    card_picture,
    card_versions,
    pick,
    related_rows,
    shelf_rows,
)
from mapshelf.site.choices import letter_links, links
from mapshelf.site.escaping import breakable
from mapshelf.site.messages import ENGLISH, counted, say
from mapshelf.site.messages.scripts import SCRIPT_ENGLISH
from mapshelf.site.people_addresses import quoted_query

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
    *NO_STORE,
)
"""Headers of pages about a person."""

SECRET: Final[Headers] = (
    *_safety(referrer=b"no-referrer"),
    *_ALONE,
    *NO_STORE,
)
"""Headers of pages with a secret URL: they suppress the Referer header."""

_OWN_FORMS: Final = b"form-action 'self'"


def leading_to(source: str) -> Headers:
    """Return the headers of a personal page whose form redirects to another site.

    Browsers follow a redirect after submitting a form only if the ``form-action`` policy of the
    page with the form allows its target.

    Args:
        source: the allowed target as a CSP source: an origin, or a scheme with its colon.
    """
    return tuple(
        (name, value.replace(_OWN_FORMS, _OWN_FORMS + b" " + source.encode("ascii")))
        for name, value in PERSONAL
    )


EMBEDDED: Final[Headers] = _safety(frames="*")
"""Headers of pages that other sites may embed."""

REFERENCE: Final[Headers] = (*_safety(images=" data: blob:"), *_ALONE)
"""Headers of the API reference. Swagger UI has icons in its style sheet (``data:``), and shows
images from API responses (``blob:``)."""

HTML: Final = b"text/html; charset=utf-8"

FRESH: Final = (b"cache-control", b"public, no-cache")
"""Any cache may keep a copy, and must revalidate it before each use."""

_RENDERING: Final = (
    *(card_facts, card_picture, card_versions, pick, related_rows, shelf_rows),
    *(letter_links, links),
)
"""Functions that templates use instead of macros, which take longer."""

Values = Mapping[str, Any]
"""The variables of a template."""


class Templates:
    """The templates of the package."""

    def __init__(self, common: Values) -> None:
        """Create the templates; ``common`` are variables of all of them."""
        self._common = common

    @cached_property
    def _environment(self) -> "Environment":
        # Jinja is imported and set up on first use: some processes never render a template.
        from jinja2 import (  # noqa: PLC0415
            Environment,
            StrictUndefined,
            select_autoescape,
        )
        from jinja2.utils import htmlsafe_json_dumps  # noqa: PLC0415

        from mapshelf.site.compiled_templates import (  # noqa: PLC0415
            TemplateLoader,
            compiled_templates,
        )

        environment = Environment(
            loader=TemplateLoader(),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            bytecode_cache=compiled_templates(),
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(self._common, say=say, counted=counted, messages=ENGLISH)
        environment.globals.update({one.__name__: one for one in _RENDERING})
        environment.filters["breakable"] = breakable
        environment.globals["script_messages"] = htmlsafe_json_dumps(
            dict(SCRIPT_ENGLISH),
            sort_keys=True,  # as the filter "tojson" does
        )
        return environment

    def load(self) -> None:
        """Load all templates, which takes a third of a second if none is compiled yet."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def text(self, name: str, values: Values) -> str:
        """Render a template with ``values``."""
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
    """Return an HTML response, with an ETag if the status is 200."""
    validator = (etag(body),) if status == 200 else ()
    return also_compressed(body_response(status, HTML, body, (*headers, *validator)))


def fragment_response(body: bytes) -> Response:
    """Return an HTML fragment that a script inserts into a page."""
    return page_response(200, body, (*STRICT, FRESH))


def data_response(media_type: bytes, body: bytes) -> Response:
    """Return a response with data that is not HTML, such as JSON or a feed."""
    return also_compressed(body_response(200, media_type, body, (FRESH, etag(body))))


def redirect(address: str, query_string: bytes = b"") -> Response:
    """Return a redirect to the current URL of a page, with the same query string.

    Caches must revalidate it: a title, and with it the URL, may change back.
    """
    if query_string:
        address = f"{address}?{quoted_query(query_string)}"
    headers = ((b"location", address.encode()), (b"content-length", b"0"), FRESH)
    return Response(308, headers)


def see_other(address: str, *headers: tuple[bytes, bytes]) -> Response:
    """Return a 303 redirect: the browser requests ``address`` with GET, whatever the method was."""
    own = ((b"location", address.encode()), (b"content-length", b"0"))
    return Response(303, (*own, *NO_STORE, *headers))
