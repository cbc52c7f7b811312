"""Dynamic client registration (RFC 7591): off by default, limited, and marked as unverified."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.accounts import dynamic_registration
from mapshelf.accounts.oauth_programs import NewProgram, register
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidSetting
from mapshelf.model import DAY
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from tests.api.oauth_programs import CALLBACK, FORM, Asking, refused, request_of
from tests.harness import BASE_URL, Service, Shelf, copied_shelf
from tests.person import Person, member

METADATA = "/.well-known/oauth-authorization-server"
WEB: dict[str, Any] = {"client_name": "Editor", "redirect_uris": [CALLBACK]}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path) as empty:
        yield empty


@pytest.fixture
def service(shelf: Shelf) -> Iterator[Service]:
    settings = replace(shelf.settings, dynamic_registration=True)
    with Service(settings, shelf.token(), site_routes) as running:
        yield running


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shelf, Service]]:
    """A shared service whose requests must all be refused."""
    with copied_shelf(tmp_path_factory.mktemp("refusing")) as shelf:
        settings = replace(shelf.settings, dynamic_registration=True)
        with Service(settings, shelf.token(), site_routes) as running:
            yield shelf, running


def sent(service: Service, metadata: object, address: str = "192.0.2.1") -> httpx.Response:
    """Send a registration from an address."""
    content = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    transport = httpx.ASGITransport(service.application, client=(address, 1))
    client = httpx.AsyncClient(transport=transport, base_url=BASE_URL)
    headers = {"Content-Type": "application/json"}
    answer = service.run(client.post("/oauth/register", content=content, headers=headers))
    service.run(client.aclose())
    return answer


def made(service: Service, metadata: Mapping[str, Any], address: str = "192.0.2.1") -> Any:
    answer = sent(service, metadata, address)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def test_registration_is_off_by_default(shelf: Shelf) -> None:
    with Service(shelf.settings, "", site_routes) as service:
        assert sent(service, WEB).status_code == 404
        assert "registration_endpoint" not in service.get(METADATA).json()
    assert shelf.store.programs() == []


def test_a_program_registers_and_is_let_in(service: Service, shelf: Shelf) -> None:
    endpoint = service.get(METADATA).json()["registration_endpoint"]
    assert endpoint == f"{BASE_URL}/oauth/register"
    found = made(service, {**WEB, "logo_uri": "https://evil.example/", "scope": "root"})
    (program,) = shelf.store.programs()
    secret = found.pop("client_secret")
    assert program.id.startswith("dynamic-")
    assert found == {
        "client_id": program.id,
        "client_id_issued_at": program.created // 1000,
        "client_secret_expires_at": 0,
        "client_name": "Editor",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": service.get(METADATA).json()["grant_types_supported"],
        "response_types": ["code"],
    }
    asking = Asking(shelf, service, program)
    form = {"grant_type": "authorization_code", "code": asking.code(), "redirect_uri": CALLBACK}
    form |= {"client_id": program.id, "client_secret": secret, "code_verifier": "v" * 50}
    answer = asking.post("/oauth/token", form, FORM)
    assert asking.allowed(answer.json()["access_token"]) == 200
    refused(asking.post("/oauth/token", {**form, "client_secret": "x"}, FORM), "invalid_client")


def test_a_public_program_has_no_secret(service: Service, shelf: Shelf) -> None:
    found = made(service, {**WEB, "token_endpoint_auth_method": "none"})
    assert "client_secret" not in found
    (program,) = shelf.store.programs()
    assert program.is_public
    assert Asking(shelf, service, program).tokens()["scope"] == "account maps"


def test_a_device_needs_no_address_and_a_name_may_be_missing(
    service: Service, shelf: Shelf
) -> None:
    device = "urn:ietf:params:oauth:grant-type:device_code"
    found = made(service, {"grant_types": [device, "refresh_token"]})
    assert found["redirect_uris"] == []
    assert found["client_name"] == dynamic_registration.NAME


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (b"", "invalid_client_metadata"),
        (b"{", "invalid_client_metadata"),
        (b"[]", "invalid_client_metadata"),
        ({}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": []}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": CALLBACK}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": [7]}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": ["http://evil.example/"]}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": ["com.evil.app://[x/"]}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": [CALLBACK, "javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({**WEB, "redirect_uris": [f"{CALLBACK}{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ({**WEB, "client_name": 7}, "invalid_client_metadata"),
        ({**WEB, "client_name": ""}, "invalid_client_metadata"),
        ({**WEB, "client_name": "x" * 61}, "invalid_client_metadata"),
        ({**WEB, "client_name": "two\nlines"}, "invalid_client_metadata"),
        ({**WEB, "token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({**WEB, "grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({**WEB, "grant_types": [["authorization_code"]]}, "invalid_client_metadata"),
        ({**WEB, "grant_types": 7}, "invalid_client_metadata"),
        ({**WEB, "response_types": ["token"]}, "invalid_client_metadata"),
    ],
)
def test_invalid_metadata_is_refused(
    refusing: tuple[Shelf, Service], metadata: object, reason: str
) -> None:
    shelf, service = refusing
    refused(sent(service, metadata), reason)
    assert shelf.store.programs() == []


def test_bodies_that_are_too_large_or_not_json_are_refused(service: Service) -> None:
    assert sent(service, {**WEB, "x": "y" * 20_000}).status_code == 413
    answer = service.request("POST", "/oauth/register", headers=FORM, content=b"a=b")
    assert answer.status_code == 415


def test_registrations_from_one_address_are_limited(
    service: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic_registration, "PROGRAMS_OF_ADDRESS", 2)
    for _ in range(2):
        made(service, WEB)
    answer = sent(service, WEB)
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
    made(service, WEB, "192.0.2.2")
    assert len(shelf.store.programs()) == 3


def test_programs_are_limited_and_unused_ones_are_deleted(
    service: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic_registration, "MOST_PROGRAMS", 3)
    register(shelf.store, NewProgram("Ours", (CALLBACK,), id="ours"), 0)
    for _ in range(3):
        made(service, WEB)
    answer = sent(service, WEB)
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    name = "mapshelf.api.oauth.registration.milliseconds"
    monkeypatch.setattr(name, lambda: milliseconds() + DAY + 1000)
    public = made(service, {**WEB, "token_endpoint_auth_method": "none"})
    left = {one.id for one in shelf.store.programs()}
    assert left == {"ours", public["client_id"]}


def test_a_program_that_a_user_authorized_stays(
    service: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic_registration, "MOST_PROGRAMS", 2)
    public = {**WEB, "token_endpoint_auth_method": "none"}
    ids = [made(service, public)["client_id"] for _ in range(2)]
    used = shelf.store.program(ids[0])
    assert used is not None
    Asking(shelf, service, used).tokens()
    name = "mapshelf.api.oauth.registration.milliseconds"
    monkeypatch.setattr(name, lambda: milliseconds() + DAY + 1000)
    ids.append(made(service, public)["client_id"])
    assert {one.id for one in shelf.store.programs()} == {ids[0], ids[2]}


def test_the_name_of_a_registered_program_is_shown_as_unverified(
    service: Service, shelf: Shelf, cheap: None
) -> None:
    ann: Person = member(service, shelf, "ann")
    found = made(service, {**WEB, "client_name": "Mapshelf itself"})
    program = shelf.store.program(found["client_id"])
    assert program is not None
    assert say("consent.unproved", name="Mapshelf itself") in ann.get(request_of(program)).text


def test_operators_cannot_use_the_prefix_of_dynamic_ids(shelf: Shelf) -> None:
    with pytest.raises(InvalidSetting):
        register(shelf.store, NewProgram("x", (CALLBACK,), id="dynamic-x"), 0)
