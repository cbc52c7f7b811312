"""Control access to a private catalogue: pages for signed-in users only, and no shared caching.

Pages require a session; tokens are for the API. Feed readers cannot sign in, so they use a secret
URL. Every response of such a page passes through this module, so none can be missed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import perf_counter
from typing import Final

from mapshelf.accounts.permissions import PERMISSIONS, allows
from mapshelf.api.browser_sessions import is_late
from mapshelf.api.context import Context
from mapshelf.api.http import Headers, Request, Response
from mapshelf.api.routes import Operation
from mapshelf.errors import InvalidToken, UnknownPath
from mapshelf.model import User
from mapshelf.site.addresses import Addresses
from mapshelf.site.responses import see_other
from mapshelf.tokens import FEED_PREFIX

Answer = Callable[[Request], Awaitable[Response]]
"""Handles a request for a page."""

CACHE_CONTROL: Final = (b"cache-control", b"private, no-cache")
"""Only the browser may keep a copy, and it asks before each use: the reader may have signed out."""


NO_REFERRER: Final = (b"referrer-policy", b"no-referrer")
"""Suppresses the Referer header."""


def for_everybody(answer: Answer) -> Operation:
    """Wrap a handler that is open to everyone."""

    async def operation(_: Context, request: Request) -> Response:
        return await answer(request)

    return operation


def for_people(answer: Answer, addresses: Addresses) -> Operation:
    """Wrap a page handler: requests without a session are redirected to sign in."""

    async def operation(context: Context, request: Request) -> Response:
        sign_in = addresses.people.sign_in(addresses.people.of(request))
        if await context.sessions.session(request) is None:
            return see_other(sign_in)
        began = perf_counter()
        response = await answer(request)
        if is_late(began) and await context.sessions.session(request) is None:
            return see_other(sign_in)
        return private_response(response)

    return operation


def for_scripts(answer: Answer) -> Operation:
    """Wrap a handler for scripts: requests without a session are refused."""

    async def operation(context: Context, request: Request) -> Response:
        if await context.sessions.session(request) is None:
            raise InvalidToken(sent=False)
        began = perf_counter()
        response = await answer(request)
        if is_late(began) and await context.sessions.session(request) is None:
            raise InvalidToken(sent=False)
        return private_response(response)

    return operation


def for_feed_readers(answer: Answer) -> Operation:
    """Wrap a feed handler: only requests with a valid secret URL are answered.

    The URL itself grants access, so it must not leak: linked pages get no Referer header, and a
    refused URL looks like any unknown one.
    """
    asked = PERMISSIONS["read feeds by a secret address"]

    async def reader(context: Context, request: Request) -> User | None:
        authenticator = await context.sessions.authenticator()
        try:
            found = await authenticator.credential_of_secret(request.parts["secret"], FEED_PREFIX)
        except InvalidToken:
            found = None
        if not allows(asked, found):
            raise UnknownPath("There is nothing at this address.")
        return found.user if found else None

    async def operation(context: Context, request: Request) -> Response:
        request.user = await reader(context, request)
        began = perf_counter()
        response = private_response(await answer(request))
        if is_late(began):
            await reader(context, request)
        compressed = response.compressed and replace(
            response.compressed, headers=(*response.compressed.headers, NO_REFERRER)
        )
        return replace(response, headers=(*response.headers, NO_REFERRER), compressed=compressed)

    return operation


def private_response(response: Response) -> Response:
    """Return ``response`` with private cache headers."""
    compressed = response.compressed and private_response(response.compressed)
    headers = _private(response.headers)
    return replace(response, headers=headers, compressed=compressed, text_headers=None)


def _private(headers: Headers) -> Headers:
    varying = [value for name, value in headers if name == b"vary"]
    kept = [one for one in headers if one[0] not in (b"cache-control", b"vary")]
    return (*kept, CACHE_CONTROL, (b"vary", b", ".join((*varying, b"Cookie"))))
