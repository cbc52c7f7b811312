"""An independent OAuth client, Authlib's, uses every grant over HTTP.

It finds all endpoints in the metadata (RFC 8414).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

from tests.api.oauth_programs import decide, post, signed_in
from tests.cli.process import EXAMPLES, Mapshelf, serving
from tests.person import forms

pytestmark = pytest.mark.process

CALLBACK: Final = "http://127.0.0.1:9/back"
DEVICE: Final = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True)
class Server:
    """A running service, with its metadata."""

    mapshelf: Mapshelf
    url: str
    metadata: dict[str, Any]

    def register(self, *options: str) -> dict[str, str]:
        """Register a program on the command line; return the printed values."""
        lines = self.mapshelf.lines("client", "add", "Program", *options)
        return dict(line.split("\t") for line in lines)

    def client(self, method: str, *options: str) -> OAuth2Session:
        """Return a client of a new program that authenticates by this method."""
        return self.client_of(method, self.register("--redirect-uri", CALLBACK, *options))

    def client_of(self, method: str, made: dict[str, str]) -> OAuth2Session:
        """Return a client of a program that is registered."""
        return OAuth2Session(
            client_id=made["client_id"],
            client_secret=made.get("client_secret"),
            token_endpoint_auth_method=method,
            revocation_endpoint_auth_method=method,
            redirect_uri=CALLBACK,
            scope="account maps",
            code_challenge_method="S256",
            token_endpoint=self.metadata["token_endpoint"],
        )

    def let_in(self, client: OAuth2Session) -> dict[str, Any]:
        """Go through the authorization code grant with PKCE; return the tokens."""
        verifier = generate_token(48)
        address, state = client.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=verifier
        )
        with signed_in(self.mapshelf, self.url) as browser:
            location = decide(browser, address, "allow")
        assert dict(parse_qsl(urlsplit(location).query))["iss"] == self.metadata["issuer"]
        token: dict[str, Any] = client.fetch_token(
            self.metadata["token_endpoint"],
            authorization_response=location,
            code_verifier=verifier,
            state=state,
        )
        return token


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    mapshelf = Mapshelf(tmp_path_factory.mktemp("clients") / "data")
    mapshelf.run("import", EXAMPLES)
    with serving(mapshelf, "--dynamic-registration", token=mapshelf.token()) as service:
        service.wait_until_ready()
        found = httpx.get(get_well_known_url(service.url, external=True), timeout=60).json()
        yield Server(mapshelf, service.url, found)


def test_the_metadata_is_valid(server: Server) -> None:
    metadata = AuthorizationServerMetadata(server.metadata)
    metadata.validate_issuer = lambda: None  # the issuer must be HTTPS, which a proxy adds
    for endpoint in ("authorization", "token", "revocation"):
        setattr(metadata, f"validate_{endpoint}_endpoint", lambda: None)
    metadata.validate()
    assert server.metadata["issuer"] == server.url


@pytest.mark.parametrize(
    ("method", "options"),
    [("client_secret_basic", ()), ("client_secret_post", ()), ("none", ("--public",))],
)
def test_code_refresh_and_revocation(server: Server, method: str, options: tuple[str, ...]) -> None:
    with server.client(method, *options) as client:
        first = server.let_in(client)
        assert client.get(f"{server.url}/users/me").json()["UserName"] == "alice"
        assert client.get(f"{server.url}/maps").status_code == 200
        endpoint = server.metadata["token_endpoint"]
        second = client.refresh_token(endpoint, refresh_token=first["refresh_token"])
        assert second["access_token"] != first["access_token"]
        assert client.get(f"{server.url}/users/me").status_code == 200
        revocation = server.metadata["revocation_endpoint"]
        client.revoke_token(revocation, token=second["refresh_token"])
        answer = httpx.get(
            f"{server.url}/users/me",
            headers={"Authorization": f"Bearer {first['access_token']}"},
            timeout=60,
        )
        since = time.monotonic()
        while answer.status_code != 401:
            assert time.monotonic() - since < 60, "the revoked token is still accepted"
            answer = httpx.get(answer.request.url, headers=answer.request.headers, timeout=60)


def test_the_api_names_its_authorization_server(server: Server) -> None:
    """RFC 9728: a client that only knows the API finds the authorization server."""
    found = httpx.get(f"{server.url}/.well-known/oauth-protected-resource", timeout=60).json()
    assert found["resource"] == server.url
    (issuer,) = found["authorization_servers"]
    assert httpx.get(get_well_known_url(issuer, external=True)).json() == server.metadata
    assert set(found["scopes_supported"]) <= set(server.metadata["scopes_supported"])
    assert "header" in found["bearer_methods_supported"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
def test_a_program_registers_itself_and_gets_tokens(server: Server, method: str) -> None:
    """RFC 7591, at the endpoint that the metadata names."""
    answer = httpx.post(
        server.metadata["registration_endpoint"],
        json={
            "client_name": "Sketchbook",
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": method,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        },
        timeout=60,
    )
    made = answer.json()
    assert answer.status_code == 201, made
    assert made["token_endpoint_auth_method"] == method
    assert ("client_secret" in made) == (method != "none")
    with server.client_of(method, made) as client:
        first = server.let_in(client)
        assert client.get(f"{server.url}/users/me").json()["UserName"] == "alice"
        endpoint = server.metadata["token_endpoint"]
        again = client.refresh_token(endpoint, refresh_token=first["refresh_token"])
        assert again["access_token"] != first["access_token"]


def test_a_device_is_let_in(server: Server) -> None:
    with server.client("none", "--public") as client:
        asked = httpx.post(
            server.metadata["device_authorization_endpoint"],
            data={"client_id": client.client_id, "scope": "maps"},
        ).json()
        with signed_in(server.mapshelf, server.url) as browser:
            (typed,) = forms(browser.get(asked["verification_uri_complete"]))
            (form,) = forms(post(browser, typed.action, typed.fields))
            assert post(browser, form.action, {**form.fields, "decision": "allow"}).is_redirect
        token = client.fetch_token(
            server.metadata["token_endpoint"],
            grant_type=DEVICE,
            device_code=asked["device_code"],
        )
        assert token["scope"] == "maps"
        assert client.get(f"{server.url}/maps").status_code == 200
        assert client.get(f"{server.url}/users/me").status_code == 403


def test_a_program_that_is_removed_is_refused(server: Server) -> None:
    with server.client("client_secret_basic") as client:
        token = server.let_in(client)
        server.mapshelf.run("client", "remove", client.client_id)
        answer = httpx.post(
            server.metadata["token_endpoint"],
            data={"grant_type": "refresh_token", "refresh_token": token["refresh_token"]},
            auth=(client.client_id, client.client_secret),
        )
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
