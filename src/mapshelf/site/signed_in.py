"""Personalise catalogue pages for signed-in users: add the actions they may perform.

A catalogue page is rendered once and is the same for everyone. It contains placeholders: HTML
comments, which map texts cannot forge because templates escape them. For a signed-in user, the
placeholders are replaced when the page is sent. Such a page is private and must not be cached for
others.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from markupsafe import Markup

from mapshelf.api.browser_sessions import Session
from mapshelf.api.compression import also_compressed
from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, Headers, Request, Response, body_response, etag
from mapshelf.api.routes import Operation
from mapshelf.errors import Overloaded, StoreUnavailable
from mapshelf.site.addresses import Addresses
from mapshelf.site.messages import say
from mapshelf.site.responses import HTML

LINK: Final = b"<!--publish-->"
"""Placeholder for the link to publish maps."""

PERSONAL_PART: Final = (b"<!--personal-->", b"<!--/personal-->")
"""The content between these is replaced by the user's actions."""

LARGEST: Final = 8 << 20
"""Maximum size of a page to personalise, in bytes. Larger pages are sent from disk unchanged; they
link to a page with the same buttons (``map_actions.py``)."""

LARGE: Final = 256 << 10
"""Size of a page in bytes above which it waits among large files: somebody who loads it again and
again must not delay the sign-in page."""

KEPT: Final = (b"cache-control", b"private, no-cache")

_OF_OTHERS: Final = frozenset(
    (b"content-type", b"content-length", b"cache-control", b"etag", b"vary")
)
"""Headers dropped from a personalised page."""


@dataclass(frozen=True, slots=True)
class Part:
    """The personal part of a page.

    Attributes:
        html: the HTML of the part.
        state: identifies its content, without the CSRF tokens in its forms: these differ each
            time, but each is valid as long as the session.
    """

    html: bytes
    state: bytes


MakePart = Callable[[Request, Session], Awaitable[Part | None]]
"""Renders the personal part of a page, ``None`` if there is none."""


def for_signed_in(
    answer: Operation, addresses: Addresses, make_part: MakePart | None = None
) -> Operation:
    """Wrap ``answer`` to add the content for signed-in users."""

    async def operation(context: Context, request: Request) -> Response:
        response = await answer(context, request)
        size = response.size
        if response.status != 200 or response.header(b"content-type") != HTML or size > LARGEST:
            return response
        try:
            session = await context.sessions.session(request)
            if session is None:
                return response
            part = await make_part(request, session) if make_part else None
            work = partial(_changed, response, addresses, part)
            queue = context.queues.files if size > LARGE else context.queues.accounts
            return await queue.result(object(), work, request.disconnection, owner=request.owner)
        except (Overloaded, StoreUnavailable, OSError):
            return response  # pages stay readable while the database is down

    return operation


def with_publish_link(response: Response, addresses: Addresses) -> Response:
    """Return a page with its placeholder replaced by the link to publish maps."""
    body = _linked(response.body, addresses)
    length = (b"content-length", str(len(body)).encode())
    kept = (one for one in response.headers if one[0] != b"content-length")
    return replace(response, body=body, headers=(*kept, length))


def _changed(response: Response, addresses: Addresses, part: Part | None) -> Response:
    original = _body_of(response)
    if LINK not in original:  # a page to embed in other sites
        return response
    body = _linked(original, addresses)
    validator = etag(body + (part.state if part else b""))
    before, mark, rest = body.partition(PERSONAL_PART[0])
    if part and mark:
        body = before + part.html + rest.partition(PERSONAL_PART[1])[2]
    caching: Headers = (KEPT, validator)
    if b"no-store" in (response.header(b"cache-control") or b""):  # a private map
        caching = NO_STORE
    kept = tuple(one for one in response.headers if one[0] not in _OF_OTHERS)
    changed = also_compressed(body_response(200, HTML, body, (*kept, *caching)))
    return _varying(changed)


def _varying(response: Response) -> Response:
    kept = (one for one in response.headers if one[0] != b"vary")
    headers = (*kept, (b"vary", b"Accept-Encoding, Cookie"))
    compressed = response.compressed and _varying(response.compressed)
    return replace(response, headers=headers, compressed=compressed)


def _body_of(response: Response) -> bytes:
    if response.file is None:
        return response.body
    with response.file.open() as file:
        return file.read()


def _linked(body: bytes, addresses: Addresses) -> bytes:
    # Replace only the first: it is in the page header, before any content of a map.
    return body.replace(LINK, _link(addresses).encode(), 1)


def _link(addresses: Addresses) -> str:
    template = Markup(
        '<a class="mine" href="{address}" title="{name}"><svg viewBox="0 0 20 20" width="22" '
        'height="22" aria-hidden="true"><path d="M10 13V3m-4 4 4-4 4 4M3 13v4h14v-4"/></svg>'
        "<span>{name}</span></a>"
    )
    return str(template.format(address=addresses.people.publish(), name=say("publish")))
