"""Client for an OpenID provider: its metadata, its keys, and the users that it authenticates.

The metadata is loaded when first needed, and again after an hour, so that the service starts and
runs without its provider. After a failure, requests fail at once for a few seconds, so that users
do not all wait for the same timeout.
"""

import base64
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, NoReturn
from urllib.parse import quote, urlencode, urlsplit

from mapshelf.accounts.openid.attempt import Attempt
from mapshelf.accounts.openid.fetching import Fetched, FetchError, fetch
from mapshelf.accounts.openid.id_tokens import (
    Expected,
    Key,
    UnknownKey,
    WrongToken,
    read_keys,
    verified_claims,
)
from mapshelf.accounts.openid.provider_urls import checked_url
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidSetting, ProviderRefusal, ProviderUnavailable
from mapshelf.settings import ProviderSettings

DISCOVERY: Final = "/.well-known/openid-configuration"
SCOPES: Final = "openid profile"

KEPT: Final = 3600.0
"""Seconds for which the published metadata is cached."""

RETRIED_AFTER: Final = 5.0
"""Seconds before a provider that did not respond is tried again."""

KEYS_RELOADED_EVERY: Final = 60.0
"""Minimum seconds between reloads of the keys for tokens that name an unknown key."""

DENIED: Final = "denied"
"""The reason of a refusal if the user cancelled."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderUser:
    """A user as the provider knows them.

    Attributes:
        issuer: the provider.
        subject: identifies the user at the issuer; never reassigned.
        name: the name to show; empty if the provider sends none.
    """

    issuer: str
    subject: str
    name: str


@dataclass(frozen=True, slots=True)
class _Published:
    """The parts of the provider metadata that we use."""

    authorization: str
    token: str
    keys: str
    user: str
    names_itself: bool
    posted_secret: bool


class Provider:
    """One OpenID provider. It is thread-safe; every method may block on a request to it.

    Attributes:
        settings: the provider, and our client credentials.
        redirect_uri: where it sends browsers back to.
    """

    def __init__(self, settings: ProviderSettings, redirect_uri: str) -> None:
        self.settings = settings
        self.redirect_uri = redirect_uri
        self._lock = Lock()
        self._published: _Published | None = None
        self._keys: list[Key] = []
        self._published_until = self._keys_until = self._away_until = self._reload_from = 0.0

    def authorization_address(self, attempt: Attempt, session: str) -> str:
        """Return the address to redirect a browser to.

        Args:
            attempt: the attempt that begins.
            session: see ``Attempt.state``.

        Raises:
            ProviderUnavailable: the provider does not respond, or its response is invalid.
        """
        endpoint = self._metadata().authorization
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": SCOPES,
            "state": attempt.state(session),
            "nonce": attempt.nonce(),
            "code_challenge": attempt.challenge(),
            "code_challenge_method": "S256",
        }
        return endpoint + ("&" if urlsplit(endpoint).query else "?") + urlencode(asked)

    def identify(self, attempt: Attempt, answer: Mapping[str, str]) -> ProviderUser:
        """Return the user whom the provider authenticated.

        Args:
            attempt: the attempt of the browser; its state matches that of the response.
            answer: the parameters of the response.

        Raises:
            ProviderRefusal: the provider denied access, or its response fails verification.
            ProviderUnavailable: the provider does not respond, or its response is invalid.
        """
        published = self._metadata()
        self._check_sender(answer, published)
        if "error" in answer:
            self._refuse(DENIED if answer["error"] == "access_denied" else "failed", answer)
        if not answer.get("code"):
            self._refuse("failed", "it sent no code")
        tokens = self._exchanged(published, attempt, answer["code"])
        claims = self._claims(str(tokens.get("id_token") or ""), attempt.nonce())
        subject = str(claims["sub"])
        name = _name(claims) or self._name_of(published, tokens, subject)
        return ProviderUser(self.settings.issuer, subject, name)

    def _check_sender(self, answer: Mapping[str, str], published: _Published) -> None:
        """Reject a response from another provider (RFC 9207)."""
        if ("iss" in answer or published.names_itself) and (
            answer.get("iss") != self.settings.issuer
        ):
            self._refuse("failed", "the answer names another issuer")

    def _exchanged(self, published: _Published, attempt: Attempt, code: str) -> Mapping[str, Any]:
        """Exchange a code for tokens (RFC 6749, section 4.1.3)."""
        settings = self.settings
        given = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": attempt.verifier(),
        }
        headers = {}
        if published.posted_secret:
            given |= {"client_id": settings.client_id, "client_secret": settings.client_secret}
        else:
            pair = f"{quote(settings.client_id, safe='')}:{quote(settings.client_secret, safe='')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        self._check_away()
        try:
            found = fetch(published.token, urlencode(given).encode(), headers)
        except FetchError as error:
            self._fail(error)
        if found.status >= 500:
            self._fail(f"its token endpoint answers {found.status}")
        if found.status != 200:
            self._refuse("failed", f"its token endpoint answers {found.status} {_error(found)}")
        return found.content

    def _claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        settings = self.settings
        expected = Expected(settings.issuer, settings.client_id, nonce, milliseconds() // 1000)
        try:
            try:
                return verified_claims(token, self._known_keys(), expected)
            except UnknownKey:
                return verified_claims(token, self._reloaded_keys(), expected)
        except (UnknownKey, WrongToken) as error:
            self._refuse("failed", error)

    def _name_of(self, published: _Published, tokens: Mapping[str, Any], subject: str) -> str:
        """Return the user's name from the userinfo endpoint if the ID token has none."""
        access = tokens.get("access_token")
        if not published.user or not isinstance(access, str) or not _is_token(access):
            return ""
        try:
            found = fetch(published.user, headers={"Authorization": f"Bearer {access}"}).content
        except FetchError as error:
            log.warning("the OpenID provider did not send the name of a user: %s", error)
            return ""
        return _name(found) if found.get("sub") == subject else ""

    # -- metadata and keys ----------------------------------------------------------------

    def _metadata(self) -> _Published:
        with self._lock:
            if self._published is None or self._published_until < time.monotonic():
                try:
                    self._published = self._discovered()
                    self._published_until = time.monotonic() + KEPT
                except ProviderUnavailable:
                    if self._published is None:
                        raise
            return self._published

    def _discovered(self) -> _Published:
        issuer = self.settings.issuer
        found = self._content(issuer.rstrip("/") + DISCOVERY)
        if found.get("issuer") != issuer:
            self._away(f"it calls itself {found.get('issuer')!r}, not {issuer!r}")
        endpoints = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
        authorization, token, keys, user = (self._endpoint(found, name) for name in endpoints)
        methods = found.get("token_endpoint_auth_methods_supported")
        return _Published(
            authorization,
            token,
            keys,
            user,
            names_itself=found.get("authorization_response_iss_parameter_supported") is True,
            posted_secret=isinstance(methods, list) and "client_secret_basic" not in methods,
        )

    def _endpoint(self, found: Mapping[str, Any], name: str) -> str:
        url = found.get(name, "")
        if not url and name == "userinfo_endpoint":
            return ""
        try:
            parts = checked_url(str(url))
        except InvalidSetting as error:
            self._away(f"its {name} cannot be used: {error}")
        # A remote provider must not direct our requests to this machine.
        if parts.scheme != "https" == urlsplit(self.settings.issuer).scheme:
            self._away(f"its {name} cannot be used: {url!r} is not https, as the issuer is")
        return str(url)

    def _known_keys(self) -> list[Key]:
        published = self._metadata()
        with self._lock:
            if self._keys_until < time.monotonic():
                self._load_keys(published)
            return self._keys

    def _reloaded_keys(self) -> list[Key]:
        """Return the keys after reloading them, unless that was done a moment ago.

        Any user of the provider could cause reloads, so they are rare.
        """
        published = self._metadata()
        with self._lock:
            if self._reload_from <= time.monotonic():
                self._reload_from = time.monotonic() + KEYS_RELOADED_EVERY
                self._load_keys(published)
            return self._keys

    def _load_keys(self, published: _Published) -> None:
        found = self._content(published.keys).get("keys")
        self._keys = read_keys(found if isinstance(found, list) else ())
        self._keys_until = time.monotonic() + KEPT

    # -- requests ------------------------------------------------------------------------

    def _content(self, url: str) -> Mapping[str, Any]:
        self._check_away()
        try:
            found = fetch(url)
        except FetchError as error:
            self._away(error)
        if found.status != 200 or not found.content:
            self._away(f"{url} answers {found.status}, without a JSON object that can be used")
        return found.content

    def _check_away(self) -> None:
        if time.monotonic() < self._away_until:
            raise ProviderUnavailable(self.settings.name)

    def _away(self, reason: object) -> NoReturn:
        """Fail, and send no requests for a while."""
        self._away_until = time.monotonic() + RETRIED_AFTER
        self._fail(reason)

    def _fail(self, reason: object) -> NoReturn:
        """Fail this request only: what a client sent may be the reason."""
        log.warning("the OpenID provider %s cannot be used: %.300s", self.settings.issuer, reason)
        raise ProviderUnavailable(self.settings.name)

    def _refuse(self, why: str, reason: object) -> NoReturn:
        """Reject a response; the log has the details, the user sees no more than necessary."""
        if why != DENIED:
            log.warning("a response of the OpenID provider was refused: %.300s", reason)
        raise ProviderRefusal(why, self.settings.name)


def _name(claims: Mapping[str, Any]) -> str:
    name = claims.get("preferred_username")
    return name if isinstance(name, str) else ""


def _error(found: Fetched) -> str:
    """Return the error that a token endpoint reports (RFC 6749, section 5.2)."""
    error = found.content.get("error")
    return error[:50] if isinstance(error, str) and error.isascii() and error.isprintable() else ""


def _is_token(text: str) -> bool:
    """Return whether a text can be in an Authorization header."""
    return text.isascii() and text.isprintable() and " " not in text
