"""Browser sessions: finds the signed-in user of a page or of an API request by a page.

A session is a token in a cookie. Browsers send cookies also with requests caused by other sites.
So the API rejects sessions in requests from other sites, and requires our CSRF token for writes
(``csrf.py``).
"""

import secrets
from dataclasses import dataclass
from time import perf_counter
from typing import Final

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

LATE_AFTER: Final = 1.0
"""Seconds that reading may take before the credential of the request is checked again."""


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user.

    Attributes:
        user: the user.
        token: the session, as stored.
        secret: the value of the cookie, which must not go anywhere else.
    """

    user: User
    token: Token
    secret: str

    @property
    def by_proxy(self) -> bool:
        """Whether the session began by a proxy sign-in."""
        return self.secret.startswith(PROXY_SESSION_PREFIX)

    def form_token(self) -> str:
        """Return a CSRF token for a form."""
        return form_token(self.secret)


class BrowserSessions:
    """Finds the sessions of requests.

    Attributes:
        session_cookie: the cookie with the secret of a session.
        form_cookie: the cookie with the CSRF secret of browsers without a session.
        provider_cookie: the cookie with the state of an OpenID sign-in.
        proxy_user: reads the user that a proxy names.
    """

    def __init__(self, base_url: str, store: StoreConnection, proxy_user: ProxyUser) -> None:
        """Create the cookies; sessions are available after ``begin``."""
        self.session_cookie = Cookie(SESSION, base_url)
        self.form_cookie = Cookie(FORM, base_url)
        self.provider_cookie = Cookie(PROVIDER, base_url)
        self.proxy_user = proxy_user
        self._base_url = base_url
        self._store = store
        self._authenticator: Authenticator | None = None

    def begin(self, authenticator: Authenticator) -> None:
        """Use ``authenticator`` from now on: the store is open."""
        self._authenticator = authenticator

    async def authenticator(self) -> Authenticator:
        """Return the authenticator; wait for the store if necessary.

        Raises:
            StoreUnavailable: the store has not been opened yet.
        """
        if self._authenticator is None:
            await self._store.wait()
        if self._authenticator is None:
            raise StoreUnavailable("the store has not been opened yet")
        return self._authenticator

    async def session(self, request: Request) -> Session | None:
        """Return the session of a request to a page, ``None`` if there is none.

        From then on, the request changes something only as long as this session is valid: its
        credential is set here, so that no handler that reads a session can forget it.

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
        request.credential = found
        return Session(found.user, found.token, secret)

    async def credential_of_page(self, request: Request, scope: str) -> Credential:
        """Return the session of an API request that one of our pages sent without a token.

        Raises:
            InvalidToken: there is no session, or another site caused the request.
            InsufficientScope: the session does not have this scope.
            CrossSiteRequest: a write does not prove that one of our pages sent it.
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

    def known_user(self, sender: Sender, authorization: bytes) -> User | None:
        """Return the user of a request if this worker knows it without asking the store.

        This must not decide what the client may do: some checks are missing.

        Args:
            sender: the client.
            authorization: the Authorization header, empty if there is none.
        """
        if self._authenticator is None:
            return None
        secret = self.session_cookie.read(sender.header(b"cookie"))
        user = self._authenticator.known_user(authorization, secret)
        try:
            if user is not None:
                self._check_proxy(sender, secret, user)
        except InvalidToken:
            return None
        return user

    def _check_proxy(self, sender: Sender, secret: str, user: User) -> None:
        """Reject a session of a proxy sign-in, unless the proxy still names its user.

        Raises:
            InvalidToken: the proxy does not.
        """
        if secret.startswith(PROXY_SESSION_PREFIX) and (
            name_key(self.proxy_user.name(sender)) != name_key(user.name)
        ):
            raise InvalidToken(sent=True)

    def form_secret(self, request: Request) -> tuple[str, Headers]:
        """Return the CSRF secret of a browser without a session.

        The headers set its cookie if the browser does not have it yet.
        """
        secret = self.form_cookie.read(request.sender.header(b"cookie"))
        if secret:
            return secret, ()
        secret = secrets.token_urlsafe()
        return secret, (self.form_cookie.set(secret),)

    def check_form(self, request: Request, token: str, secret: str) -> None:
        """Check that one of our pages sent a form.

        Args:
            request: the request.
            token: the value of the form field ``csrf.FIELD``.
            secret: the secret of the session; without one, the secret from ``form_secret``.

        Raises:
            CrossSiteRequest: the check failed.
        """
        check_form(token, secret, provenance(request), self._base_url)


def is_late(began: float) -> bool:
    """Return whether a response that only reads was begun so long ago that access may have ended.

    Args:
        began: when the credential was checked (``time.perf_counter``).
    """
    return perf_counter() - began > LATE_AFTER


def provenance(request: Request) -> Provenance:
    """Return the origin of a request, as far as the browser reports it."""
    sender = request.sender
    return Provenance(
        sender.header(b"origin").decode("latin-1"),
        sender.header(b"sec-fetch-site").decode("latin-1"),
        request.headers.get(b"host", b"").decode("latin-1"),
    )
