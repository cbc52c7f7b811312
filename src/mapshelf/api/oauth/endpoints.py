"""The OAuth 2 endpoints that programs call without a browser: tokens, revocation, device flow.

Every response, including refusals, is an uncompressed JSON object, because some programs support
nothing else. Responses must not be cached.

Only an outage (5xx) at the token endpoint is text: a known desktop program ignores the status, and
takes any JSON object without ``access_token`` for a refusal, after which it forgets its refresh
token. After a response that is not JSON it keeps the token, and can try again.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar
from urllib.parse import unquote_plus

import orjson

from mapshelf.accounts import device_requests
from mapshelf.accounts.issued_tokens import ACCESS_LIFETIME, IssuedTokens
from mapshelf.accounts.oauth_programs import Identification, identified
from mapshelf.accounts.oauth_tokens import give_tokens, revoke
from mapshelf.accounts.permissions import PERMISSIONS
from mapshelf.api.context import Context, address_of
from mapshelf.api.forms import URL_ENCODED, Form, FormLimits
from mapshelf.api.http import BodyRule, Request, Response, json_response
from mapshelf.api.oauth.metadata import (
    DEVICE_AUTHORIZATION,
    DEVICE_PAGE,
    REGISTER,
    RESOURCE,
    REVOKE,
    SERVER,
    TOKEN,
    metadata_response,
    resource_metadata,
    server_metadata,
)
from mapshelf.api.oauth.registration import REGISTRATION, WITH_SECRET, register_program
from mapshelf.api.routes import Method, Operation, Route
from mapshelf.api.throttle import Throttle
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidParameter, MalformedRequest, NotFound, OAuthRefusal
from mapshelf.model import AuditEntry, AuditEvent, Program, about_client
from mapshelf.store import Store

T = TypeVar("T")

LIMITS: Final = FormLimits(fields=50, text=16_384)
BODY: Final = BodyRule(32_768, (URL_ENCODED,))
"""Limits on the forms that programs send."""

ASKING: Final = PERMISSIONS["ask to be let in as a program"]
"""The permission for these endpoints: no token, because programs come here to get one."""

REFUSALS_PER_SECOND: Final = 50
"""Refusals a second that are sent without delay; also the burst after a pause."""

LONGEST_DELAY: Final = 2.0
"""Maximum delay of a refusal, in seconds."""

DELAYED: Final = 1024
"""Maximum delayed refusals."""

GUESSES: Final = ("invalid_client", "invalid_grant")
"""Refusals that may be failed guesses."""

Answer = Callable[[Store, Program, Mapping[str, str], str], Mapping[str, object]]
"""Answers the form of an authenticated program; it gets the address of the client, too."""


def oauth_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes of the OAuth 2 endpoints."""
    endpoints = Endpoints(context)
    base_url = context.settings.base_url

    def known(metadata: Mapping[str, object]) -> Route:
        return Route(_shown(metadata_response(metadata)), scope=ASKING.scope)

    def asked(answer: Answer, *, shared: bool = True, outages_as_text: bool = False) -> Route:
        method = Method(endpoints.answering(answer), ASKING.scope, body=BODY)
        return Route(POST=method, shared=shared, outages_as_text=outages_as_text)

    registration = context.settings.dynamic_registration
    registering = Method(register_program, ASKING.scope, body=REGISTRATION)
    return {
        **({REGISTER: Route(POST=registering, shared=False)} if registration else {}),
        TOKEN: asked(_give_tokens, outages_as_text=True),
        REVOKE: asked(_revoke),
        DEVICE_AUTHORIZATION: asked(partial(_begin_device, base_url), shared=False),
        SERVER: known(server_metadata(base_url, registration=registration)),
        RESOURCE: known(resource_metadata(base_url)),
    }


class Endpoints:
    """Answers programs, and slows down guessing."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._refusals = Throttle(REFUSALS_PER_SECOND, LONGEST_DELAY, DELAYED)

    def answering(self, answer: Answer) -> Operation:
        """Return the operation that answers a form."""

        async def operation(_: Context, request: Request) -> Response:
            try:
                return await self._answered(answer, request)
            except OAuthRefusal as error:
                if error.reason in GUESSES:
                    await self._refusals.turn()
                raise

        return operation

    async def _answered(self, answer: Answer, request: Request) -> Response:
        form = await self._form(request)
        who = _identification(request.headers.get(b"authorization", b""), form)
        await self._context.sessions.authenticator()  # once the store is open
        store = self._context.store.get()
        address = address_of(self._context.settings.trusted_proxies, request.sender)

        def make() -> Mapping[str, object]:
            return answer(store, identified(store, who), form, address)

        found = await self._context.queues.programs.result(
            object(), make, request.disconnection, owner=request.owner
        )
        return json_response(200, orjson.dumps(found), WITH_SECRET)

    async def _form(self, request: Request) -> Mapping[str, str]:
        """Return the fields of a form that have a value (RFC 6749, section 3.2)."""
        try:
            async with self._context.bodies.form(request, LIMITS) as form:
                return _values(form)
        except (InvalidParameter, MalformedRequest) as error:
            raise OAuthRefusal("invalid_request", str(error)) from error


def _values(form: Form) -> Mapping[str, str]:
    return {name: value for name in form.fields if (value := form.text(name))}


def _identification(authorization: bytes, form: Mapping[str, str]) -> Identification:
    """Return the client credentials from HTTP Basic or the form (RFC 6749, section 2.3.1).

    Raises:
        OAuthRefusal: there are none, or both.
    """
    if not authorization:
        if "client_id" not in form:
            raise OAuthRefusal("invalid_client", "The client_id is missing.")
        return Identification(form["client_id"], form.get("client_secret", ""))
    scheme, _, encoded = authorization.partition(b" ")
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
        name, colon, secret = decoded.partition(":")
        readable = scheme.lower() == b"basic" and colon
    except (binascii.Error, UnicodeDecodeError):
        readable = False
    if not readable:
        raise OAuthRefusal("invalid_client", "The Authorization header is not Basic.", basic=True)
    who = Identification(unquote_plus(name), unquote_plus(secret), basic=True)
    if "client_secret" in form or form.get("client_id", who.id) != who.id:
        raise OAuthRefusal("invalid_request", "The program authenticates in two ways at once.")
    return who


def _give_tokens(
    store: Store, program: Program, form: Mapping[str, str], address: str
) -> Mapping[str, object]:
    return _token_answer(give_tokens(store, program, form, milliseconds()))


def _token_answer(issued: IssuedTokens) -> Mapping[str, object]:
    return {
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": ACCESS_LIFETIME // 1000,
        "refresh_token": issued.refresh,
        "scope": issued.scopes,
    }


def _revoke(
    store: Store, program: Program, form: Mapping[str, str], address: str
) -> Mapping[str, object]:
    if "token" not in form:
        raise OAuthRefusal("invalid_request", "The token is missing.")
    target = about_client(program.id)
    with store.auditing(AuditEntry(AuditEvent.GRANT_WITHDRAWN, target, address=address)):
        revoke(store, program, form["token"])
    return {}


def _begin_device(
    base_url: str, store: Store, program: Program, form: Mapping[str, str], address: str
) -> Mapping[str, object]:
    try:
        new = device_requests.begin(store, program, form.get("scope", ""), milliseconds(), address)
    except NotFound as error:
        raise OAuthRefusal("invalid_client", "The program has just been removed.") from error
    page = base_url + DEVICE_PAGE
    return {
        "device_code": new.device_code,
        "user_code": new.user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?user_code={new.user_code}",
        "expires_in": device_requests.LIFETIME,
        "interval": device_requests.INTERVAL,
    }


def _shown(response: Response) -> Operation:
    async def show(_: Context, __: Request) -> Response:
        return response

    return show
