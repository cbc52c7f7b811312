"""Handle the account pages: profile, password, sessions, tokens, and invitations.

Only administrators see invitations. Every form redirects to a page (post/redirect/get), so that a
reload does not repeat the action. A new token or invitation is shown on that page only: the store
has just its digest (``flash_secret.py``).
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from mapshelf.accounts.feed_addresses import opens_feeds
from mapshelf.accounts.one_time_links import find_link, link_address, new_invitation
from mapshelf.accounts.own_account import change_password, choose_first_password
from mapshelf.accounts.personal_tokens import (
    DEFAULT_LIFETIME,
    LABEL_LENGTH,
    NewToken,
    add_own_token,
    own_tokens,
    revoke_own_token,
)
from mapshelf.accounts.relying_party import relying_party
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.clock import milliseconds
from mapshelf.errors import NotFound, SessionTooOld, WrongCredentials
from mapshelf.model import LARGEST_ID, Access, AuditEvent, RefusalKind, Role
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import moment, row_of_invitation, row_of_token
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import REGISTERED, Page, Paths, Personal, ended_access, new_password
from mapshelf.site.responses import PERSONAL, see_other
from mapshelf.tokens import DEFAULT_SCOPES, LINK_PREFIX, PREFIX, SCOPES

DONE: Final = (
    *("password", "password.access", "session", "sessions", "token", "invitation"),
    REGISTERED,
)
"""Actions that the next page confirms, as named in its URL."""

LIFETIMES: Final = (7, 30, DEFAULT_LIFETIME, 365)
"""The choices for the lifetime of a token, in days."""

NEW_TOKEN: Final = NewToken("", DEFAULT_SCOPES, DEFAULT_LIFETIME)
"""The initial values of the token form."""


class AccountPages:
    """The account pages."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._address = personal.addresses.people.account
        self._settings = personal.context.settings

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        address = self._address
        sessions, password = "list and end sessions", "change the password"
        tokens, invitations = "make, list and revoke tokens", "make, list and withdraw invitations"
        return {
            "/account": (
                page_for(sessions, self._show_account),
                form_for(sessions, self._end_sessions, address()),
            ),
            "/account/password": (
                page_for(password, self._show_password),
                form_for(password, self._change_password, address("password")),
            ),
            "/account/tokens": (
                page_for(tokens, self._show_tokens),
                form_for(tokens, self._change_tokens, address("tokens")),
            ),
            "/account/invitations": (
                page_for(invitations, self._show_invitations),
                form_for(invitations, self._change_invitations, address("invitations")),
            ),
        }

    # -- profile and sessions -------------------------------------------------------------

    async def _show_account(self, request: Request, session: Session) -> Response:
        user, now = session.user, milliseconds()
        tokens = await self._personal.ask(request, lambda store: store.sessions(user.id))
        rows = [row_of_token(token, now, session.token.id) for token in tokens]
        values = {
            "user": user,
            "registered": moment(user.registered),
            "sessions": [row for row in rows if not row.expired],
            "private": self._settings.private,
            "administrator": user.role is Role.ADMINISTRATOR,
            **await self._open_reports(request, session),
            "refused": await self._refused_files(request, session),
            "provider": self._settings.provider is not None,
            "passkeys": relying_party(self._settings.base_url) is not None,
            "by_proxy": session.by_proxy,
            "done": _done(request),
        }
        return await self._personal.page(Page("account.html", values), session)

    async def _open_reports(self, request: Request, session: Session) -> dict[str, int]:
        """Return the number of maps and collections with open reports, for an administrator."""
        if session.user.role is not Role.ADMINISTRATOR:
            return {"reports": 0, "reported_collections": 0}
        return await self._personal.ask(
            request,
            lambda store: {
                "reports": store.count_reported_maps(),
                "reported_collections": store.count_reported_collections(),
            },
        )

    async def _refused_files(self, request: Request, session: Session) -> int:
        """Return the number of refused files that no administrator has dismissed."""
        if session.user.role is not Role.ADMINISTRATOR:
            return 0
        counts = await self._personal.ask(request, lambda store: store.count_open_refusals())
        return counts[RefusalKind.REFUSED]

    async def _end_sessions(self, request: Request, session: Session, form: Form) -> Response:
        user, chosen = session.user.id, _id(form.text("session"))
        if form.text("others"):
            await self._personal.change(
                request,
                session,
                AuditEvent.SESSION_ENDED,
                lambda store: store.end_sessions(user, session.token.id),
            )
            return see_other(self._after("sessions"))
        with suppress(NotFound):  # it has expired in the meantime
            await self._personal.change(
                request,
                session,
                AuditEvent.SESSION_ENDED,
                lambda store: store.end_session(user, chosen),
            )
        return see_other(self._after("session"))

    # -- password -------------------------------------------------------------------------

    async def _show_password(self, request: Request, session: Session) -> Response:
        return await self._password_page(request, session)

    async def _change_password(self, request: Request, session: Session, form: Form) -> Response:
        client = self._personal.client(request)
        present, ending = form.text("present"), ended_access(form)
        try:
            if not present and session.by_proxy:
                # The proxy authenticates each request, but not how recently the user signed in.
                raise WrongCredentials
            new = new_password(form)
            if present or await self._personal.has_password(request, session.user.name):
                change = partial(change_password, present=present)
            else:
                change = partial(choose_first_password)
            work = partial(change, session=session.token, new=new, client=client, ending=ending)
            await self._personal.hash(request, work)
        except (*FORM_ERRORS, SessionTooOld) as error:
            return await self._password_page(request, session, ending, error)
        return see_other(self._after("password.access" if ending else "password"))

    async def _password_page(
        self,
        request: Request,
        session: Session,
        ending: Sequence[Access] = (),
        error: Exception | None = None,
    ) -> Response:
        values = {
            "chosen": ending,
            "user": session.user,
            "has_password": await self._personal.has_password(request, session.user.name),
            "by_proxy": session.by_proxy,
        }
        return await self._personal.page(Page("change_password.html", values, error), session)

    # -- tokens ---------------------------------------------------------------------------

    async def _show_tokens(self, request: Request, session: Session) -> Response:
        secret = await self._personal.own_secret(
            request, session, PREFIX, lambda token: not opens_feeds(token)
        )
        return await self._tokens_page(request, session, secret=secret)

    async def _change_tokens(self, request: Request, session: Session, form: Form) -> Response:
        user, revoked = session.user, form.text("revoke")
        address = self._personal.client(request).address
        if revoked:
            with suppress(NotFound):
                await self._personal.ask(
                    request, lambda store: revoke_own_token(store, user, _id(revoked), address)
                )
            return see_other(self._after("token", "tokens"))
        new = NewToken(form.text("name"), tuple(form.texts("scope")), _id(form.text("days")))
        try:
            secret = await self._personal.ask(
                request, lambda store: add_own_token(store, user, new, milliseconds(), address)
            )
        except FORM_ERRORS as error:
            return await self._tokens_page(request, session, new=new, error=error)
        return self._personal.made.on(self._address("tokens"), secret)

    async def _tokens_page(
        self,
        request: Request,
        session: Session,
        *,
        secret: str = "",
        new: NewToken = NEW_TOKEN,
        error: Exception | None = None,
    ) -> Response:
        tokens = await self._personal.ask(request, lambda store: own_tokens(store, session.user))
        now = milliseconds()
        values = {
            "tokens": [row_of_token(token, now) for token in tokens],
            "secret": secret,
            "new": new,
            "scopes": SCOPES,
            "lifetimes": LIFETIMES,
            "longest": LABEL_LENGTH,
            "api": self._settings.base_url,
            "done": _done(request),
        }
        headers = (*PERSONAL, *self._personal.made.cleared(secret))
        page = Page("tokens.html", values, error, headers, invalid="failure.token")
        return await self._personal.page(page, session)

    # -- invitations ----------------------------------------------------------------------

    async def _show_invitations(self, request: Request, session: Session) -> Response:
        secret = self._personal.made.of(request, LINK_PREFIX)
        if secret:
            link = await self._personal.ask(
                request, lambda store: find_link(store, secret, milliseconds())
            )
            if link is None or link.created_by != session.user.name:
                secret = ""
        return await self._invitations_page(request, session, secret)

    async def _change_invitations(self, request: Request, session: Session, form: Form) -> Response:
        user, withdrawn = session.user, form.text("withdraw")
        if withdrawn:
            with suppress(NotFound, ValueError):  # already used, or not a digest
                digest = bytes.fromhex(withdrawn)
                await self._personal.change(
                    request,
                    session,
                    AuditEvent.INVITATION_WITHDRAWN,
                    lambda store: store.withdraw_invitation(digest),
                )
            return see_other(self._after("invitation", "invitations"))
        secret = await self._personal.change(
            request,
            session,
            AuditEvent.INVITATION_MADE,
            lambda store: new_invitation(store, milliseconds(), user),
        )
        return self._personal.made.on(self._address("invitations"), secret)

    async def _invitations_page(self, request: Request, session: Session, secret: str) -> Response:
        found = await self._personal.ask(request, lambda store: store.invitations(milliseconds()))
        values = {
            "invitations": [row_of_invitation(link) for link in reversed(found)],
            "link": link_address(self._settings.base_url, secret) if secret else "",
            "registration": str(self._settings.registration),
            "done": _done(request),
        }
        headers = (*PERSONAL, *self._personal.made.cleared(secret))
        page = Page("invitations.html", values, headers=headers)
        return await self._personal.page(page, session)

    def _after(self, done: str, page: str = "") -> str:
        return f"{self._address(page)}?done={done}"


def _done(request: Request) -> str:
    done = read_parameters(request.query_string, ("done",)).get("done", "")
    return done if done in DONE else ""


def _id(text: str) -> int:
    """Parse the id in a form, 0 if it is not a number."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_ID))
    return min(int(text), LARGEST_ID) if digits else 0
