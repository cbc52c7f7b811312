"""A small OpenID provider for tests, which can also misbehave as no good provider would."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey

from mapshelf.accounts.openid.fetching import LONGEST
from mapshelf.settings import ProviderSettings

CLIENT_ID: Final = "map shelf"
CLIENT_SECRET: Final = "a secret: 100% of it"

Signer = RSAKey | ECKey | OctKey | OKPKey


def first() -> RSAKey:
    """Return the first key, the same in every call."""
    return made_key("first")


def second() -> RSAKey:
    """Return the second key."""
    return made_key("second")


def third() -> RSAKey:
    """Return the third key."""
    return made_key("third")


@cache
def made_key(name: str) -> RSAKey:
    """Generate the key with this name, once."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"}, auto_kid=False)


@dataclass
class SmallProvider:
    """The state of the provider, which tests change to make it misbehave.

    Attributes:
        issuer: its address.
        claims: replace claims of ID tokens; ``None`` leaves a claim out.
        metadata: replace values in its discovery document.
        key: its signing key; bytes sign with HMAC, which no library would do with such a key.
        header: the header of ID tokens.
        published: the keys that it publishes.
        profile: the response of its userinfo endpoint.
        status: the status of all responses, except the redirect that grants a code.
        body: replaces the body of all responses, unless empty.
        asked: the paths of the requests that it got.
        hanging: codes for which it does not respond before ``end_hanging`` is set.
    """

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    key: Signer | bytes = field(default_factory=first)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "first"})
    published: list[Any] = field(default_factory=lambda: [first().as_dict(private=False)])
    profile: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    body: bytes = b""
    asked: list[str] = field(default_factory=list)
    hanging: set[str] = field(default_factory=set)
    end_hanging: Event = field(default_factory=Event)
    codes: dict[str, tuple[dict[str, str], dict[str, Any]]] = field(default_factory=dict)

    def settings(self, **others: Any) -> ProviderSettings:
        """Return the settings that a service needs to use this provider."""
        given = {"name": "Example ID", **others}
        return ProviderSettings(self.issuer, CLIENT_ID, CLIENT_SECRET, **given)

    def let_in(self, address: str, subject: str = "248289761001", **claims: Any) -> str:
        """Grant the request in ``address``; return the address that the browser is sent back to."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/authorize"
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["scope"].split()[0] == "openid"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = (asked, {"sub": subject, **claims})
        answer = {"code": code, "state": asked["state"], "iss": self.issuer}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, asked: Mapping[str, str], claims: Mapping[str, Any]) -> str:
        """Return an ID token."""
        now = int(time.time())
        said = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **claims,
            **self.claims,
        }
        said = {name: value for name, value in said.items() if value is not None}
        if self.header["alg"] == "none" or isinstance(self.key, bytes):
            signed = ".".join(_encoded(json.dumps(one).encode()) for one in (self.header, said))
            key = self.key if isinstance(self.key, bytes) else b""
            return (
                f"{signed}.{_encoded(hmac.digest(key, signed.encode(), 'sha256') if key else b'')}"
            )
        return jwt.encode(self.header, said, self.key, algorithms=[self.header["alg"]])

    def answer(self, path: str, body: str, authorization: str) -> tuple[int, Any]:
        """Return status and content of the response to a request."""
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/me",
                "authorization_response_iss_parameter_supported": True,
                **self.metadata,
            }
        if path == "/keys":
            return 200, {"keys": self.published}
        if path == "/me":
            assert authorization.startswith("Bearer ")
            return 200, self.profile
        assert path == "/token", path
        return self._exchange({n: v[0] for n, v in parse_qs(body).items()}, authorization)

    def _exchange(self, given: dict[str, str], authorization: str) -> tuple[int, Any]:
        pair = f"{quote(CLIENT_ID, safe='')}:{quote(CLIENT_SECRET, safe='')}"
        basic = "Basic " + base64.b64encode(pair.encode()).decode()
        posted = (given.get("client_id"), given.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        if authorization != basic and not posted:
            return 401, {"error": "invalid_client"}
        if given["code"] in self.hanging:
            self.end_hanging.wait(LONGEST)
        asked, claims = self.codes.pop(given["code"], ({}, {}))
        digest = hashlib.sha256(given["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        right = (
            given["grant_type"] == "authorization_code"
            and asked.get("code_challenge") == challenge
            and asked.get("redirect_uri") == given["redirect_uri"]
        )
        if not right:
            return 400, {"error": "invalid_grant"}
        return 200, {
            "access_token": "to-be-asked",
            "token_type": "Bearer",
            "id_token": self.token(asked, claims),
        }


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def small_provider(host: str = "127.0.0.1") -> Iterator[SmallProvider]:
    """Run a provider that signs everybody in, on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size).decode()
            authorization = self.headers.get("Authorization") or ""
            if self.path.startswith("/authorize?"):
                self.send_response(303)
                self.send_header("Location", provider.let_in(provider.issuer + self.path))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            status, content = provider.answer(self.path, body, authorization)
            data = provider.body or json.dumps(content).encode()
            self.send_response(status if provider.status == 200 else provider.status)
            if provider.status in (301, 302, 303, 307, 308):
                self.send_header("Location", f"{provider.issuer}/elsewhere")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815 - the name that the base class looks for

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = SmallProvider(f"http://{host}:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def published(*keys: Signer) -> list[Any]:
    """Return public keys in the format of a provider's key set."""
    return list(KeySet(list(keys)).as_dict(private=False)["keys"])
