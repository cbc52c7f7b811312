"""Pages to give OAuth programs access, and to list and withdraw it.

The names of tests give the section of the RFC that they cover.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
import pytest

from mapshelf.accounts import authorization, device_requests
from mapshelf.accounts.oauth_programs import NewProgram, register
from mapshelf.clock import milliseconds
from mapshelf.model import Program, Role
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from mapshelf.site.oauth_programs import csp_source
from tests.api.oauth_programs import (
    CALLBACK,
    LOCAL,
    Asking,
    refused,
    registered,
    request_of,
)
from tests.harness import BASE_URL, Service, Shelf, copied_shelf
from tests.person import Form, Person, forms, link_of, member
from tests.site.shelves import GARDEN

LOOK = {"Accept": "application/json", "X-Client-ID": "xmind_v3.4.1", "User-Agent": "Java/1.8"}


@pytest.fixture(autouse=True)
def _cheap(cheap: None) -> None:
    """Make password hashes cheap."""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, GARDEN) as full:
        yield full


@pytest.fixture
def site(shelf: Shelf) -> Iterator[Service]:
    with Service(shelf.settings, "", site_routes) as running:
        yield running


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


@pytest.fixture
def web(shelf: Shelf) -> Program:
    return registered(shelf.store, "Web program")


@pytest.fixture
def native(shelf: Shelf) -> Program:
    return registered(shelf.store, "Native program", LOCAL, public=True)


def consent(person: Person, address: str) -> Form:
    """Open the consent page, and return its form."""
    (form,) = (one for one in forms(person.get(address)) if one.buttons)
    assert form.buttons == [("decision", "allow"), ("decision", "deny")]
    return form


def answered(answer: httpx.Response, uri: str = CALLBACK) -> Mapping[str, str]:
    """Return the parameters that a browser is sent back to the program with."""
    assert answer.status_code == 303, answer.text[:300]
    location = answer.headers["Location"]
    place, _, query = location.partition("?")
    assert place == uri
    return dict(parse_qsl(query))


# -- consent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/oauth/auth", "/oauth/authorize"])
def test_from_a_program_through_sign_in_and_consent_to_tokens(
    site: Service, shelf: Shelf, web: Program, path: str
) -> None:
    member(site, shelf, "ann")
    person = Person(site)
    address = request_of(web, path, state="a&b=ü %", scope="maps account")
    asked = person.get(address, 303)
    sign_in = asked.headers["Location"]
    assert sign_in.startswith("/signin?next=")
    back = person.sign_in("ann", path=sign_in).headers["Location"]
    assert parse_qs(urlsplit(back).query) == parse_qs(urlsplit(address).query)
    page = person.get(back)
    assert page.headers["Cache-Control"] == "no-store"
    for words in (
        say("consent", name="Web program"),
        say("consent.account"),
        say("consent.maps"),
        say("consent.to", place="program.example"),
        "ann",
    ):
        assert words in page.text
    assert say("consent.maps:write") not in page.text
    answer = person.send(consent(person, back), decision="allow")
    found = answered(answer)
    assert list(found) == ["code", "state", "iss"]
    assert (found["state"], found["iss"]) == ("a&b=ü %", BASE_URL)
    assert re.fullmatch("[A-Za-z0-9._~-]+", found["code"])
    tokens = Asking(shelf, site, web).exchange(found["code"]).json()
    assert tokens["scope"] == "account maps"
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    profile = site.request("GET", "/users/me", headers=headers, signed=False)
    assert profile.json()["UserName"] == "ann"


def test_denied_consent_is_reported_to_the_program(ann: Person, web: Program) -> None:
    for decision in ("deny", "", "Allow"):
        form = consent(ann, request_of(web, state="x"))
        found = answered(ann.send(form, decision=decision))
        assert list(found) == ["error", "error_description", "state", "iss"]
        assert (found["error"], found["state"], found["iss"]) == ("access_denied", "x", BASE_URL)


def test_invalid_requests_are_reported_to_the_program(
    ann: Person, web: Program, native: Program
) -> None:
    for asked, reason in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": "maps all"}, "invalid_scope"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "x"}, "invalid_request"),
    ):
        found = answered(ann.get(request_of(web, state="s", **asked), 303))
        assert (found["error"], found["state"], found["iss"]) == (reason, "s", BASE_URL)
        assert "code" not in found
    without = {"code_challenge": "", "code_challenge_method": ""}
    assert answered(ann.get(request_of(native, **without), 303), LOCAL)["error"]
    assert consent(ann, request_of(web, **without))


def test_rfc_9700_4_11_the_service_is_no_open_redirector(ann: Person, web: Program) -> None:
    for asked in (
        {"client_id": ""},
        {"client_id": "none"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": f"{CALLBACK}?x"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "https://evil.example/", "response_type": "none"},
    ):
        page = ann.get(request_of(web, **asked), 400)
        assert "Location" not in page.headers
        assert "evil.example" not in page.text
    twice = request_of(web) + "&" + urlencode({"redirect_uri": "https://evil.example/"})
    ann.get(twice, 400)


def test_rfc_9700_4_11_unverified_programs_get_no_automatic_redirect(
    ann: Person, shelf: Shelf
) -> None:
    """Anybody can register a program and make a link to it with an invalid request."""
    registration = NewProgram("Eve", ("https://evil.example/",), public=True, dynamic=True)
    program, _ = register(shelf.store, registration, milliseconds())
    for asked in ({"scope": "all"}, {"response_type": "token"}, {"code_challenge": ""}):
        page = ann.get(request_of(program, **asked), 400)
        assert "evil.example" not in str(page.headers) + page.text
        fields = {**consent(ann, request_of(program)).fields, "decision": "allow"}
        assert "Location" not in ann.post(request_of(program, **asked), fields).headers
    # After people have seen the target on the consent page, the redirect is allowed.
    denied = ann.send(consent(ann, request_of(program)), decision="deny")
    assert answered(denied, "https://evil.example/")["error"] == "access_denied"


def test_rfc_9700_4_11_users_sign_in_before_any_redirect(site: Service, web: Program) -> None:
    for asked in ({}, {"scope": "all"}, {"redirect_uri": "https://evil.example/"}):
        answer = Person(site).get(request_of(web, **asked), 303)
        assert answer.headers["Location"].startswith("/signin")


def test_rfc_9700_2_6_the_consent_page_has_no_cors_headers(ann: Person, web: Program) -> None:
    for path in (request_of(web), request_of(web, "/oauth/auth"), "/oauth/device"):
        for method in ("GET", "OPTIONS"):
            headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
            asked = ann.client.request(method, path, headers=headers)
            answer = ann.run(asked)
            assert answer.status_code in (200, 204)
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_rfc_9700_4_12_the_redirect_is_a_303_and_drops_the_form(ann: Person, web: Program) -> None:
    answer = ann.send(consent(ann, request_of(web)), decision="allow")
    assert answer.status_code == 303


def test_rfc_9700_4_16_the_consent_page_cannot_be_framed(ann: Person, web: Program) -> None:
    page = ann.get(request_of(web))
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_rfc_9700_4_2_nothing_leaks_through_referrer_or_cache(ann: Person, web: Program) -> None:
    page = ann.get(request_of(web, state="secret-state"))
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert page.headers["Cache-Control"] == "no-store"
    assert "http" not in re.sub(r'href="/[^"]*"|action="[^"]*"', "", page.text).replace(
        "http-equiv", ""
    )
    answer = ann.send(consent(ann, request_of(web)), decision="allow")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.slow
def test_rfc_9700_4_7_consent_needs_the_csrf_token(
    site: Service, shelf: Shelf, ann: Person, web: Program
) -> None:
    address = request_of(web)
    form = consent(ann, address)
    other = consent(member(site, shelf, "eve"), address)
    for fields, headers in (
        ({"decision": "allow"}, {}),
        ({**other.fields, "decision": "allow"}, {}),
        ({**form.fields, "decision": "allow"}, {"Origin": "https://evil.example"}),
        ({**form.fields, "decision": "allow"}, {"Sec_Fetch_Site": "cross-site"}),
    ):
        assert ann.post(form.action, fields, **headers).status_code == 403
    # With a strict referrer policy, browsers send only this origin.
    sent = ann.post(form.action, {**form.fields, "decision": "allow"}, Origin="null")
    assert "code" in answered(sent)
    signed_out = Person(site).post(form.action, {**form.fields, "decision": "allow"})
    assert signed_out.headers["Location"].startswith("/signin?next=%2Foauth%2Fauthorize")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uri", "source"),
    [
        (CALLBACK, "https://program.example"),
        ("https://program.example:8443/x?y=1;z", "https://program.example:8443"),
        (LOCAL, "http://localhost:13524"),
        ("http://127.0.0.1/", "http://127.0.0.1"),
        ("http://[::1]:5/", "http:"),
        ("com.example.app:/cb;x", "com.example.app:"),
    ],
)
def test_the_policy_allows_a_redirect_to_the_program_only(
    shelf: Shelf, ann: Person, uri: str, source: str
) -> None:
    program, _ = register(shelf.store, NewProgram("P", (uri,)), milliseconds())
    page = ann.get(request_of(program))
    policy = page.headers["Content-Security-Policy"]
    directives = dict(one.strip().partition(" ")[::2] for one in policy.split(";"))
    assert directives["form-action"] == f"'self' {source}" == f"'self' {csp_source(uri)}"
    plain = ann.get("/account/programs").headers["Content-Security-Policy"]
    assert policy.replace(f" {source}", "", 1) == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("https://program.example:8443/x", "program.example:8443"),
        ("com.example.app:/cb", "com.example.app"),
        ("com.example.app://bank.example/", "com.example.app"),
        ("Com.Example.App://x@bank.example/", "com.example.app"),
    ],
)
def test_the_consent_page_names_the_redirect_target(
    shelf: Shelf, ann: Person, uri: str, place: str
) -> None:
    """In a URI with a program's own scheme, the host has no meaning."""
    program, _ = register(shelf.store, NewProgram("P", (uri,)), milliseconds())
    assert say("consent.to", place=place) in ann.get(request_of(program)).text


@pytest.mark.parametrize(
    ("uri", "place", "source"),
    [
        ("com.evil.app://[x/", "com.evil.app", "com.evil.app:"),
        ("com.evil.app://a]b/", "com.evil.app", "com.evil.app:"),
        ("https://[::1]x/", "[::1]x", "https:"),
        ("https://[zz]/", "[zz]", "https:"),
    ],
)
def test_the_consent_page_opens_for_a_program_registered_before_brackets_were_checked(
    shelf: Shelf, ann: Person, uri: str, place: str, source: str
) -> None:
    program = Program("old", "Old", None, (uri,), legacy=False, created=milliseconds())
    shelf.store.add_program(program)
    page = ann.get(request_of(program))
    assert say("consent.to", place=place) in page.text
    assert f"'self' {source};" in f"{page.headers['Content-Security-Policy']};"
    form = consent(ann, request_of(program))
    if uri.startswith("com."):  # the client of these tests refuses the other addresses
        answered(ann.send(form, decision="allow"), uri)


def test_administrators_are_warned_that_access_covers_all_maps(
    site: Service, shelf: Shelf, ann: Person, web: Program
) -> None:
    root = member(site, shelf, "root", Role.ADMINISTRATOR)
    for person, scope, told in (
        (root, "maps maps:write", True),
        (root, "account maps", False),
        (ann, "maps maps:write", False),
    ):
        page = person.get(request_of(web, scope=scope))
        assert (say("consent.everybody") in page.text) is told


def test_the_consent_page_says_that_a_public_program_is_unverified(
    ann: Person, web: Program, native: Program
) -> None:
    unproved = say("consent.unproved", name="Native program")
    page = ann.get(request_of(native))
    assert unproved in page.text
    assert say("consent.local", name="Native program") in page.text
    assert "Anyone can write" not in ann.get(request_of(web)).text


def test_loopback_redirects_may_use_any_port(
    site: Service, shelf: Shelf, ann: Person, native: Program
) -> None:
    uri = LOCAL.replace("13524", "40001")
    address = request_of(native, redirect_uri=uri)
    assert "'self' http://localhost:40001;" in ann.get(address).headers["Content-Security-Policy"]
    found = answered(ann.send(consent(ann, address), decision="allow"), uri)
    asking = Asking(shelf, site, native)
    refused(asking.exchange(found["code"]), "invalid_grant")
    assert asking.exchange(found["code"], redirect_uri=uri).status_code == 200


def test_the_only_redirect_uri_may_be_left_out(
    site: Service, shelf: Shelf, ann: Person, web: Program
) -> None:
    found = answered(ann.send(consent(ann, request_of(web, redirect_uri="")), decision="allow"))
    assert Asking(shelf, site, web).exchange(found["code"], redirect_uri="").status_code == 200
    two = NewProgram("Two", (CALLBACK, LOCAL))
    program, _ = register(shelf.store, two, milliseconds())
    ann.get(request_of(program, redirect_uri=""), 400)


def test_names_of_programs_are_escaped(shelf: Shelf, ann: Person) -> None:
    program = registered(shelf.store, '<b>"&')
    assert "<b>&#34;" not in ann.get(request_of(program)).text
    assert "&lt;b&gt;&#34;&amp;" in ann.get(request_of(program)).text


def test_a_state_too_long_for_the_redirect_is_refused(ann: Person, web: Program) -> None:
    ann.get(request_of(web, state="s" * 1000))
    ann.get(request_of(web, state="s" * 2000), 414)


def test_a_request_without_cookies_gets_the_sign_in_page(
    site: Service, ann: Person, native: Program
) -> None:
    """One known program requests the page itself first, and gives up if that fails."""
    address = request_of(native)
    for _ in range(20):
        answer = site.run(site.client.get(address, headers=LOOK, follow_redirects=True))
        assert (answer.status_code, answer.url.path) == (200, "/signin")
        assert answer.headers["Content-Type"].startswith("text/html")
    assert "code" in answered(ann.send(consent(ann, address), decision="allow"), LOCAL)


# -- programs with access ---------------------------------------------------------------------


def test_programs_are_listed_and_withdrawn(
    site: Service, shelf: Shelf, ann: Person, web: Program, native: Program
) -> None:
    assert say("programs.none") in ann.get("/account/programs").text
    assert 'href="/account/programs"' in ann.get("/account").text
    tokens = {}
    for program, scope in ((web, "account"), (web, "maps"), (native, "maps:write")):
        address = request_of(program, scope=scope)
        answer = ann.send(consent(ann, address), decision="allow")
        found = answered(answer, program.redirect_uris[0])
        asking = Asking(shelf, site, program)
        tokens[scope] = asking.exchange(found["code"]).json()
    page = ann.get("/account/programs")
    assert page.text.count("Web program</b>") == 1
    assert f"{say('scope.account')}, {say('scope.maps')}</span>" in page.text
    assert say("scope.maps:write") in page.text
    buttons = [form.buttons[0] for form in forms(page) if form.buttons]
    assert buttons == [("withdraw", native.id), ("withdraw", web.id)]
    form = next(one for one in forms(page) if one.buttons == [("withdraw", web.id)])
    for _ in range(2):
        answer = ann.send(form, withdraw=web.id)
        assert (answer.status_code, answer.headers["Location"]) == (
            303,
            "/account/programs?done=program",
        )
    page = ann.get("/account/programs?done=program")
    assert say("done.program") in page.text
    assert "Web program" not in page.text
    asking = Asking(shelf, site, web)
    for scope in ("account", "maps"):
        refused(asking.refresh(tokens[scope]["refresh_token"]), "invalid_grant")
    access = tokens["account"]["access_token"]
    site.wait_until(lambda: asking.allowed(access, "/users/me") == 401, 2.0)
    native_token = tokens["maps:write"]["refresh_token"]
    assert Asking(shelf, site, native).refresh(native_token).status_code == 200


def test_access_given_by_others_cannot_be_withdrawn(
    site: Service, shelf: Shelf, ann: Person, web: Program
) -> None:
    found = answered(ann.send(consent(ann, request_of(web)), decision="allow"))
    token = Asking(shelf, site, web).exchange(found["code"]).json()["refresh_token"]
    eve = member(site, shelf, "eve")
    fields = consent(eve, request_of(web)).fields
    assert eve.post("/account/programs", {**fields, "withdraw": web.id}).status_code == 303
    assert Asking(shelf, site, web).refresh(token).status_code == 200
    assert ann.post("/account/programs", {"withdraw": web.id}).status_code == 403


# -- devices ----------------------------------------------------------------------------------


def begun(site: Service, shelf: Shelf, program: Program) -> tuple[Asking, dict[str, str]]:
    asking = Asking(shelf, site, program)
    return asking, asking.post("/oauth/device_authorization", {"scope": "maps"}).json()


def polled(asking: Asking, found: Mapping[str, str]) -> httpx.Response:
    kind = "urn:ietf:params:oauth:grant-type:device_code"
    return asking.token({"grant_type": kind, "device_code": found["device_code"]})


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_device_gets_access_on_pages(
    site: Service, shelf: Shelf, native: Program, decision: str
) -> None:
    asking, found = begun(site, shelf, native)
    path = found["verification_uri_complete"].removeprefix(BASE_URL)
    person = Person(site)
    assert person.choose(link_of(shelf, "ann")).status_code == 303
    assert found["user_code"] in person.get(path).text
    asks = person.fill(path)
    for words in ("Native program", found["user_code"], say("consent.maps")):
        assert words in asks.text
    (form,) = (one for one in forms(asks) if one.buttons)
    answer = person.send(form, decision=decision)
    page = person.get(answer.headers["Location"])
    if decision == "deny":
        assert say("done.device.denied") in page.text
        refused(polled(asking, found), "access_denied")
        return
    assert say("done.device.allowed") in page.text
    tokens = polled(asking, found).json()
    assert asking.allowed(tokens["access_token"]) == 200
    assert "Native program" in person.get("/account/programs").text
    again = person.send(form, decision="allow")
    assert (again.status_code, say("failure.device") in again.text) == (400, True)


@pytest.mark.slow
def test_a_wrong_code_of_a_device(
    site: Service, shelf: Shelf, ann: Person, native: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_requests, "WRONG_CODES", 3)
    _, found = begun(site, shelf, native)
    for _ in range(3):
        answer = ann.fill("/oauth/device", user_code="BBBB-BBBB")
        assert (answer.status_code, say("failure.device") in answer.text) == (400, True)
    answer = ann.fill("/oauth/device", user_code=found["user_code"])
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert Person(site).get("/oauth/device", 303).headers["Location"].startswith("/signin")
    assert ann.post("/oauth/device", {"user_code": found["user_code"]}).status_code == 403


def test_a_device_code_typed_in_other_ways_is_the_same(
    site: Service, shelf: Shelf, ann: Person, native: Program
) -> None:
    _, found = begun(site, shelf, native)
    for typed in (found["user_code"].lower(), f" {found['user_code'].replace('-', ' ')} "):
        assert "Native program" in ann.fill("/oauth/device", user_code=typed).text


def test_rfc_8628_5_4_the_page_shows_the_code_of_the_device(
    site: Service, shelf: Shelf, ann: Person, native: Program
) -> None:
    """In whatever form it is written in the link."""
    _, found = begun(site, shelf, native)
    code = found["user_code"]
    asks = ann.fill(f"/oauth/device?user_code={'1'.join(code.replace('-', ''))}")
    assert say("device.asks", code=code) in asks.text


def test_rfc_8628_5_1_one_address_cannot_fill_the_list_of_devices(
    site: Service, shelf: Shelf, native: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_requests, "DEVICES_OF_ADDRESS", 3)
    asking, first = begun(site, shelf, native)
    for _ in range(2):
        assert begun(site, shelf, native)[1]["device_code"]
    answer = asking.post("/oauth/device_authorization", {"scope": "maps"})
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
    refused(polled(asking, first), "authorization_pending")
    assert authorization.CODE_LIFETIME == 60_000
