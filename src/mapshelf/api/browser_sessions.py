"""Who is signed in: sessions of browsers, for pages and for the requests that pages make.

A session counts as a token that a cookie carries. Browsers send cookies whoever makes them send a
request, so the API takes one only if no other site did, and takes no order from it without the
token of our forms (``csrf.py``).
"""

import secrets
from dataclasses import dataclass

from mapshelf.api.auth import Authenticator
from mapshelf.api.cookies import FORM, PROVIDER, SESSION, Cookie
from mapshelf.api.csrf import HEADER, OWN_SITE, Provenance, check_form, form_token
from mapshelf.api.http import Headers, Request
from mapshelf.api.proxy_user import ProxyUser
from mapshelf.api.store_connection import StoreConnection
from mapshelf.client_address import Sender
from mapshelf.errors import InsufficientScope, InvalidToken, StoreUnavailable
from mapshelf.model import Credential, Token, User, name_key
from mapshelf.tokens import PROXY_SESSION_PREFIX, scopes_of


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in.

    Attributes:
        user: who it is.
        token: the session, as the store keeps it.
        secret: what the cookie keeps; it goes nowhere else.
    """

    user: User
    token: Token
    secret: str

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy began it."""
        return self.secret.startswith(PROXY_SESSION_PREFIX)

    def form_token(self) -> str:
        """Return a token for a form."""
        return form_token(self.secret)


class BrowserSessions:
    """Finds the sessions of requests.

    Attributes:
        session_cookie: the cookie that keeps the secret of a session.
        form_cookie: the cookie for forms of those who are not signed in.
        provider_cookie: the cookie of those who sign in at an OpenID provider.
        proxy_user: knows whom a proxy names.
    """

    def __init__(self, base_url: str, store: StoreConnection, proxy_user: ProxyUser) -> None:
        """Prepare; sessions are known once ``begin`` has been called."""
        self.session_cookie = Cookie(SESSION, base_url)
        self.form_cookie = Cookie(FORM, base_url)
        self.provider_cookie = Cookie(PROVIDER, base_url)
        self.proxy_user = proxy_user
        self._base_url = base_url
        self._store = store
        self._authenticator: Authenticator | None = None

    def begin(self, authenticator: Authenticator) -> None:
        """Ask ``authenticator`` from now on: the store is open."""
        self._authenticator = authenticator

    async def authenticator(self) -> Authenticator:
        """Return what knows all tokens and sessions; wait for the store, if necessary.

        Raises:
            StoreUnavailable: the store has not been opened yet.
        """
        if self._authenticator is None:
            await self._store.wait()
        if self._authenticator is None:
            raise StoreUnavailable("the store has not been opened yet")
        return self._authenticator

    async def session(self, request: Request) -> Session | None:
        """Return who sends a request to a page, ``None`` if nobody is signed in.

        Raises:
            StoreUnavailable: the store cannot be reached.
        """
        secret = self.session_cookie.read(request.sender.header(b"cookie"))
        if not secret:
            return None
        try:
            found = await (await self.authenticator()).session(secret)
            self._check_proxy(request.sender, secret, found.user)
        except InvalidToken:
            return None
        return Session(found.user, found.token, secret)

    async def credential_of_page(self, request: Request, scope: str) -> Credential:
        """Return the session of a request to the API from a page of ours, without a token.

        Raises:
            InvalidToken: nobody is signed in, or another site made the browser send it.
            InsufficientScope: the session does not have this scope.
            CrossSiteRequest: it would write, but does not show that a page of ours sends it.
            StoreUnavailable: the store cannot be reached.
        """
        authenticator = await self.authenticator()
        sender = request.sender
        secret = self.session_cookie.read(sender.header(b"cookie"))
        if not secret or sender.header(b"sec-fetch-site").decode("latin-1") not in OWN_SITE:
            raise InvalidToken(sent=False)
        found = await authenticator.session(secret)
        self._check_proxy(sender, secret, found.user)
        if request.method not in ("GET", "HEAD"):
            token = sender.header(HEADER).decode("latin-1")
            check_form(token, secret, provenance(request), self._base_url)
        if scope not in scopes_of(found.token.scopes):
            raise InsufficientScope(scope)
        return found

    def _check_proxy(self, sender: Sender, secret: str, user: User) -> None:
        """Refuse a session that a proxy began, unless the proxy still names its user.

        Raises:
            InvalidToken: it does not.
        """
        if secret.startswith(PROXY_SESSION_PREFIX) and (
            name_key(self.proxy_user.name(sender)) != name_key(user.name)
        ):
            raise InvalidToken(sent=True)

    def form_secret(self, request: Request) -> tuple[str, Headers]:
        """Return what makes the tokens of forms for a browser in which nobody has signed in.

        With it come the headers that make the browser keep it, if it does not have it yet.
        """
        secret = self.form_cookie.read(request.sender.header(b"cookie"))
        if secret:
            return secret, ()
        secret = secrets.token_urlsafe()
        return secret, (self.form_cookie.set(secret),)

    def check_form(self, request: Request, token: str, secret: str) -> None:
        """Check that a page of ours sends a form.

        Args:
            request: the request.
            token: what the form has in the field ``csrf.FIELD``.
            secret: of the session, or what ``form_secret`` returns if there is none.

        Raises:
            CrossSiteRequest: no page of ours does.
        """
        check_form(token, secret, provenance(request), self._base_url)


def provenance(request: Request) -> Provenance:
    """Return where a request comes from."""
    sender = request.sender
    return Provenance(
        sender.header(b"origin").decode("latin-1"),
        sender.header(b"sec-fetch-site").decode("latin-1"),
        request.headers.get(b"host", b"").decode("latin-1"),
    )
