"""Handle the pages for signing in and out, one-time links that set a password, and registration.

They do not reveal which usernames exist, with one exception: registration rejects a taken name.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from mapshelf.accounts import sign_in as accounts
from mapshelf.accounts.one_time_links import find_link
from mapshelf.accounts.proxy_sign_in import sign_in_by_proxy
from mapshelf.accounts.relying_party import relying_party
from mapshelf.accounts.sessions import NewSession
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.routes import Method, Operation
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidToken, NotFound
from mapshelf.model import Access, AuditEvent, LinkKind, OneTimeLink
from mapshelf.query import read_parameters
from mapshelf.settings import Registration
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import REGISTERED, Page, Paths, Personal, ended_access, new_password
from mapshelf.site.private import for_everybody
from mapshelf.site.responses import PERSONAL, SECRET, see_other

FORGET: Final = b'"cache"'
"""The data that browsers clear on signing out of a private catalogue (``Clear-Site-Data``)."""


PASSWORD: Final = "password"  # noqa: S105 - a way to sign in
"""The value of the parameter ``way`` that shows the sign-in form to a user whom the proxy would
otherwise sign in."""


def _is_opened(request: Request) -> bool:
    """Return whether the browser opens this as a page (``Sec-Fetch-Dest``), or does not say.

    Another site can embed the address as an image, for example. The browser then sends no cookies
    of ours, but the proxy signs the user in. Each such request would begin a session, and end an
    older one of the user.
    """
    return request.sender.header(b"sec-fetch-dest") in (b"", b"document")


class SignInPages:
    """The pages for signing in and out, one-time links and registration."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._settings = personal.context.settings

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        personal, home = self._personal, self._addresses.library({})
        show_sign_out = personal.page_for("sign out", self._sign_out_page, otherwise=home)
        paths: dict[str, tuple[Operation, Method]] = {
            "/signin": (
                for_everybody(self._sign_in_page),
                personal.open_form(self._sign_in, hashing=True),
            ),
            "/signout": (show_sign_out, personal.form_for("sign out", self._sign_out, home)),
            "/link/{secret}": (
                for_everybody(self._link_page),
                personal.open_form(self._use_link, hashing=True),
            ),
        }
        if self._settings.registration is Registration.OPEN:
            register = personal.open_form(self._register, hashing=True)
            paths["/register"] = (for_everybody(self._register_page), register)
        return paths

    # -- signing in and out ---------------------------------------------------------------

    async def _sign_in_page(self, request: Request) -> Response:
        given = read_parameters(request.query_string, ("next", "way"))
        returning, people = given.get("next", ""), self._personal.context.sessions
        if await people.session(request):
            return see_other(self._addresses.people.after(returning))
        named = people.proxy_user.name(request.sender)
        if named and given.get("way") != PASSWORD and _is_opened(request):
            return await self._sign_in_by_proxy(request, named, returning)
        return await self.form_page(request, returning)

    async def _sign_in_by_proxy(self, request: Request, name: str, returning: str) -> Response:
        client, proxy = self._personal.client(request), self._personal.context.sessions.proxy_user
        try:
            session = await self._personal.ask(
                request,
                lambda store: sign_in_by_proxy(store, name, client, auto_create=proxy.auto_create),
            )
        except FORM_ERRORS as error:
            return await self.form_page(request, returning, error=error)
        return self._personal.signed_in(session, self._addresses.people.after(returning))

    async def _sign_in(self, request: Request, form: Form) -> Response:
        name, returning = form.text("name"), form.text("next")
        password, client = form.text("password"), self._personal.client(request)
        try:
            self._personal.check_form(request, form)
            session = await self._personal.hash(
                request,
                partial(accounts.sign_in, name=name, password=password, client=client),
            )
        except FORM_ERRORS as error:
            return await self.form_page(request, returning, name, error)
        return self._personal.signed_in(session, self._addresses.people.after(returning))

    async def form_page(
        self, request: Request, returning: str, name: str = "", error: Exception | None = None
    ) -> Response:
        """Return the sign-in page, with the error of the last attempt if there was one."""
        provider = self._settings.provider
        values = {
            "next": self._addresses.people.own(returning),
            "name": name,
            "registration": self._settings.registration is Registration.OPEN,
            "provider": provider.name if provider else "",
            "passkeys": relying_party(self._settings.base_url) is not None,
            "by_provider": self._addresses.people.by_provider(returning),
        }
        return await self._personal.open_page(Page("signin.html", values, error), request)

    async def _sign_out_page(self, request: Request, session: Session) -> Response:
        return await self._personal.page(
            Page("signout.html", {"user": session.user, "by_proxy": session.by_proxy}), session
        )

    async def _sign_out(self, request: Request, session: Session, form: Form) -> Response:
        user, token = session.user.id, session.token.id
        with suppress(NotFound, InvalidToken):  # the session has already ended
            await self._personal.change(
                request,
                session,
                AuditEvent.SESSION_ENDED,
                lambda store: store.end_session(user, token),
            )
        headers = [self._personal.context.sessions.session_cookie.clear()]
        # Otherwise the back button would show private pages from the cache, without a request.
        if self._settings.private and self._settings.base_url.startswith("https:"):
            headers.append((b"clear-site-data", FORGET))
        return see_other(self._addresses.library({}), *headers)

    # -- one-time links -------------------------------------------------------------------

    async def _link_page(self, request: Request) -> Response:
        found = await self._found(request)
        if found is None:
            return await self._no_link(request)
        return await self._link_form(request, found)

    async def _use_link(self, request: Request, form: Form) -> Response:
        found = await self._found(request)
        if found is None:
            return await self._no_link(request)
        secret, name = request.parts["secret"], form.text("name").strip()
        client, ending = self._personal.client(request), ended_access(form)
        try:
            self._personal.check_form(request, form)
            password = new_password(form)
            use = partial(accounts.choose_password, secret=secret, password=password, ending=ending)
            if found.kind is LinkKind.INVITATION:
                use = partial(accounts.register, secret=secret, name=name, password=password)
            session = await self._personal.hash(request, partial(use, client=client))
        except FORM_ERRORS as error:
            return await self._link_form(request, found, name, ending, error)
        except NotFound:
            return await self._no_link(request)
        if found.kind is LinkKind.INVITATION:
            return self._registered(session)
        return self._personal.signed_in(session, self._addresses.people.account())

    async def _found(self, request: Request) -> OneTimeLink | None:
        """Return the one-time link of a request, ``None`` if it is unknown or not usable.

        An invitation is not usable while registration is closed.
        """
        secret = request.parts["secret"]
        found = await self._personal.ask(
            request, lambda store: find_link(store, secret, milliseconds())
        )
        closed = self._settings.registration is Registration.CLOSED
        return None if found and found.kind is LinkKind.INVITATION and closed else found

    async def _link_form(
        self,
        request: Request,
        found: OneTimeLink,
        name: str = "",
        ending: Sequence[Access] = (),
        error: Exception | None = None,
    ) -> Response:
        action = self._addresses.people.of(request)
        if found.user is None:
            values = {"name": name, "action": action}
            page = Page("register.html", values, error, SECRET, "failure.name")
        else:
            renewed = await self._personal.has_password(request, found.user.name)
            facts = {"user": found.user, "action": action, "renewed": renewed, "chosen": ending}
            page = Page("password.html", facts, error, SECRET)
        return await self._personal.open_page(page, request)

    async def _no_link(self, request: Request) -> Response:
        error = NotFound("This link is not good, or not any longer.")
        return await self._personal.open_page(Page("no_link.html", {}, error, SECRET), request)

    # -- registering ----------------------------------------------------------------------

    async def _register_page(self, request: Request) -> Response:
        return await self._register_form(request)

    async def _register(self, request: Request, form: Form) -> Response:
        name, client = form.text("name").strip(), self._personal.client(request)
        try:
            self._personal.check_form(request, form)
            register = partial(accounts.register, secret=None, name=name, client=client)
            session = await self._personal.hash(
                request, partial(register, password=new_password(form))
            )
        except FORM_ERRORS as error:
            return await self._register_form(request, name, error)
        return self._registered(session)

    def _registered(self, session: NewSession) -> Response:
        """Return the response after registration: sign in, and redirect to the account page."""
        address = f"{self._addresses.people.account()}?done={REGISTERED}"
        return self._personal.signed_in(session, address)

    async def _register_form(
        self, request: Request, name: str = "", error: Exception | None = None
    ) -> Response:
        values = {"name": name, "action": self._addresses.people.register()}
        return await self._personal.open_page(
            Page("register.html", values, error, PERSONAL, "failure.name"), request
        )
