"""Authorise requests for personal pages, process their forms, and build their responses.

These pages are never cached. A form is accepted only with its CSRF token and from a page of this
site (``api/csrf.py``). Errors are shown above the form.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeVar

from mapshelf.accounts.audit import done_by, noted
from mapshelf.accounts.own_account import require_young
from mapshelf.accounts.permissions import PERMISSIONS, allows
from mapshelf.accounts.sessions import LIFETIME, Client, NewSession
from mapshelf.api.browser_sessions import Session, is_late
from mapshelf.api.context import Context, address_of
from mapshelf.api.csrf import FIELD, form_token
from mapshelf.api.errors import error_headers, error_row
from mapshelf.api.forms import URL_ENCODED, Form, FormLimits
from mapshelf.api.http import BodyRule, Headers, Request, Response, body_response
from mapshelf.api.routes import Method, Operation
from mapshelf.api.work_queue import FindOwner, WorkQueue
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidToken, SessionTooOld, UnacceptablePassword, UnknownPath
from mapshelf.model import SECOND, Access, AuditEvent, Credential, Token
from mapshelf.settings import Budget
from mapshelf.site.flash_secret import FlashSecret
from mapshelf.site.form_errors import ALL_FORM_ERRORS, failure
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import HTML, PERSONAL, see_other
from mapshelf.site.signed_in import with_publish_link
from mapshelf.store import Store
from mapshelf.tokens import is_session_secret, is_valid, token_digest

T = TypeVar("T")

LIMITS: Final = FormLimits(fields=20, text=16_384)
BODY: Final = BodyRule(32_768, (URL_ENCODED,))
"""Limits of personal forms. A password of 200 characters takes 2,400 bytes at most."""

REGISTERED: Final = "registered"
"""The action that the account page confirms after registration."""

Show = Callable[[Request, Session], Awaitable[Response]]
"""Handles a request of a signed-in user."""

Act = Callable[[Request, Session, Form], Awaitable[Response]]
"""Handles a form submitted by a signed-in user."""

Paths = Mapping[str, tuple[Operation, Method | None]]
"""The handlers of each path: one to show it, and one for its form, if any."""

Take = Callable[[Request, Form], Awaitable[Response]]
"""Handles a form that does not require signing in."""

Refuse = Callable[[Request, Session, Exception], Awaitable[Response]]
"""Shows a rejected form again, with the reason."""


@dataclass(frozen=True, slots=True)
class FormKind:
    """The limits of a form; the default allows a few short fields.

    Attributes:
        limits: the limits of its fields.
        body: the limits of the request body: its size and media types.
        refuse: shows the form again when it is rejected; ``None`` to show an error page instead.
    """

    limits: FormLimits = LIMITS
    body: BodyRule = BODY
    refuse: Refuse | None = None


USUAL: Final = FormKind()


@dataclass(frozen=True, slots=True)
class Page:
    """A personal page to render.

    Attributes:
        template: its template.
        values: the variables of the template.
        error: the error in the submitted form, if any.
        headers: the headers of the response, security headers included.
        invalid: the key of the message for an invalid value.
    """

    template: str
    values: Mapping[str, Any]
    error: Exception | None = None
    headers: Headers = PERSONAL
    invalid: str = "failure.value"


class Personal:
    """Authorises requests for personal pages and builds their responses.

    Attributes:
        context: the service.
        addresses: builds URLs.
        templates: the templates.
        made: passes new secrets to the pages that show them.
    """

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self.context = context
        self.addresses = resources.addresses
        self.templates = resources.templates
        self.made = FlashSecret(context.settings.base_url)

    # -- authorisation --------------------------------------------------------------------

    def page_for(self, operation: str, show: Show, otherwise: str = "") -> Operation:
        """Restrict ``show`` to users with permission for an operation of ``PERMISSIONS``.

        Requests without a session are redirected to ``otherwise``, by default the sign-in page.
        """

        async def guard(_: Context, request: Request) -> Response:
            people = self.addresses.people
            address = otherwise or people.sign_in(people.of(request))
            session = await self.session(operation, request)
            if session is None:
                return see_other(address)
            began = perf_counter()
            try:
                response = await show(request, session)
                if is_late(began):
                    await self._check_again(operation, request)
            except InvalidToken:  # it has ended meanwhile
                return see_other(address)
            return response

        return guard

    def form_for(self, operation: str, act: Act, page: str, kind: FormKind = USUAL) -> Method:
        """Restrict ``act`` to users with permission for an operation.

        Args:
            operation: an operation of ``PERMISSIONS``.
            act: handles the submitted form.
            page: the URL of the page with the form, empty if it is the URL of the request.
                Requests without a session return to it after signing in.
            kind: the limits of the form.
        """

        async def guard(context: Context, request: Request) -> Response:
            sign_in = self.addresses.people.sign_in(page or self.addresses.people.of(request))
            session = await self.session(operation, request)
            if session is None:
                return see_other(sign_in)
            request.check_again = partial(self._check_again, operation, request)
            try:
                async with context.bodies.form(request, kind.limits) as form:
                    context.sessions.check_form(request, form.text(FIELD), session.secret)
                    return await act(request, session, form)
            except InvalidToken:  # it has ended meanwhile
                return see_other(sign_in)
            except ALL_FORM_ERRORS as error:
                if kind.refuse is None:
                    raise
                return await kind.refuse(request, session, error)

        return Method(guard, None, body=kind.body, budget=Budget.PAGES)

    def open_form(self, take: Take, *, hashing: bool = False) -> Method:
        """Open ``take`` to everyone; it must call ``check_form`` itself.

        Args:
            take: handles the form.
            hashing: whether it hashes a password. If so, requests are refused before their form
                is read while the hashing queue is full: a thousand guesses a second must not
                delay other users.
        """

        async def guard(context: Context, request: Request) -> Response:
            if hashing:
                context.queues.passwords.check_room(request.owner)
            async with context.bodies.form(request, LIMITS) as form:
                return await take(request, form)

        # Such a form may be used to guess passwords, so it has the rate limit of signing in.
        return Method(guard, None, body=BODY, budget=Budget.SIGN_IN)

    def check_form(self, request: Request, form: Form) -> None:
        """Check that a form that needs no session comes from a page of this site (CSRF).

        Raises:
            CrossSiteRequest: it comes from another site.
        """
        people = self.context.sessions
        secret, _ = people.form_secret(request)
        people.check_form(request, form.text(FIELD), secret)

    async def session(self, operation: str, request: Request) -> Session | None:
        """Return the session of a request, ``None`` if not signed in.

        Args:
            operation: an operation of ``PERMISSIONS``.
            request: the request; it writes only as long as this session is valid.

        Raises:
            UnknownPath: the user lacks permission for the operation.
        """
        session = await self.context.sessions.session(request)
        if session is None:
            return None
        if not allows(PERMISSIONS[operation], Credential(session.token, session.user)):
            raise UnknownPath("There is nothing at this address.")
        return session

    async def _check_again(self, operation: str, request: Request) -> None:
        """Check that the session of a request is still valid; see ``session``.

        Raises:
            InvalidToken: it is not.
        """
        if await self.session(operation, request) is None:
            raise InvalidToken(sent=True)

    def may_add_a_way(self, session: Session) -> bool:
        """Return whether a user may add a way to sign in, such as a passkey.

        The session must be recent: otherwise, a stolen old session would give permanent access.
        Sessions created through a proxy may be old, because they are useless without the proxy.
        """
        try:
            self.require_young(session)
        except SessionTooOld:
            return False
        return True

    def require_young(self, session: Session) -> None:
        """Refuse a session that is not recent; see ``may_add_a_way``.

        Raises:
            SessionTooOld: the session is too old to prove the user's identity.
        """
        if not session.by_proxy:
            require_young(session.token, milliseconds())

    # -- work -----------------------------------------------------------------------------

    async def ask(self, request: Request, work: Callable[[Store], T]) -> T:
        """Run ``work`` with the store in a thread, and return its result.

        Raises:
            Overloaded: the queue is full.
            StoreUnavailable: the store cannot be reached.
        """
        return await self._result(self.context.queues.accounts, request, work)

    async def has_password(self, request: Request, name: str) -> bool:
        """Return whether the user with this name has a password, or is unknown; see ``ask``."""
        record = await self.ask(request, lambda store: store.password_of(name))
        return record is None or record.encoded is not None

    async def change(
        self,
        request: Request,
        session: Session,
        event: AuditEvent,
        work: Callable[[Store], T],
        target: str = "",
    ) -> T:
        """Run ``work``, record it in the audit log, and return its result; see ``ask``."""
        entry = done_by(session.user, self.client(request).address, event, target)
        return await self.ask(request, partial(noted, entry, work))

    async def hash(self, request: Request, work: Callable[[Store], T]) -> T:
        """Run ``work`` that hashes passwords, and return its result; see ``ask``."""
        return await self._result(self.context.queues.passwords, request, work)

    async def search_own_maps(self, request: Request, work: Callable[[Store], T]) -> T:
        """Run ``work`` that searches the user's own maps, and return its result; see ``ask``."""
        return await self._result(self.context.queues.own_maps, request, work)

    async def ask_provider(self, request: Request, work: Callable[[Store], T]) -> T:
        """Run ``work`` that waits for the OpenID provider, and return its result; see ``ask``."""
        return await self._result(self.context.queues.providers, request, work)

    async def _result(self, queue: WorkQueue, request: Request, work: Callable[[Store], T]) -> T:
        await self.context.sessions.authenticator()  # wait until the store is open
        make = partial(work, self.context.store_for(request))
        # A unique key, so that two equal requests are not merged.
        return await queue.result(object(), make, request.disconnection, owner=request.owner)

    async def own_secret(
        self, request: Request, session: Session, prefix: str, fits: Callable[[Token], bool]
    ) -> str:
        """Return the new secret that the previous form created, empty if there is none.

        It comes from a cookie. It is returned only if it has this prefix, is valid, belongs to the
        signed-in user, and ``fits`` accepts its token.
        """
        secret = self.made.of(request, prefix)
        if not secret:
            return ""
        digest = token_digest(secret)
        known = await self.ask(request, lambda store: store.find_credentials([digest]))
        found = known.get(digest)
        own = found is not None and found.user.id == session.user.id and fits(found.token)
        return secret if own and found and is_valid(found, milliseconds()) else ""

    def client(self, request: Request) -> Client:
        """Return the client of a request: time, address, user agent, and digest of its session."""
        sender, context = request.sender, self.context
        secret = context.sessions.session_cookie.read(sender.header(b"cookie"))
        return Client(
            milliseconds(),
            address_of(context.settings.trusted_proxies, sender),
            sender.header(b"user-agent").decode("latin-1"),
            token_digest(secret) if is_session_secret(secret) else None,
        )

    # -- responses ------------------------------------------------------------------------

    async def page(self, page: Page, session: Session) -> Response:
        """Return a page for a signed-in user.

        Raises:
            Overloaded: the queue is full.
        """
        response = await self._made(page, session.form_token(), lambda: session.user.id)
        return with_publish_link(response, self.addresses)

    async def open_page(self, page: Page, request: Request) -> Response:
        """Return a page that requires no session; see ``page``."""
        secret, cookies = self.context.sessions.form_secret(request)
        return await self._made(page, form_token(secret), request.owner, cookies)

    def signed_in(self, session: NewSession, address: str) -> Response:
        """Return the response after signing in: a redirect to ``address``."""
        cookie = self.context.sessions.session_cookie
        return see_other(address, cookie.set(session.secret, LIFETIME // SECOND))

    async def _made(
        self, page: Page, token: str, owner: FindOwner, cookies: Headers = ()
    ) -> Response:
        make = partial(self._page, page, token, cookies)
        return await self.context.queues.accounts.result(object(), make, owner=owner)

    def _page(self, page: Page, token: str, cookies: Headers) -> Response:
        status, headers, told = 200, (*page.headers, *cookies), ""
        if page.error is not None:
            status, told = error_row(page.error).status, failure(page.error, page.invalid)
            headers += tuple(one for one in error_headers(page.error) if one[0] != b"cache-control")
        values = {**page.values, "form_token": token, "failure": told}
        body = self.templates.text(page.template, values).encode()
        return body_response(status, HTML, body, headers)


def ended_access(form: Form) -> tuple[Access, ...]:
    """Return the kinds of access that a form asks to revoke when the password is replaced."""
    chosen = form.texts("ending")
    return tuple(one for one in Access if one.value in chosen)


def new_password(form: Form) -> str:
    """Return the new password in a form, which was typed twice.

    Raises:
        UnacceptablePassword: the two differ.
    """
    password = form.text("new")
    if form.text("again") != password:
        raise UnacceptablePassword("differ", "The two passwords are not the same.")
    return password
