"""``POST /oauth/register``: a program registers itself (RFC 7591), if the operator lets it."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import orjson

from mapshelf.accounts.dynamic_registration import register_itself
from mapshelf.api.context import Context, address_of
from mapshelf.api.http import BodyRule, Headers, Request, Response, json_response
from mapshelf.clock import milliseconds
from mapshelf.errors import OAuthRefusal

REGISTRATION: Final = BodyRule(16_384, ("application/json",))
"""What programs say of themselves."""

NOT_KEPT: Final[Headers] = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))


async def register_program(context: Context, request: Request) -> Response:
    """Register a program; its secret is in the response and kept nowhere in clear."""
    async with context.bodies.content(request) as body:
        metadata = read_metadata(body)
    await context.sessions.authenticator()  # once the store is open
    address = address_of(context.settings.trusted_proxies, request.sender)
    store, now = context.store.get(), milliseconds()
    make = partial(register_itself, store, metadata, address, now)
    registered = await context.queues.programs.result(object(), make, request.disconnection)
    return json_response(201, orjson.dumps(registered.answer()), NOT_KEPT)


def read_metadata(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a body.

    Raises:
        OAuthRefusal: there is none.
    """
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise OAuthRefusal("invalid_client_metadata", "The body is not valid JSON.") from error
    if not isinstance(found, dict):
        raise OAuthRefusal("invalid_client_metadata", "The body must be a JSON object.")
    return found
