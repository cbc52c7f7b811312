"""Handle the account page that lists, adds and removes passkeys, and sign in with a passkey.

Adding a passkey and signing in need a script, which requests a challenge and submits the
authenticator's response in a form. Browsers offer passkeys only to scripts, so without scripts the
forms stay hidden.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from mapshelf.accounts import passkeys as accounts
from mapshelf.accounts.passkeys import NAME_LENGTH, sign_in_with_passkey
from mapshelf.accounts.relying_party import RelyingParty
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import NO_STORE, Request, Response, json_response
from mapshelf.clock import milliseconds
from mapshelf.errors import NotFound, SessionTooOld
from mapshelf.model import AuditEvent, Passkey
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.private import for_everybody
from mapshelf.site.responses import see_other
from mapshelf.site.sign_in import SignInPages

PAGE: Final = "passkeys"
SIGN_IN: Final = "/signin/passkey"
DONE: Final = ("added", "removed")


@dataclass(frozen=True, slots=True)
class Row:
    """A passkey in the list on the account page."""

    id: str
    name: str
    created: Moment
    used: Moment | None


class PasskeyPages:
    """Handlers of the passkey page and of signing in with a passkey."""

    def __init__(self, personal: Personal, sign_in: SignInPages, party: RelyingParty) -> None:
        """Create the handlers.

        Args:
            personal: authorises requests and builds responses.
            sign_in: shows its form again if signing in fails.
            party: the WebAuthn relying party: this site, as browsers know it.
        """
        self._personal = personal
        self._sign_in = sign_in
        self._addresses = personal.addresses
        self._party = party

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        operation, page = "add, list and remove passkeys", self._addresses.people.account(PAGE)
        return {
            f"/account/{PAGE}": (
                self._personal.page_for(operation, self._show),
                self._personal.form_for(operation, self._change, page),
            ),
            SIGN_IN: (for_everybody(self._lead), self._personal.open_form(self._use)),
        }

    # -- signing in -----------------------------------------------------------------------

    async def _lead(self, request: Request) -> Response:
        return see_other(self._addresses.people.sign_in())

    async def _use(self, request: Request, form: Form) -> Response:
        credential, returning = form.text("credential"), form.text("next")
        party, client = self._party, self._personal.client(request)
        secret, _ = self._personal.context.sessions.form_secret(request)
        try:
            self._personal.check_form(request, form)
            if not credential:
                options = await self._personal.ask(
                    request,
                    lambda store: accounts.begin_signing_in(store, party, secret, client.now),
                )
                return json_response(200, options.encode(), NO_STORE)
            session = await self._personal.ask(
                request,
                lambda store: sign_in_with_passkey(store, party, secret, credential, client),
            )
        except FORM_ERRORS as error:
            return await self._sign_in.form_page(request, returning, error=error)
        return self._personal.signed_in(session, self._addresses.people.after(returning))

    # -- account page ---------------------------------------------------------------------

    async def _show(self, request: Request, session: Session) -> Response:
        return await self._page(request, session)

    async def _change(self, request: Request, session: Session, form: Form) -> Response:
        credential, removed = form.text("credential"), form.text("remove")
        user, party, secret, now = session.user, self._party, session.secret, milliseconds()
        try:
            if removed:
                return await self._remove(request, session, removed)
            self._personal.require_young(session)
            if not credential:
                options = await self._personal.ask(
                    request, lambda store: accounts.begin_adding(store, party, user, secret, now)
                )
                return json_response(200, options.encode(), NO_STORE)
            client = self._personal.client(request)
            add = partial(accounts.add, party=party, user=user, secret=secret, client=client)
            name = form.text("name")
            await self._personal.ask(request, partial(add, credential=credential, name=name))
        except (*FORM_ERRORS, SessionTooOld) as error:
            return await self._page(request, session, error)
        return see_other(self._after("added"))

    async def _remove(self, request: Request, session: Session, removed: str) -> Response:
        user = session.user.id
        with suppress(NotFound, ValueError):  # already removed; not a hexadecimal ID
            passkey = bytes.fromhex(removed)
            await self._personal.change(
                request,
                session,
                AuditEvent.PASSKEY_REMOVED,
                lambda store: store.remove_passkey(user, passkey),
            )
        return see_other(self._after("removed"))

    async def _page(
        self, request: Request, session: Session, error: Exception | None = None
    ) -> Response:
        user = session.user.id
        found = await self._personal.ask(request, lambda store: store.passkeys(user))
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "passkeys": [row_of(one) for one in found],
            "longest": NAME_LENGTH,
            "young": self._personal.may_add_a_way(session),
            "done": f"passkey.{done}" if done in DONE else "",
        }
        page = Page("passkeys.html", values, error, invalid="failure.passkey.name")
        return await self._personal.page(page, session)

    def _after(self, done: str) -> str:
        return f"{self._addresses.people.account(PAGE)}?done={done}"


def row_of(passkey: Passkey) -> Row:
    """Return the row of a passkey in the list."""
    used = None if passkey.last_used is None else moment(passkey.last_used)
    return Row(passkey.id.hex(), passkey.name, moment(passkey.created), used)
