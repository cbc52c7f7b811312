"""Token requests, revocation and metadata. Tests of RFC 9700 have its sections in their names."""

import asyncio
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.accounts import device_requests, issued_tokens, oauth_tokens
from mapshelf.clock import milliseconds
from mapshelf.errors import NotFound, OAuthRefusal, TooManyAttempts
from mapshelf.model import CLOCK_TOLERANCE, DAY, HOUR, MapDraft
from mapshelf.tokens import is_well_formed
from tests.api import test_tokens
from tests.api.oauth_programs import (
    CALLBACK,
    FORM,
    LOCAL,
    SECRET,
    Asking,
    basic,
    challenge_of,
    reader,
    refused,
    registered,
)
from tests.harness import BASE_URL, READER, Service, Shelf, copied_shelf, serve

TOKEN = "/oauth/token"
NO_TOKEN = {"grant_type": "refresh_token", "refresh_token": "msr_none"}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, MapDraft(title="Plan")) as shelf:
        yield shelf


@pytest.fixture
def service(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf) as running:
        yield running


@pytest.fixture
def web(shelf: Shelf, service: Service) -> Asking:
    return Asking(shelf, service, registered(shelf.store))


@pytest.fixture
def native(shelf: Shelf, service: Service) -> Asking:
    return Asking(shelf, service, registered(shelf.store, "Native", LOCAL, public=True))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list: append milliseconds to it, and the clock moves on by them."""
    passed = [0]
    name = "mapshelf.api.oauth.endpoints.milliseconds"
    monkeypatch.setattr(name, lambda: milliseconds() + sum(passed))
    return passed


# -- codes --------------------------------------------------------------------------------


def test_a_code_gives_tokens_for_the_api(web: Asking) -> None:
    answer = web.exchange(web.code({"scope": "account"}))
    found = answer.json()
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json"
    assert found == {
        "access_token": found["access_token"],
        "token_type": "Bearer",
        "expires_in": 3600,
        "refresh_token": found["refresh_token"],
        "scope": "account",
    }
    assert is_well_formed(found["access_token"], "mso_")
    assert is_well_formed(found["refresh_token"], "msr_")
    assert web.allowed(found["access_token"], "/users/me") == 200
    assert web.allowed(found["access_token"]) == 403
    assert web.allowed(found["refresh_token"]) == 401


def test_without_a_scope_a_program_gets_what_a_personal_token_gets(web: Asking) -> None:
    assert web.tokens()["scope"] == "account maps"
    assert web.tokens(scope="maps:write maps maps")["scope"] == "maps maps:write"


@pytest.mark.slow
def test_rfc_9700_4_5_a_code_is_good_once_and_used_twice_takes_back_what_it_gave(
    web: Asking,
) -> None:
    code = web.code()
    first = web.exchange(code).json()
    second = web.refresh(first["refresh_token"]).json()
    assert web.allowed(second["access_token"]) == 200
    refused(web.exchange(code), "invalid_grant")
    refused(web.refresh(second["refresh_token"]), "invalid_grant")
    wait_until_refused(web, first["access_token"], second["access_token"])


def wait_until_refused(asking: Asking, *tokens: str) -> None:
    """Wait until these tokens are refused, as long as a revoked token may still be accepted."""
    since = time.monotonic()
    while {asking.allowed(token) for token in tokens} != {401}:
        assert time.monotonic() - since < test_tokens.PROMISE + test_tokens.SLACK
        asking.service.run(asyncio.sleep(0.01))


def test_a_code_is_good_for_a_minute(web: Asking, later: list[int]) -> None:
    first, second = web.code(), web.code()
    later.append(59_000)
    assert web.exchange(first).status_code == 200
    later.append(1_001)
    refused(web.exchange(second), "invalid_grant")


def test_a_code_is_for_one_program_one_redirect_uri_and_one_verifier(
    shelf: Shelf, service: Service, web: Asking, native: Asking
) -> None:
    other = Asking(shelf, service, registered(shelf.store, "Other"))
    code = web.code()
    refused(other.exchange(code), "invalid_grant")
    refused(native.exchange(code), "invalid_grant")
    for wrong in ("", "https://program.example/", LOCAL):
        refused(web.exchange(code, redirect_uri=wrong), "invalid_grant")
    for verifier in ("", "w" * 50, "v" * 42, "v" * 129, challenge_of("v" * 50)):
        refused(web.exchange(code, code_verifier=verifier), "invalid_grant")
    refused(web.exchange(""), "invalid_request")
    refused(web.exchange("none"), "invalid_grant")
    assert web.exchange(code).status_code == 200


def test_rfc_9700_4_8_a_verifier_without_a_challenge_is_a_downgrade(web: Asking) -> None:
    code = web.code(pkce=False)
    refused(web.exchange(code), "invalid_grant")
    assert web.exchange(code, code_verifier="").status_code == 200


def test_rfc_9700_4_8_plain_challenges_are_refused_and_rfc_9700_2_1_1_public_needs_one(
    web: Asking, native: Asking
) -> None:
    challenge = challenge_of("v" * 50)
    for asking, asked in (
        (native, {}),
        (web, {"code_challenge_method": "S256"}),
        (web, {"code_challenge": challenge}),
        (web, {"code_challenge": challenge, "code_challenge_method": "plain"}),
        (web, {"code_challenge": "v" * 50, "code_challenge_method": "S256"}),
        (web, {"response_mode": "fragment"}),
    ):
        with pytest.raises(OAuthRefusal) as refusal:
            asking.code(asked, pkce=False)
        assert refusal.value.reason == "invalid_request"


def test_rfc_9700_2_1_2_and_2_4_there_is_no_implicit_and_no_password_grant(web: Asking) -> None:
    for kind in ("token", "id_token", "code token", "code id_token"):
        with pytest.raises(OAuthRefusal) as refusal:
            web.code({"response_type": kind})
        assert refusal.value.reason == "unsupported_response_type"
    for kind in ("password", "client_credentials", "implicit"):
        asked = {"grant_type": kind, "username": READER, "password": "x"}
        refused(web.token(asked), "unsupported_grant_type")
    refused(web.token({"code": web.code(), "redirect_uri": CALLBACK}), "invalid_request")


# -- refresh tokens -----------------------------------------------------------------------


def test_rfc_9700_2_2_2_and_4_14_refresh_tokens_rotate_and_reuse_ends_the_grant(
    native: Asking, later: list[int]
) -> None:
    first = native.tokens()
    second = native.refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["scope"] == "account maps"
    later.append(oauth_tokens.GRACE + 1_000)
    refused(native.refresh(first["refresh_token"]), "invalid_grant")
    refused(native.refresh(second["refresh_token"]), "invalid_grant")
    wait_until_refused(native, first["access_token"], second["access_token"])


def test_a_copied_refresh_token_is_noticed_once_the_next_one_was_used(native: Asking) -> None:
    first = native.tokens()
    second = native.refresh(first["refresh_token"]).json()
    third = native.refresh(second["refresh_token"]).json()
    refused(native.refresh(first["refresh_token"]), "invalid_grant")
    refused(native.refresh(third["refresh_token"]), "invalid_grant")
    wait_until_refused(native, third["access_token"])


def test_a_refresh_token_sent_twice_within_a_minute_does_no_harm(
    web: Asking, later: list[int]
) -> None:
    first = web.tokens()
    lost = web.refresh(first["refresh_token"]).json()
    later.append(oauth_tokens.GRACE - 5_000)
    second = web.refresh(first["refresh_token"]).json()
    later.append(3_600_000)
    third = web.refresh(second["refresh_token"]).json()
    assert web.allowed(third["access_token"]) == 200
    assert lost["refresh_token"] != second["refresh_token"]


def test_a_refresh_token_is_for_one_program_and_for_three_months_without_use(
    web: Asking, native: Asking, later: list[int]
) -> None:
    token = web.tokens()["refresh_token"]
    refused(native.refresh(token), "invalid_grant")
    for _ in range(3):
        later.append(89 * DAY)
        token = web.refresh(token).json()["refresh_token"]
    later.append(issued_tokens.REFRESH_LIFETIME + 1000)
    refused(web.refresh(token), "invalid_grant")
    refused(web.refresh("none"), "invalid_grant")
    refused(web.token({"grant_type": "refresh_token"}), "invalid_request")


def test_rfc_9700_2_3_an_access_token_may_be_narrowed_and_never_widened(web: Asking) -> None:
    token = web.tokens(scope="account maps")["refresh_token"]
    narrow = web.refresh(token, scope="maps").json()
    assert narrow["scope"] == "maps"
    assert web.allowed(narrow["access_token"]) == 200
    assert web.allowed(narrow["access_token"], "/users/me") == 403
    for wider in ("maps:write", "account maps maps:write", "other", "account+maps"):
        refused(web.refresh(narrow["refresh_token"], scope=wider), "invalid_scope")
    assert web.refresh(narrow["refresh_token"]).json()["scope"] == "account maps"


def test_programs_of_a_disabled_user_are_refused(shelf: Shelf, web: Asking) -> None:
    code, found = web.code(), web.tokens()
    shelf.store.disable_user(READER)
    refused(web.exchange(code), "invalid_grant")
    refused(web.refresh(found["refresh_token"]), "invalid_grant")
    wait_until_refused(web, found["access_token"])
    shelf.store.enable_user(READER)
    assert web.refresh(found["refresh_token"]).status_code == 200


@pytest.mark.slow
def test_a_withdrawn_grant_is_refused_as_fast_as_a_revoked_token(shelf: Shelf, web: Asking) -> None:
    found = web.tokens()
    assert web.allowed(found["access_token"]) == 200
    shelf.store.withdraw_grants(reader(shelf).id, web.program.id)
    wait_until_refused(web, found["access_token"])
    refused(web.refresh(found["refresh_token"]), "invalid_grant")


# -- client authentication ----------------------------------------------------------------


def test_rfc_9700_2_5_a_program_with_a_secret_has_to_show_it(web: Asking, native: Asking) -> None:
    mine, other = web.program.id, native.program.id
    for form in (
        {},
        {"client_id": ""},
        {"client_id": mine},
        {"client_id": mine, "client_secret": ""},
        {"client_id": mine, "client_secret": "wrong"},
        {"client_id": "none", "client_secret": SECRET},
        {"client_id": other, "client_secret": SECRET},
    ):
        headers = {"X-Nothing": "1"}
        refused(web.post(TOKEN, {**NO_TOKEN, **form}, headers), "invalid_client")
    for header in (
        basic(mine, "wrong"),
        basic("none", SECRET),
        basic(mine, ""),
        "Basic",
        "Basic x",
        "Basic w7w=",
        "Bearer x",
        "Basic /w==",
        basic("\0", SECRET),
        basic("%00", SECRET),
        basic("%ED%A0%80", "%00"),
    ):
        answer = web.post(TOKEN, NO_TOKEN, {"Authorization": header})
        refused(answer, "invalid_client", 401)
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")


def test_a_program_may_show_its_secret_by_http_basic(web: Asking, native: Asking) -> None:
    header = {"Authorization": basic(web.program.id, SECRET)}
    refused(web.post(TOKEN, NO_TOKEN, header), "invalid_grant")
    twice = {"client_id": web.program.id, "client_secret": SECRET}
    refused(web.post(TOKEN, {**NO_TOKEN, **twice}, header), "invalid_request")
    other = {"client_id": native.program.id}
    refused(web.post(TOKEN, {**NO_TOKEN, **other}, header), "invalid_request")
    same = {"client_id": web.program.id}
    refused(web.post(TOKEN, {**NO_TOKEN, **same}, header), "invalid_grant")
    public = {"Authorization": basic(native.program.id, "")}
    refused(native.post(TOKEN, NO_TOKEN, public), "invalid_grant")


def test_every_refusal_is_a_json_object(web: Asking) -> None:
    known = {"client_id": web.program.id, "client_secret": SECRET}
    for content, headers, status in (
        (b"", FORM, 400),
        (b"a=%FF", FORM, 400),
        (b"client_id=a&client_id=b", FORM, 400),
        (b"{}", {"Content-Type": "application/json"}, 415),
        (b"a=" + b"x" * 40_000, FORM, 413),
    ):
        answer = web.service.request("POST", TOKEN, headers=headers, signed=False, content=content)
        assert answer.status_code == status
        assert isinstance(answer.json(), dict)
        assert answer.json()["error"]
    answer = web.service.request("GET", TOKEN, signed=False)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST, OPTIONS")
    refused(web.post(TOKEN, {**known, "grant_type": ""}), "invalid_request")


def test_rfc_9700_4_3_secrets_are_in_no_log_and_no_error(
    web: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    code = web.code()
    found = web.exchange(code).json()
    told = [web.exchange(code), web.refresh(found["refresh_token"], scope="other")]
    told += [web.post("/oauth/revoke", {"token": found["refresh_token"]})]
    web.service.stop()
    said = "".join(str(answer.headers) + answer.text for answer in told) + caplog.text
    for secret in (code, found["access_token"], found["refresh_token"], SECRET):
        assert secret not in said


@pytest.mark.slow
def test_guessing_is_slowed_down(web: Asking) -> None:
    began = time.monotonic()
    for _ in range(80):
        web.exchange("none")
    assert time.monotonic() - began > 0.5, "50 pass at once, and then 50 a second"


def test_an_unreachable_store_makes_no_token_invalid(web: Asking) -> None:
    token = web.tokens()["refresh_token"]
    web.service.application.application.context.store.get().close()
    answer = web.refresh(token)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    check_text(answer)


def test_a_server_error_makes_no_token_invalid(
    web: Asking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("mapshelf.api.oauth.endpoints.give_tokens", fail)
    answer = web.refresh("msr_none")
    assert answer.status_code == 500
    check_text(answer)
    assert "secret detail" in caplog.text
    assert answer.headers["x-request-id"] in caplog.text


def test_an_outage_is_text_at_the_token_endpoint_only(web: Asking) -> None:
    web.service.application.application.context.store.get().close()
    answer = web.post("/oauth/revoke", {"token": "msr_none"})
    assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")


def check_text(answer: httpx.Response) -> None:
    """Expect no JSON object, because that makes a desktop program forget its refresh token."""
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"]
    assert answer.text.endswith(".")
    assert not answer.text.startswith("{")
    assert "detail" not in answer.text


# -- legacy programs ----------------------------------------------------------------------


def test_a_legacy_program_writes_scopes_with_a_plus_and_may_leave_out_the_grant_type(
    shelf: Shelf, service: Service
) -> None:
    old = Asking(shelf, service, registered(shelf.store, "Old", LOCAL, legacy=True))
    code = old.code({"scope": "account maps"}, pkce=False)
    form = {"code": code, "redirect_uri": LOCAL, "response_type": "token"}
    found = old.token({**form, "scope": "account+maps"}).json()
    assert found["scope"] == "account maps maps:write"
    again = old.refresh(found["refresh_token"], scope="account+maps", redirect_uri=LOCAL)
    assert again.json()["scope"] == "account maps maps:write"
    narrow = old.refresh(again.json()["refresh_token"], scope="account")
    assert narrow.json()["scope"] == "account"
    assert old.tokens(scope="account")["scope"] == "account"
    refused(old.token({"refresh_token": found["refresh_token"]}), "invalid_request")


# -- revocation and metadata --------------------------------------------------------------


@pytest.mark.slow
def test_revoking_tokens(web: Asking, native: Asking) -> None:
    first, second = web.tokens(), web.tokens()

    def revoked(asking: Asking, token: str, **more: str) -> httpx.Response:
        return asking.post("/oauth/revoke", {"token": token, **more})

    for token in (first["access_token"], first["refresh_token"], "none", "msr_"):
        answer = revoked(native, token)
        assert (answer.status_code, answer.json()) == (200, {})
    assert web.allowed(first["access_token"]) == 200
    assert revoked(web, first["access_token"], token_type_hint="refresh_token").status_code == 200
    wait_until_refused(web, first["access_token"])
    first = web.refresh(first["refresh_token"]).json()
    assert revoked(web, first["refresh_token"]).status_code == 200
    wait_until_refused(web, first["access_token"])
    refused(web.refresh(first["refresh_token"]), "invalid_grant")
    assert web.allowed(second["access_token"]) == 200
    refused(web.post("/oauth/revoke", {}), "invalid_request")
    refused(web.post("/oauth/revoke", {"token": "x"}, {"X-Nothing": "1"}), "invalid_client")


def test_rfc_9700_2_6_and_4_4_metadata_names_the_issuer_and_where_everything_is(
    service: Service,
) -> None:
    answer = service.request("GET", "/.well-known/oauth-authorization-server", signed=False)
    found = answer.json()
    assert answer.headers["Content-Type"] == "application/json"
    assert found["issuer"] == BASE_URL
    assert found["authorization_endpoint"] == f"{BASE_URL}/oauth/authorize"
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert found["response_types_supported"] == ["code"]
    assert found["authorization_response_iss_parameter_supported"] is True
    table = service.application.application.handler.router.fixed
    for name in ("token", "revocation", "device_authorization"):
        path = found[f"{name}_endpoint"].removeprefix(BASE_URL)
        assert "POST" in table[path].methods
    resource = service.request("GET", "/.well-known/oauth-protected-resource", signed=False).json()
    assert (resource["resource"], resource["authorization_servers"]) == (BASE_URL, [BASE_URL])
    assert resource["scopes_supported"] == found["scopes_supported"]


# -- devices ------------------------------------------------------------------------------


def begun(asking: Asking, **form: str) -> dict[str, Any]:
    answer = asking.post("/oauth/device_authorization", form)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def polled(asking: Asking, device_code: str) -> httpx.Response:
    return asking.token({"grant_type": oauth_tokens.DEVICE_GRANT, "device_code": device_code})


def test_a_device_is_let_in(shelf: Shelf, native: Asking, web: Asking, later: list[int]) -> None:
    found = begun(native, scope="maps")
    code = found["user_code"]
    assert found["verification_uri"] == f"{BASE_URL}/oauth/device"
    assert found["verification_uri_complete"] == f"{BASE_URL}/oauth/device?user_code={code}"
    assert (found["expires_in"], found["interval"]) == (device_requests.LIFETIME, 5)
    refused(polled(web, found["device_code"]), "invalid_grant")
    later.append(6_000)
    refused(polled(native, found["device_code"]), "authorization_pending")
    refused(polled(native, found["device_code"]), "slow_down")
    request, program = device_requests.find(
        shelf.store, code.lower().replace("-", " "), reader(shelf), milliseconds()
    )
    assert program == native.program
    shelf.store.decide_device_request(
        request.user_code, reader(shelf).id, milliseconds(), allow=True
    )
    later.append(6_000)
    tokens = polled(native, found["device_code"]).json()
    assert tokens["scope"] == "maps"
    assert native.allowed(tokens["access_token"]) == 200
    refused(polled(native, found["device_code"]), "invalid_grant")


def test_a_device_code_is_denied_or_expires(shelf: Shelf, native: Asking, later: list[int]) -> None:
    denied, late = begun(native), begun(native)
    user, now = reader(shelf), milliseconds()
    request, _ = device_requests.find(shelf.store, denied["user_code"], user, now)
    shelf.store.decide_device_request(request.user_code, user.id, now, allow=False)
    refused(polled(native, denied["device_code"]), "access_denied")
    later.append(600_001)
    refused(polled(native, late["device_code"]), "expired_token")
    refused(polled(native, "none"), "invalid_grant")
    refused(native.post("/oauth/device_authorization", {"scope": "all"}), "invalid_scope")


def test_what_a_clock_gave_to_programs_while_it_was_ahead_lasts_no_longer(
    shelf: Shelf, web: Asking, native: Asking, later: list[int]
) -> None:
    """``test_access_tokens_of_a_clock_that_was_ahead_last_no_longer`` is about the tokens."""
    user, codes, device = reader(shelf), [web.code(), web.code()], begun(native)
    later.append(-CLOCK_TOLERANCE)
    assert web.exchange(codes[0]).status_code == 200
    refused(polled(native, device["device_code"]), "authorization_pending")
    later.append(-26 * HOUR)
    refused(web.exchange(codes[1]), "invalid_grant")
    refused(polled(native, device["device_code"]), "expired_token")
    with pytest.raises(NotFound):
        device_requests.find(shelf.store, device["user_code"], user, milliseconds() - 26 * HOUR)


def test_user_codes_cannot_be_guessed(shelf: Shelf, native: Asking) -> None:
    code, user = begun(native)["user_code"], reader(shelf)
    for _ in range(device_requests.WRONG_CODES):
        with pytest.raises(NotFound):
            device_requests.find(shelf.store, "BBBB-BBBB", user, milliseconds())
    with pytest.raises(TooManyAttempts):
        device_requests.find(shelf.store, code, user, milliseconds())
    other = shelf.store.add_user("other")
    assert device_requests.find(shelf.store, code, other, milliseconds())
