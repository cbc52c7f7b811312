"""Handle the pages for authorising programs (OAuth 2) and for revoking their access.

The authorisation request is in the URL of the page, and is parsed again when the form is submitted.
"""

import re
from functools import partial
from typing import Final

from mapshelf.accounts import authorization, device_requests
from mapshelf.accounts.authorization import AuthorizationRequest
from mapshelf.accounts.oauth_programs import is_loopback
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.oauth import AUTHORIZE, DEVICE_PAGE
from mapshelf.clock import milliseconds
from mapshelf.errors import AddressTooLong, InvalidParameter, NotFound, OAuthRefusal
from mapshelf.model import AuditEvent, DeviceRequest, Grant, Program, about_client
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import Row, moment
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.people_addresses import LONGEST_RETURN
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import leading_to, see_other
from mapshelf.tokens import SCOPES

DONE: Final = ("program", "device.allowed", "device.denied")
"""Actions that the next page confirms, as named in its URL."""

_WEBSITE: Final = re.compile("(https?)://([^/?#]*)", re.IGNORECASE)
"""The scheme and the host of a redirect URI that leads to a website. ``urlsplit`` is not used here:
which registered URIs it rejects depends on the version of Python."""

ALLOW: Final = "allow"
"""Value of the button that grants access; any other value denies it."""


class ProgramPages:
    """Handlers of the pages about programs."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._issuer = personal.context.settings.base_url

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        let_in, listed = "let a program in", "list and withdraw programs"
        consent = page_for(let_in, self._show_consent), form_for(let_in, self._decide, "")
        return {
            "/oauth/auth": consent,
            AUTHORIZE: consent,
            DEVICE_PAGE: (
                page_for(let_in, self._show_device),
                form_for(let_in, self._connect_device, self._addresses.root + DEVICE_PAGE),
            ),
            "/account/programs": (
                page_for(listed, self._show_programs),
                form_for(listed, self._withdraw, self._addresses.people.account("programs")),
            ),
        }

    # -- consent ----------------------------------------------------------------------------

    async def _show_consent(self, request: Request, session: Session) -> Response:
        asked = await self._asked(request)
        if isinstance(asked, str):
            return see_other(asked)
        values = {
            "program": asked.program,
            "user": session.user,
            "scopes": asked.scopes,
            "action": self._addresses.people.of(request),
            "place": "" if is_loopback(asked.back.uri) else place_of(asked.back.uri),
        }
        page = Page("consent.html", values, headers=leading_to(csp_source(asked.back.uri)))
        return await self._personal.page(page, session)

    async def _decide(self, request: Request, session: Session, form: Form) -> Response:
        asked = await self._asked(request)
        if isinstance(asked, str):
            return see_other(asked)
        if form.text("decision") != ALLOW:
            denial = authorization.denial()
            return see_other(authorization.refusal_address(asked.back, denial, self._issuer))
        user, now = session.user, milliseconds()
        address = await self._personal.change(
            request,
            session,
            AuditEvent.GRANT_MADE,
            lambda store: authorization.allow(store, asked, user, self._issuer, now),
            about_client(asked.program.id),
        )
        return see_other(address)

    async def _asked(self, request: Request) -> AuthorizationRequest | str:
        """Return the authorisation request, or the redirect URL that reports its error.

        Raises:
            OAuthRefusal: the redirect URI is missing or untrusted.
            InvalidParameter: a parameter is given twice, or is not valid text.
            AddressTooLong: the URL is too long to return to after signing in.
        """
        if len(self._addresses.people.of(request)) > LONGEST_RETURN:
            raise AddressTooLong(f"The address must have at most {LONGEST_RETURN} characters.")
        parameters = read_parameters(request.query_string, authorization.PARAMETERS)
        program, back = await self._personal.ask(
            request, lambda store: authorization.read_return_address(store, parameters)
        )
        try:
            return authorization.read_request(program, back, parameters)
        except OAuthRefusal as refusal:
            # The redirect URI of such a program is unverified: redirecting invalid requests to it
            # would make us an open redirector (RFC 9700, section 4.11.2).
            if program.is_dynamic:
                raise
            return authorization.refusal_address(back, refusal, self._issuer)

    # -- devices ----------------------------------------------------------------------------

    async def _show_device(self, request: Request, session: Session) -> Response:
        code = read_parameters(request.query_string, ("user_code",)).get("user_code", "")
        return await self._device_page(session, code[:20])

    async def _device_page(
        self, session: Session, code: str, error: Exception | None = None
    ) -> Response:
        page = Page("device.html", {"code": code}, error, invalid="failure.device")
        return await self._personal.page(page, session)

    async def _connect_device(self, request: Request, session: Session, form: Form) -> Response:
        typed, user, now = form.text("user_code"), session.user, milliseconds()
        decision = form.text("decision")
        find = partial(device_requests.find, typed=typed, user=user, now=now)
        address = self._personal.client(request).address
        decide = partial(device_requests.decide, typed=typed, user=user, now=now, address=address)
        try:
            if not decision:
                asked, program = await self._personal.ask(request, find)
                return await self._device_consent(session, program, asked)
            allow = decision == ALLOW
            await self._personal.ask(request, partial(decide, allow=allow))
        except NotFound as error:
            return await self._device_page(session, "", InvalidParameter(str(error)))
        except FORM_ERRORS as error:
            return await self._device_page(session, "", error)
        return see_other(self._after("allowed" if allow else "denied"))

    async def _device_consent(
        self, session: Session, program: Program, asked: DeviceRequest
    ) -> Response:
        values = {
            "program": program,
            "user": session.user,
            "scopes": asked.scopes.split(),
            "action": self._addresses.root + DEVICE_PAGE,
            # Formatted as the device shows it, however the user typed it.
            "code": device_requests.shown(asked.user_code),
        }
        return await self._personal.page(Page("device_consent.html", values), session)

    def _after(self, decision: str) -> str:
        return f"{self._addresses.people.account('programs')}?done=device.{decision}"

    # -- authorised programs ----------------------------------------------------------------

    async def _show_programs(self, request: Request, session: Session) -> Response:
        user, now = session.user.id, milliseconds()
        grants = await self._personal.ask(request, lambda store: store.grants(user, now))
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {"programs": rows_of(grants), "done": done if done in DONE else ""}
        return await self._personal.page(Page("programs.html", values), session)

    async def _withdraw(self, request: Request, session: Session, form: Form) -> Response:
        user, program_id = session.user, form.text("withdraw")
        await self._personal.change(
            request,
            session,
            AuditEvent.GRANT_WITHDRAWN,
            lambda store: authorization.withdraw(store, user, program_id),
            about_client(program_id),
        )
        return see_other(f"{self._addresses.people.account('programs')}?done=program")


def rows_of(grants: list[Grant]) -> list[Row]:
    """Return one row per program, which combines all grants of that program.

    The grants are sorted from the latest, so the program with the latest grant comes first.
    """
    of_programs: dict[str, list[Grant]] = {}
    for grant in grants:
        of_programs.setdefault(grant.program_id, []).append(grant)
    return [
        Row(
            id=program_id,
            name=some[0].program,
            created=moment(min(grant.created for grant in some)),
            expires=moment(max(grant.expires for grant in some)),
            used=moment(max(grant.last_used or grant.created for grant in some)),
            scopes=tuple(
                scope for scope in SCOPES if any(scope in grant.scopes.split() for grant in some)
            ),
        )
        for program_id, some in of_programs.items()
    ]


def place_of(uri: str) -> str:
    """Return where a redirect URI leads, to show to the user: the host of a website, or the scheme.

    The scheme stands for a program on the user's device. Such a URI may contain a host, but does
    not lead to it.
    """
    website = _WEBSITE.match(uri)
    return website[2] if website else _scheme(uri)


def csp_source(uri: str) -> str:
    """Return a Content-Security-Policy source that allows a redirect URI.

    CSP can express neither IPv6 addresses nor URIs with a program's own scheme, so these are
    allowed by their scheme alone.
    """
    website = _WEBSITE.match(uri)
    if website and "[" not in website[2]:
        return f"{_scheme(uri)}://{website[2]}"
    return f"{_scheme(uri)}:"


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()
