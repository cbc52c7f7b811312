"""Sign users in with an OpenID provider, and link their accounts to it.

Signing in starts with a link, since it changes no state here. Linking starts with a form, so that
no other site can start it. The form is answered with a page that links to the provider instead of a
redirect, because the ``form-action`` policy would have to list every host to which the provider
redirects in turn.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.openid.attempt import LIFETIME, Attempt, Purpose, new_attempt, read_attempt
from mapshelf.accounts.openid.provider import Provider
from mapshelf.accounts.openid.sign_in import (
    identified,
    link_to_provider,
    sign_in_by_provider,
)
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.routes import Operation
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidToken, NotFound, ProviderRefusal, SessionTooOld
from mapshelf.model import SECOND, AuditEvent
from mapshelf.query import read_parameters
from mapshelf.settings import ProviderSettings
from mapshelf.site.account_rows import moment
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.private import for_everybody
from mapshelf.site.responses import PERSONAL, see_other
from mapshelf.site.sign_in import SignInPages
from mapshelf.store import Store

BEGIN: Final = "/signin/provider"
COME_BACK: Final = "/signin/callback"

ANSWER: Final = ("state", "code", "iss", "error")
"""The query parameters with which the provider sends the browser back."""

OPERATION: Final = "link and unlink identities"
"""The operation of ``PERMISSIONS``, which the provider's response needs, too."""

PAGE: Final = "identities"
DONE: Final = ("linked", "unlinked")
"""Actions that the next page confirms, as named in its URL."""


class ProviderPages:
    """Handlers for signing in with a provider and for linking accounts."""

    def __init__(
        self, personal: Personal, sign_in: SignInPages, settings: ProviderSettings
    ) -> None:
        """Create the handlers.

        Args:
            personal: authorises requests and builds responses.
            sign_in: shows its form again if signing in fails.
            settings: the provider.
        """
        self._personal = personal
        self._sign_in = sign_in
        self._addresses = personal.addresses
        self._settings = settings
        self._provider = Provider(settings, self._addresses.base_url + COME_BACK)

    def paths(self) -> Paths:
        """Return the handlers of the page with linked identities by path."""
        page = self._addresses.people.account(PAGE)
        return {
            f"/account/{PAGE}": (
                self._personal.page_for(OPERATION, self._show_identities),
                self._personal.form_for(OPERATION, self._change_identities, page),
            )
        }

    def ways(self) -> Mapping[str, Operation]:
        """Return the handlers that lead to the provider and receive its response, by path."""
        return {BEGIN: for_everybody(self._begin), COME_BACK: for_everybody(self._come_back)}

    # -- signing in -----------------------------------------------------------------------

    async def _begin(self, request: Request) -> Response:
        given = read_parameters(request.query_string, ("next",)).get("next", "")
        returning = self._addresses.people.own(given)
        attempt = new_attempt(Purpose.SIGN_IN, returning, milliseconds())
        try:
            address = await self._authorization_address(request, attempt, "")
        except FORM_ERRORS as error:
            return await self._sign_in.form_page(request, returning, error=error)
        return see_other(address, self._cookie(attempt))

    async def _come_back(self, request: Request) -> Response:
        people = self._personal.context.sessions
        answer = read_parameters(request.query_string, ANSWER)
        attempt = read_attempt(people.provider_cookie.read(request.sender.header(b"cookie")))
        try:
            response = await self._answered(request, attempt, answer)
        except FORM_ERRORS as error:
            returning = self._addresses.people.own(attempt.returning) if attempt else ""
            response = await self._sign_in.form_page(request, returning, error=error)
        return replace(response, headers=(*response.headers, people.provider_cookie.clear()))

    async def _answered(
        self, request: Request, attempt: Attempt | None, answer: Mapping[str, str]
    ) -> Response:
        refusal = ProviderRefusal("attempt", self._settings.name)
        if attempt is None:
            raise refusal
        state, now = answer.get("state", ""), milliseconds()
        # Signing in must not depend on the session that the browser may have, so it is not read.
        if attempt.purpose is Purpose.SIGN_IN:
            if not attempt.is_answered_by(state, "", now):
                raise refusal
            return await self._signed_in(request, attempt, answer)
        session = await self._personal.session(OPERATION, request)
        if session is None:
            raise refusal
        try:
            if not attempt.is_answered_by(state, session.secret, now):
                raise refusal
            return await self._linked(request, session, attempt, answer)
        except InvalidToken as error:  # the session has ended meanwhile
            raise refusal from error
        except (*FORM_ERRORS, SessionTooOld) as error:
            return await self._identities_page(request, session, error)

    async def _signed_in(
        self, request: Request, attempt: Attempt, answer: Mapping[str, str]
    ) -> Response:
        client, settings, provider = self._personal.client(request), self._settings, self._provider
        session = await self._personal.ask_provider(
            request,
            lambda store: sign_in_by_provider(
                store, settings, identified(store, provider, attempt, answer, client), client
            ),
        )
        return self._personal.signed_in(session, self._addresses.people.after(attempt.returning))

    # -- identities of an account ---------------------------------------------------------

    async def _show_identities(self, request: Request, session: Session) -> Response:
        return await self._identities_page(request, session)

    async def _change_identities(self, request: Request, session: Session, form: Form) -> Response:
        subject = form.text("subject")
        try:
            if subject:
                return await self._unlink(request, session, form.text("issuer"), subject)
            return await self._begin_linking(request, session)
        except (*FORM_ERRORS, SessionTooOld) as error:
            return await self._identities_page(request, session, error)

    async def _unlink(
        self, request: Request, session: Session, issuer: str, subject: str
    ) -> Response:
        user = session.user.id
        with suppress(NotFound):  # already unlinked
            await self._personal.change(
                request,
                session,
                AuditEvent.IDENTITY_UNLINKED,
                lambda store: store.unlink_identity(user, issuer, subject),
            )
        return see_other(self._after("unlinked"))

    async def _begin_linking(self, request: Request, session: Session) -> Response:
        self._personal.require_young(session)
        attempt = new_attempt(Purpose.LINK, "", milliseconds())
        address = await self._authorization_address(request, attempt, session.secret)
        values = {"address": address, "name": self._settings.name}
        headers = (*PERSONAL, self._cookie(attempt))
        return await self._personal.page(Page("leaving.html", values, headers=headers), session)

    async def _linked(
        self, request: Request, session: Session, attempt: Attempt, answer: Mapping[str, str]
    ) -> Response:
        user, settings, provider = session.user, self._settings, self._provider
        client = self._personal.client(request)
        entry = done_by(user, client.address, AuditEvent.IDENTITY_LINKED)

        def link(store: Store) -> None:
            who = identified(store, provider, attempt, answer, client)
            # It was young when the attempt began, but the provider and its user may take long.
            self._personal.require_young(session)
            with store.auditing(entry):
                link_to_provider(store, settings, who, user)

        await self._personal.ask_provider(request, link)
        return see_other(self._after("linked"))

    async def _identities_page(
        self, request: Request, session: Session, error: Exception | None = None
    ) -> Response:
        user, issuer = session.user.id, self._settings.issuer
        found = await self._personal.ask(request, lambda store: store.identities(user))
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "identities": [(one, moment(one.created), one.issuer == issuer) for one in found],
            "name": self._settings.name,
            "young": self._personal.may_add_a_way(session),
            "done": f"identity.{done}" if done in DONE else "",
        }
        return await self._personal.page(Page("identities.html", values, error), session)

    # -- common ---------------------------------------------------------------------------

    async def _authorization_address(self, request: Request, attempt: Attempt, session: str) -> str:
        provider = self._provider
        return await self._personal.ask_provider(
            request, lambda _: provider.authorization_address(attempt, session)
        )

    def _cookie(self, attempt: Attempt) -> tuple[bytes, bytes]:
        cookie = self._personal.context.sessions.provider_cookie
        return cookie.set(attempt.cookie(), LIFETIME // SECOND)

    def _after(self, done: str) -> str:
        return f"{self._addresses.people.account(PAGE)}?done={done}"
