"""RFC 9700 (best current practice of OAuth 2.0), with a test for each requirement.

Tests of a requirement have the number of its section in their names. This module has those that
concern no single operation, and checks that no section is missing.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mapshelf.accounts import issued_tokens
from mapshelf.accounts.oauth_programs import NewProgram, may_redirect_to, register
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidSetting, OAuthRefusal
from mapshelf.model import HOUR, MapDraft
from mapshelf.tokens import scopes_of
from tests.api import test_oauth
from tests.api.oauth_programs import CALLBACK, FORM, LOCAL, Asking, reader, refused, registered
from tests.harness import BASE_URL, READER, Service, Shelf, copied_shelf, serve
from tests.site.people import test_oauth_programs

NOT_OURS: Final = {
    "2.2.1": "a SHOULD: tokens are bearer tokens, because known programs can send no other",
    "4.6": "clients check which token they got; there is no way to get one but by a code",
}
"""Sections of requirements that are not met, or that are about others."""

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "security.md"

DEFINED: Final = re.compile("^ *def (test_[a-z0-9_]+)", re.MULTILINE)

SECTION: Final = re.compile("(?<![0-9])[24](?:_[0-9]+)+(?![0-9])")

SECTIONS: Final = (
    *("2.1", "2.1.1", "2.1.2", "2.2.1", "2.2.2", "2.3", "2.4", "2.5", "2.6"),
    *("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11", "4.12"),
    *("4.13", "4.14", "4.15", "4.16", "4.17"),
)


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


def test_each_section_has_a_test_or_a_reason() -> None:
    names = [
        name
        for module in (__name__, test_oauth.__name__, test_oauth_programs.__name__)
        for name in vars(__import__(module, fromlist=["*"]))
        if name.startswith("test_rfc_9700")
    ]
    named = {section for name in names for section in sections_in(name)}
    assert named.isdisjoint(NOT_OURS)
    assert set(SECTIONS) == named | set(NOT_OURS)


def sections_in(name: str) -> list[str]:
    """Return the sections of RFC 9700 in the name of a test.

    One is ``test_rfc_9700_2_1_2_and_2_4_there_is_…``.
    """
    return [one.replace("_", ".") for one in SECTION.findall(name.replace("rfc_9700", ""))]


def test_the_documentation_names_tests_that_exist_and_every_section() -> None:
    document = DOCUMENT.read_text("utf-8")
    known = {
        name
        for file in DOCUMENT.parents[1].glob("tests/**/*.py")
        for name in DEFINED.findall(file.read_text("utf-8"))
    }
    told = re.findall(r"`(test_[a-z0-9_]+)`", document)
    assert len(told) > 50
    assert not set(told) - known
    rows = re.findall(r"^\| ([24](?:\.[0-9]+)+) \| .* \| (.*)\|$", document, re.MULTILINE)
    assert {section for section, _ in rows} == set(SECTIONS)
    assert {section for section, tests in rows if not tests} == set(NOT_OURS)
    ours = {name for name in known if name.startswith("test_rfc_9700_")}
    assert not ours - set(told)
    for section in set(SECTIONS) - set(NOT_OURS):
        shown = "".join(tests for one, tests in rows if one == section)
        assert any(f"`{name}`" in shown for name in ours if section in sections_in(name)), section


@pytest.mark.parametrize(
    ("known", "asked", "may"),
    [
        (CALLBACK, CALLBACK, True),
        (CALLBACK, f"{CALLBACK}/", False),
        (CALLBACK, f"{CALLBACK}?a=b", False),
        (CALLBACK, f"{CALLBACK}#a", False),
        (CALLBACK, CALLBACK.upper(), False),
        (CALLBACK, CALLBACK.replace("https", "http"), False),
        (CALLBACK, CALLBACK.replace("example/", "example:443/"), False),
        (CALLBACK, CALLBACK.replace("program.", "evil.program."), False),
        (CALLBACK, CALLBACK.replace("example/", "example.evil.example/"), False),
        (CALLBACK, CALLBACK.replace("https://", "https://evil.example@"), False),
        (CALLBACK, f"{CALLBACK}/../evil", False),
        (CALLBACK, "", False),
        (LOCAL, LOCAL.replace("13524", "1"), True),
        (LOCAL, LOCAL.replace("localhost", "127.0.0.1"), False),
        (LOCAL, LOCAL.replace("localhost", "localhost.evil.example"), False),
        (LOCAL, f"{LOCAL}x", False),
        ("https://localhost.example:1/", "https://localhost.example:2/", False),
    ],
)
def test_rfc_9700_2_1_and_4_1_redirect_uris_match_character_by_character(
    shelf: Shelf, known: str, asked: str, may: bool
) -> None:
    program = registered(shelf.store, uri=known)
    assert may_redirect_to(program, asked) is may


def test_rfc_9700_2_6_codes_travel_over_http_to_the_same_machine_only(shelf: Shelf) -> None:
    for uri in ("http://program.example/", "http://192.168.0.1/", "http://localhost.evil.example/"):
        with pytest.raises(InvalidSetting):
            register(shelf.store, NewProgram("P", (uri,)), milliseconds())


def test_rfc_9700_4_3_a_token_in_an_address_is_ignored(web: Asking) -> None:
    token = web.tokens()["access_token"]
    for name in ("access_token", "token", "authorization"):
        answer = web.service.request("GET", f"/maps?{name}={token}", signed=False)
        assert answer.status_code == 401
    content = f"access_token={token}".encode()
    answer = web.service.request("POST", "/maps", headers=FORM, signed=False, content=content)
    assert answer.status_code == 401


def test_rfc_9700_4_9_whoever_reads_the_store_or_the_snapshot_gets_no_token(
    shelf: Shelf, web: Asking
) -> None:
    code = web.code()
    tokens = web.exchange(code).json()
    assert web.allowed(tokens["access_token"]) == 200
    shelf.publish()
    files = [file for file in shelf.settings.data.rglob("*") if file.is_file()]
    assert files
    for file in files:
        content = file.read_bytes()
        for secret in (code, tokens["access_token"], tokens["refresh_token"]):
            assert secret.encode() not in content, file


@pytest.mark.slow
def test_rfc_9700_4_10_a_stolen_access_token_is_good_for_an_hour_here_and_for_its_scopes(
    web: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = web.tokens(scope="maps")
    assert web.allowed(found["access_token"]) == 200
    assert web.allowed(found["access_token"], "/users/me") == 403
    assert web.allowed(found["access_token"].replace("mso_", "msh_")) == 401
    assert issued_tokens.ACCESS_LIFETIME == HOUR
    for name in ("auth", "oauth.endpoints"):
        monkeypatch.setattr(f"mapshelf.api.{name}.milliseconds", lambda: milliseconds() + HOUR)
    # This token was never used, so no worker has cached it.
    other = web.refresh(found["refresh_token"]).json()["access_token"]
    assert web.allowed(other) == 200
    monkeypatch.setattr("mapshelf.api.auth.milliseconds", lambda: milliseconds() + 2 * HOUR)
    test_oauth.wait_until_refused(web, found["access_token"], other)


def test_rfc_9700_4_13_what_only_a_proxy_may_say_is_not_taken_from_others(
    service: Service, web: Asking
) -> None:
    said = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Prefix": "/evil",
        "Forwarded": "host=evil.example;proto=http",
        "X-Original-URL": "/healthz",
        "X-Rewrite-URL": "/healthz",
        "X-Forwarded-User": READER,
        "Remote-User": READER,
        "X-Remote-User": READER,
        "X-Auth-Request-User": READER,
        "X-Forwarded-Access-Token": "x",
        "X-SSL-Client-Cert": "x",
    }
    metadata = "/.well-known/oauth-authorization-server"
    answer = service.request(
        "GET", metadata, headers={**said, "Host": "evil.example"}, signed=False
    )
    assert answer.json()["issuer"] == BASE_URL
    assert "evil" not in answer.text
    assert service.request("GET", "/users/me", headers=said, signed=False).status_code == 401
    answer = web.post("/oauth/token", {"client_id": web.program.id}, {**FORM, **said})
    refused(answer, "invalid_client")
    answer = service.request("GET", "/maps?limit=1", headers=said)
    assert "evil" not in str(answer.headers) + answer.text


def test_rfc_9700_4_15_a_program_is_never_taken_for_a_user(shelf: Shelf, service: Service) -> None:
    """It may have a user's name, and still acts for the user who authorized it."""
    shelf.store.add_user("root")
    named = NewProgram("root", (CALLBACK,), id="root", secret="Secret0" * 6)
    program, _ = register(shelf.store, named, milliseconds())
    asking = Asking(shelf, service, program)
    grant = {"grant_type": "client_credentials", "scope": "account maps"}
    refused(asking.token(grant), "unsupported_grant_type")
    token = asking.tokens(scope="account")["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = service.request("GET", "/users/me", headers=headers, signed=False)
    assert answer.json()["UserName"] == reader(shelf).name == READER


def test_rfc_9700_4_17_there_is_no_answer_by_messages_between_windows(web: Asking) -> None:
    for mode in ("web_message", "form_post", "fragment", "query.jwt", "okpostmessage"):
        with pytest.raises(OAuthRefusal) as refusal:
            web.code({"response_mode": mode})
        assert refusal.value.reason == "invalid_request"


def test_rfc_9700_2_3_without_a_scope_a_program_cannot_write(web: Asking) -> None:
    assert "maps:write" not in scopes_of(web.tokens()["scope"])
