"""``POST /oauth/register``: dynamic client registration (RFC 7591), if the operator enables it."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import orjson

from mapshelf.accounts.dynamic_registration import register_itself
from mapshelf.api.context import Context, address_of
from mapshelf.api.http import NO_STORE, BodyRule, Headers, Request, Response, json_response
from mapshelf.api.json_bodies import parse_object
from mapshelf.clock import milliseconds
from mapshelf.errors import MalformedRequest, OAuthRefusal

REGISTRATION: Final = BodyRule(16_384, ("application/json",))
"""The body rule of a registration."""

WITH_SECRET: Final[Headers] = (*NO_STORE, (b"pragma", b"no-cache"))
"""Headers of responses with a secret (RFC 6749, section 5.1)."""


async def register_program(context: Context, request: Request) -> Response:
    """Register a program; the response has its secret, which is never stored in plain text."""
    async with context.bodies.content(request) as body:
        metadata = read_metadata(body)
    await context.sessions.authenticator()  # once the store is open
    address = address_of(context.settings.trusted_proxies, request.sender)
    store, now = context.store.get(), milliseconds()
    make = partial(register_itself, store, metadata, address, now)
    registered = await context.queues.programs.result(
        object(), make, request.disconnection, owner=request.owner
    )
    return json_response(201, orjson.dumps(registered.answer()), WITH_SECRET)


def read_metadata(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a body.

    Raises:
        OAuthRefusal: the body is not a JSON object.
    """
    try:
        return parse_object(body)
    except MalformedRequest as error:
        raise OAuthRefusal("invalid_client_metadata", str(error)) from error
