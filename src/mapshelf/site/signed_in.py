"""Pages of the catalogue for people who are signed in: with what they may do there.

A page of the catalogue is made once and is the same for everybody. It has marks: comments, which no
text of a map can be, because templates escape texts. Where somebody is signed in, what stands at a
mark is put in when the page is sent. Such a page is for its reader, and no cache may give it to
anybody else.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from markupsafe import Markup

from mapshelf.api.browser_sessions import Session
from mapshelf.api.compression import packable
from mapshelf.api.context import Context
from mapshelf.api.http import Headers, Request, Response, body_response, etag
from mapshelf.api.routes import Operation
from mapshelf.errors import Overloaded, StoreUnavailable
from mapshelf.site.addresses import Addresses
from mapshelf.site.messages import say
from mapshelf.site.responses import HTML

LINK: Final = b"<!--publish-->"
"""Where the link to publish maps is put."""

PERSONAL_PART: Final = (b"<!--personal-->", b"<!--/personal-->")
"""What is between these is replaced by what somebody may do."""

LARGEST: Final = 8 << 20
"""Bytes of a page that is changed for its reader. Larger ones are sent from the disk as they are;
what they say to everybody leads to a page with the same buttons (``map_actions.py``)."""

KEPT: Final = (b"cache-control", b"private, no-cache")
NOT_KEPT: Final = (b"cache-control", b"no-store")

_OF_OTHERS: Final = frozenset(
    (b"content-type", b"content-length", b"cache-control", b"etag", b"vary")
)
"""Headers that a changed page does not keep."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a page that is for its reader alone.

    Attributes:
        html: the part.
        state: differs when it says something else; the tokens in its forms differ each time, but
            each of them is good as long as the session.
    """

    html: bytes
    state: bytes


MakePart = Callable[[Request, Session], Awaitable[Part | None]]
"""Returns the part of a page for its reader, ``None`` if there is none."""


def for_signed_in(
    answer: Operation, addresses: Addresses, make_part: MakePart | None = None
) -> Operation:
    """Return ``answer`` with what people find in addition who are signed in."""

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
            return await context.queues.accounts.result(object(), work, request.disconnection)
        except (Overloaded, StoreUnavailable, OSError):
            return response  # reading goes on when the database is away

    return operation


def with_publish_link(response: Response, addresses: Addresses) -> Response:
    """Return a page with the link to publish maps."""
    body = _linked(response.body, addresses)
    length = (b"content-length", str(len(body)).encode())
    kept = (one for one in response.headers if one[0] != b"content-length")
    return replace(response, body=body, headers=(*kept, length))


def _changed(response: Response, addresses: Addresses, part: Part | None) -> Response:
    original = _body_of(response)
    if LINK not in original:  # a page that other sites show
        return response
    body = _linked(original, addresses)
    validator = etag(body + (part.state if part else b""))
    before, mark, rest = body.partition(PERSONAL_PART[0])
    if part and mark:
        body = before + part.html + rest.partition(PERSONAL_PART[1])[2]
    caching: Headers = (KEPT, validator)
    if b"no-store" in (response.header(b"cache-control") or b""):  # a private map
        caching = (NOT_KEPT,)
    kept = tuple(one for one in response.headers if one[0] not in _OF_OTHERS)
    changed = packable(body_response(200, HTML, body, (*kept, *caching)))
    return _varying(changed)


def _varying(response: Response) -> Response:
    kept = (one for one in response.headers if one[0] != b"vary")
    headers = (*kept, (b"vary", b"Accept-Encoding, Cookie"))
    smaller = response.smaller and _varying(response.smaller)
    return replace(response, headers=headers, smaller=smaller)


def _body_of(response: Response) -> bytes:
    if response.file is None:
        return response.body
    with response.file.open() as file:
        return file.read()


def _linked(body: bytes, addresses: Addresses) -> bytes:
    # The first is in the head of the page, before anything of a map.
    return body.replace(LINK, _link(addresses).encode(), 1)


def _link(addresses: Addresses) -> str:
    template = Markup(
        '<a class="mine" href="{address}" title="{name}"><svg viewBox="0 0 20 20" width="22" '
        'height="22" aria-hidden="true"><path d="M10 13V3m-4 4 4-4 4 4M3 13v4h14v-4"/></svg>'
        "<span>{name}</span></a>"
    )
    return str(template.format(address=addresses.people.publish(), name=say("publish")))
