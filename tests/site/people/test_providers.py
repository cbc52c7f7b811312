"""Signing in with an OpenID provider: which of its responses are accepted.

The provider is a small one for these tests, which can send wrong responses.
``test_independent_provider.py`` uses a real one.
"""

import asyncio
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from mapshelf.accounts.attempt_limits import attempt_key
from mapshelf.accounts.openid.attempt import LIFETIME
from mapshelf.accounts.openid.provider import KEYS_RELOADED_EVERY, RETRIED_AFTER
from mapshelf.accounts.openid.sign_in import user_name_for
from mapshelf.clock import milliseconds
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DAY,
    MINUTE,
    SECOND,
    USER_NAME_LENGTH,
    is_user_name,
)
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from tests.harness import BASE_URL, Service, Shelf, shelf_with
from tests.person import (
    PASSWORD,
    Person,
    Start,
    events,
    forms,
    is_signed_in,
    member,
    user_named,
)
from tests.site.people.openid_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    SmallProvider,
    first,
    published,
    second,
    small_provider,
    third,
)

pytestmark = pytest.mark.slow

COOKIE = "__Host-mapshelf_provider"
NAME = "Example ID"


@pytest.fixture
def provider() -> Iterator[SmallProvider]:
    with small_provider() as running:
        yield running


@pytest.fixture
def site(start: Start, provider: SmallProvider) -> Service:
    return start(provider=provider.settings())


@pytest.fixture
def open_site(start: Start, provider: SmallProvider) -> Service:
    return start(provider=provider.settings(auto_create=True))


def begin(person: Person, path: str = "/signin/provider") -> str:
    """Begin to sign in; return the address that the browser is sent to."""
    return person.get(path, 303).headers["Location"]


def come_back(person: Person, address: str) -> httpx.Response:
    """Open the address that the provider sends the browser back to."""
    assert address.startswith(f"{BASE_URL}/signin/callback?")
    return person.run(person.client.get(address.removeprefix(BASE_URL)))


def enter(person: Person, provider: SmallProvider, **said: Any) -> httpx.Response:
    """Sign in with the provider."""
    return come_back(person, provider.let_in(begin(person), **said))


def link(person: Person, provider: SmallProvider, **said: Any) -> httpx.Response:
    """Link an account of the provider to the account of a signed-in person."""
    page = person.send(person.form("/account/identities"))
    assert page.status_code == 200
    return come_back(person, provider.let_in(target_of(page), **said))


def target_of(page: httpx.Response) -> str:
    """Return the address that a page redirects to with a meta element."""
    return page.text.partition('content="0;url=')[2].partition('"')[0].replace("&amp;", "&")


def refused(answer: httpx.Response, reason: str, status: int = 403) -> None:
    """Check that nobody is signed in, and the page gives the reason and the password form."""
    assert answer.status_code == status
    assert say(f"provider.{reason}", name=NAME) in answer.text
    assert "__Host-mapshelf_session" not in answer.headers.get("Set-Cookie", "")
    assert 'name="password"' in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the monotonic clock of this process forward."""
    real = time.monotonic
    monkeypatch.setattr("time.monotonic", lambda: real() + seconds)


# -- signing in and linking ---------------------------------------------------------------


def test_an_account_is_linked_and_used_to_sign_in(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    ann = member(site, shelf, "ann")
    done = link(ann, provider, preferred_username="Ann at work")
    assert (done.status_code, done.headers["Location"]) == (
        303,
        "/account/identities?done=linked",
    )
    page = ann.get(done.headers["Location"])
    assert "Ann at work" in page.text
    assert say("done.identity.linked") in page.text
    other = Person(site)
    form = other.get("/signin?next=%2Faccount%2Ftokens")
    assert say("signin.provider", name=NAME) in form.text
    address = begin(other, "/signin/provider?next=%2Faccount%2Ftokens")
    answer = come_back(other, provider.let_in(address))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account/tokens")
    assert "ann" in other.get("/account").text
    assert len(shelf.store.sessions(user_named(shelf, "ann").id)) == 2
    assert events(shelf)[-2:] == ["identity.linked", "sign_in"]


def test_identities_are_not_linked_by_name_or_email(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    member(site, shelf, "ann")
    person, before = Person(site), shelf.store.users()
    said = {"preferred_username": "ann", "email": "ann@example.org", "email_verified": True}
    refused(enter(person, provider, **said), "unlinked")
    assert not is_signed_in(person)
    assert shelf.store.users() == before


def test_accounts_are_created_if_the_setting_allows_it(
    open_site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    first, second, third = (Person(open_site) for _ in range(3))
    for person, subject in ((first, "1"), (second, "2"), (third, "1")):
        answer = enter(person, provider, subject=subject, preferred_username="reader")
        assert answer.status_code == 303, answer.text
    shown = [person.get("/account").text for person in (first, second, third)]
    assert "reader-2" in shown[0]
    assert "reader-3" in shown[1]
    assert "reader-2" in shown[2]
    assert shelf.store.password_of("reader-2").encoded is None  # type: ignore[union-attr]
    assert "reader-4" not in {user.name for user in shelf.store.users()}
    made = ["user.registered", "sign_in"]
    assert events(shelf) == [*made, *made, "sign_in"]


def test_a_provider_gives_nobody_a_name_that_looks_like_that_of_another(
    open_site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    for subject, name in (
        *(("1", "vic"), ("2", "v\u0131c"), ("3", "y\u0131ld\u0131z")),
        *(("4", "coco"), ("5", "\u0441\u043e\u0441\u043e")),
    ):
        answer = enter(Person(open_site), provider, subject=subject, preferred_username=name)
        assert answer.status_code == 303
    names = {user.name for user in shelf.store.users()}
    assert names >= {"vic", "v\u0131c-2", "y\u0131ld\u0131z"}
    assert names >= {"coco", "\u0441\u043e\u0441\u043e-2"}
    assert not names & {"v\u0131c", "\u0441\u043e\u0441\u043e"}


def test_the_name_comes_from_the_profile_if_the_token_has_none(
    open_site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    provider.profile = {"sub": "7", "preferred_username": "Åsa Öst"}
    assert enter(Person(open_site), provider, subject="7").status_code == 303
    assert user_named(shelf, "Åsa Öst")
    provider.profile = {"sub": "7", "preferred_username": "Eve"}
    assert enter(Person(open_site), provider, subject="8").status_code == 303
    assert user_named(shelf, "user")
    assert "Eve" not in {user.name for user in shelf.store.users()}, (
        "the profile belongs to another subject"
    )


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ann", "ann"),
        ("ann@example.org", "ann"),
        ("  Ann   Lee ", "Ann Lee"),
        ("李雷", "李雷"),
        ("हिन्दी", "हिन्दी"),
        ("<script>alert(1)</script>", "scriptalert1script"),
        ("../../etc/passwd", "etcpasswd"),
        ("a\u202eb\x00c\nd", "abcd"),
        ("ＡＮＮ", "ANN"),
        ("a\u3164nn\u034f\ufe0f", "ann"),
        ("Jose\u200d\u0301", "Jos\u00e9"),
        ("\u0430nn", "user"),  # with a Cyrillic letter
        ("@example.org", "user"),
        ("\u200b", "user"),
        ("", "user"),
        ("..", "user"),
        ("Deleted  user 5", "user"),
        ("x" * 1000, "x" * 92),
    ],
)
def test_usernames_are_made_safe(said: str, name: str) -> None:
    made = user_name_for(said)
    assert made == name
    assert is_user_name(made)
    assert len(made) < USER_NAME_LENGTH


def test_a_disabled_user_cannot_sign_in_with_a_provider(
    open_site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    assert enter(Person(open_site), provider, preferred_username="ann").status_code == 303
    shelf.store.disable_user("ann")
    refused(enter(Person(open_site), provider), "disabled")


def test_an_identity_is_linked_to_one_account(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    assert link(member(site, shelf, "ann"), provider).status_code == 303
    bob = member(site, shelf, "bob")
    answer = link(bob, provider)
    assert answer.status_code == 403
    assert say("provider.taken", name=NAME) in answer.text
    assert shelf.store.identities(user_named(shelf, "bob").id) == []


def test_unlinking(site: Service, shelf: Shelf, provider: SmallProvider) -> None:
    ann = member(site, shelf, "ann")
    link(ann, provider, subject="1")
    (form, _) = forms(ann.get("/account/identities"))[-2:]
    ((name, value),) = form.buttons
    answer = ann.send(form, **{name: value})
    assert answer.headers["Location"] == "/account/identities?done=unlinked"
    assert shelf.store.identities(user_named(shelf, "ann").id) == []
    assert events(shelf)[-1] == "identity.unlinked"
    refused(enter(Person(site), provider, subject="1"), "unlinked")


def test_the_only_way_to_sign_in_cannot_be_unlinked(
    open_site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    person = Person(open_site)
    enter(person, provider, preferred_username="ann")
    (form, _) = forms(person.get("/account/identities"))[-2:]
    ((name, value),) = form.buttons
    answer = person.send(form, **{name: value})
    assert answer.status_code == 409
    assert say("failure.last_way") in answer.text
    assert len(shelf.store.identities(user_named(shelf, "ann").id)) == 1


def test_identities_of_others_cannot_be_unlinked(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    ann, bob = member(site, shelf, "ann"), member(site, shelf, "bob")
    link(ann, provider, subject="1")
    form = bob.form("/account/identities")
    bob.send(form, issuer=provider.issuer, subject="1")
    assert len(shelf.store.identities(user_named(shelf, "ann").id)) == 1


def test_a_session_by_the_provider_replaces_the_one_before(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    ann = member(site, shelf, "ann")
    link(ann, provider)
    before = ann.session
    assert enter(ann, provider).status_code == 303
    assert ann.session not in ("", before)
    assert len(shelf.store.sessions(user_named(shelf, "ann").id)) == 1


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/../x", "/é", "/signin/provider", "/%73ignin/x"],
)
def test_after_a_provider_only_local_addresses_are_next(
    site: Service, shelf: Shelf, provider: SmallProvider, target: str
) -> None:
    link(member(site, shelf, "ann"), provider)
    person = Person(site)
    address = begin(person, f"/signin/provider?{urlencode({'next': target})}")
    assert come_back(person, provider.let_in(address)).headers["Location"] == "/"


# -- the browser --------------------------------------------------------------------------


def test_the_request_to_the_provider(site: Service, provider: SmallProvider) -> None:
    person = Person(site)
    answers = [person.get("/signin/provider", 303) for _ in range(2)]
    asked = [parse_qs(urlsplit(one.headers["Location"]).query) for one in answers]
    for name in ("state", "nonce", "code_challenge"):
        assert len(asked[0][name][0]) == 43
        assert asked[0][name] != asked[1][name]
    assert asked[0]["redirect_uri"] == [f"{BASE_URL}/signin/callback"]
    cookie, *attributes = answers[0].headers["Set-Cookie"].split("; ")
    assert cookie.startswith(f"{COOKIE}=")
    assert set(attributes) == {
        "Secure", "Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={LIFETIME // 1000}",
    }  # fmt: skip
    assert provider.asked == ["/.well-known/openid-configuration"]


def test_a_response_works_once_and_in_one_browser_only(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    link(member(site, shelf, "ann"), provider)
    person, other, third = (Person(site) for _ in range(3))
    address = provider.let_in(begin(person))
    begin(third)
    for stranger in (other, third):
        refused(come_back(stranger, address), "attempt")
    kept = person.client.cookies[COOKIE]
    assert come_back(person, address).status_code == 303
    assert COOKIE not in person.client.cookies
    refused(come_back(person, address), "attempt")
    person.client.cookies.set(COOKIE, kept, domain="maps.example.org")
    asked = provider.asked.count("/token")
    refused(come_back(person, address), "failed")
    assert provider.asked.count("/token") == asked + 1, "the provider refused the code"


def test_an_attempt_to_sign_in_expires(
    site: Service, shelf: Shelf, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(site)
    address = provider.let_in(begin(person))
    now = milliseconds()
    monkeypatch.setattr("mapshelf.site.providers.milliseconds", lambda: now + LIFETIME)
    refused(come_back(person, address), "attempt")
    assert "/token" not in provider.asked


@pytest.mark.parametrize("behind", [1, SECOND, CLOCK_TOLERANCE - SECOND, CLOCK_TOLERANCE + SECOND])
def test_a_response_at_a_node_whose_clock_is_behind(
    open_site: Service, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    now = milliseconds()
    monkeypatch.setattr("mapshelf.site.providers.milliseconds", lambda: now)
    person = Person(open_site)
    address = provider.let_in(begin(person))
    monkeypatch.setattr("mapshelf.site.providers.milliseconds", lambda: now - behind)
    answer = come_back(person, address)
    if behind < CLOCK_TOLERANCE:
        assert (answer.status_code, is_signed_in(person)) == (303, True)
    else:
        refused(answer, "attempt")


@pytest.mark.parametrize("change", ["purpose", "address", "time", "secret", "nonsense"])
def test_the_cookie_is_bound_to_the_state(
    site: Service, shelf: Shelf, provider: SmallProvider, change: str
) -> None:
    ann = member(site, shelf, "ann")
    link(ann, provider)
    address = provider.let_in(begin(ann))
    secret, began, _, _ = ann.client.cookies[COOKIE].split(".")
    changed = {
        "purpose": f"{secret}.{began}.link.",
        "address": f"{secret}.{began}.signin.L2FjY291bnQ",
        "time": f"{secret}.{int(began) + 1}.signin.",
        "secret": f"x{secret}.{began}.signin.",
        "nonsense": "...",
    }
    ann.client.cookies.set(COOKIE, changed[change], domain="maps.example.org")
    answer = come_back(ann, address)
    assert answer.status_code == 403
    assert say("provider.attempt", name=NAME) in answer.text
    assert "/token" not in provider.asked[-1]


def test_linking_is_bound_to_the_session_that_began_it(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    """An attacker cannot link their own identity to somebody else's account."""
    eve, ann = member(site, shelf, "eve"), member(site, shelf, "ann")
    page = eve.send(eve.form("/account/identities"))
    address = provider.let_in(target_of(page))
    planted = eve.client.cookies[COOKIE]
    ann.client.cookies.set(COOKIE, planted, domain="maps.example.org")
    nobody = Person(site)
    nobody.client.cookies.set(COOKIE, planted, domain="maps.example.org")
    for victim in (ann, nobody):
        answer = come_back(victim, address)
        assert answer.status_code == 403
        assert say("provider.attempt", name=NAME) in answer.text
    assert shelf.store.user_of_identity(provider.issuer, "248289761001") is None


def test_linking_needs_a_recent_session(
    site: Service, shelf: Shelf, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attacker with a stolen session could sign in with the identity to get a new session."""
    ann = member(site, shelf, "ann")
    form = ann.form("/account/identities")
    monkeypatch.setattr("mapshelf.accounts.own_account.YOUNG", -1_000_000)
    answer = ann.send(form)
    assert (answer.status_code, say("failure.session_old") in answer.text) == (403, True)
    assert say("account.young") in ann.get("/account/identities").text
    assert provider.asked == []


def test_linking_needs_the_csrf_token(site: Service, shelf: Shelf, provider: SmallProvider) -> None:
    ann = member(site, shelf, "ann")
    fields = ann.form("/account/identities").fields
    for sent, origin in (({}, BASE_URL), (fields, "https://evil.example")):
        answer = ann.post("/account/identities", sent, Origin=origin, Sec_Fetch_Site="")
        assert answer.status_code == 403
        assert COOKIE not in answer.headers.get("Set-Cookie", "")
    assert Person(site).get("/account/identities", 303).headers["Location"].startswith("/signin")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"error": "access_denied"}, "denied"),
        ({"error": "server_error"}, "failed"),
        ({"error": "access_denied", "iss": "https://evil.example"}, "failed"),
        ({}, "failed"),
        ({"code": ""}, "failed"),
        ({"code": "invented"}, "failed"),
        ({"code": "invented", "iss": ""}, "failed"),
    ],
)
def test_responses_without_a_valid_code_are_refused(
    site: Service, provider: SmallProvider, answer: dict[str, str], reason: str
) -> None:
    person = Person(site)
    state = parse_qs(urlsplit(begin(person)).query)["state"][0]
    given = {"state": state, "iss": provider.issuer, **answer}
    refused(person.run(person.client.get("/signin/callback", params=given)), reason)


def test_parameters_given_twice_are_refused(site: Service, provider: SmallProvider) -> None:
    person = Person(site)
    address = provider.let_in(begin(person))
    assert come_back(person, address + "&code=other").status_code == 400


def test_the_response_of_another_provider_is_refused(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    """Mix-up attack (RFC 9207): a code from another provider is never sent to this one."""
    link(member(site, shelf, "ann"), provider)
    asked = provider.asked.count("/token")
    for other in ("https://evil.example", provider.issuer + "/"):
        person = Person(site)
        address = provider.let_in(begin(person))
        here = urlencode({"iss": provider.issuer})
        refused(come_back(person, address.replace(here, urlencode({"iss": other}))), "failed")
    person = Person(site)
    address = provider.let_in(begin(person))
    refused(come_back(person, address.replace("&" + here, "")), "failed")
    assert provider.asked.count("/token") == asked


def test_the_issuer_may_be_missing_if_the_provider_never_sends_it(
    site: Service, shelf: Shelf, provider: SmallProvider
) -> None:
    provider.metadata = {"authorization_response_iss_parameter_supported": False}
    link(member(site, shelf, "ann"), provider)
    person = Person(site)
    here = urlencode({"iss": provider.issuer})
    address = provider.let_in(begin(person))
    assert come_back(person, address.replace("&" + here, "")).status_code == 303


def test_a_provider_that_takes_the_secret_in_the_body(
    open_site: Service, provider: SmallProvider
) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert enter(Person(open_site), provider).status_code == 303


# -- ID tokens ----------------------------------------------------------------------------

NOW = int(time.time())


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Shelf, Service, SmallProvider]]:
    """A service and a provider shared by tests that only change the claims of ID tokens."""
    with small_provider() as provider, shelf_with(tmp_path_factory.mktemp("shared")) as shelf:
        settings = replace(shelf.settings, provider=provider.settings(auto_create=True))
        with Service(settings, "", site_routes) as service:
            yield shelf, service, provider


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": 1},
        {"aud": "another"},
        {"aud": None},
        {"aud": []},
        {"aud": ["another", "third"]},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": CLIENT_ID.upper()},
        {"azp": "another"},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"exp": NOW - 61},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": None},
        {"iat": NOW + 3600},
        {"nbf": NOW + 3600},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 5},
        {"sub": "é"},
        {"sub": "x" * 256},
        {"sub": "a\nb"},
    ],
)
def test_id_tokens_with_wrong_claims_are_refused(
    shared: tuple[Shelf, Service, SmallProvider], claims: dict[str, Any]
) -> None:
    shelf, site, provider = shared
    provider.claims = claims
    person, before = Person(site), shelf.store.users()
    refused(enter(person, provider, subject=str(claims)), "failed")
    assert shelf.store.users() == before
    provider.claims = {}
    assert enter(person, provider).status_code == 303, "the unchanged token was refused, too"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": [CLIENT_ID]},
        {"azp": CLIENT_ID},
        {"aud": ["another", CLIENT_ID], "azp": CLIENT_ID},
        {"exp": NOW + 2_000_000_000},
        {"email": "x", "groups": [1, {}]},
    ],
)
def test_id_tokens_with_other_valid_claims_are_accepted(
    shared: tuple[Shelf, Service, SmallProvider], claims: dict[str, Any]
) -> None:
    _, site, provider = shared
    provider.claims = claims
    assert enter(Person(site), provider).status_code == 303


@cache
def curved() -> ECKey:
    return ECKey.generate_key("P-256", {"kid": "first"}, auto_kid=False)


@cache
def edwards() -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": "first"}, auto_kid=False)


@cache
def small() -> RSAKey:
    with warnings.catch_warnings(action="ignore"):  # joserfc warns that it is too small
        return RSAKey.generate_key(1024, {"kid": "first"}, auto_kid=False)


def secret() -> OctKey:
    return OctKey.import_key(CLIENT_SECRET, {"kid": "first"})


def public_text() -> bytes:
    return first().as_pem(private=False)


@pytest.mark.parametrize(
    ("algorithm", "key", "keys"),
    [
        ("none", first, [first]),
        ("HS256", secret, [first]),
        ("HS256", secret, [first, secret]),
        ("HS256", public_text, [first]),
        ("RS256", second, [first]),
        ("RS256", first, []),
        ("RS256", first, [curved]),
        ("ES256", curved, [first]),
        ("RS256", small, [small]),
    ],
)
@pytest.mark.filterwarnings("ignore:Key size")
def test_invalid_signatures_are_refused(
    open_site: Service, provider: SmallProvider, algorithm: str, key: Any, keys: list[Any]
) -> None:
    provider.header = {"alg": algorithm, "kid": "first"}
    provider.key, provider.published = key(), [one().as_dict(private=False) for one in keys]
    refused(enter(Person(open_site), provider), "failed")


@pytest.mark.parametrize(
    "changes",
    [{"use": "enc"}, {"key_ops": ["encrypt"]}, {"alg": "RS512"}, {"kid": "other"}, {"kty": "X"}],
)
def test_keys_for_other_uses_are_refused(
    open_site: Service, provider: SmallProvider, changes: dict[str, Any]
) -> None:
    provider.published = [{**first().as_dict(private=False), **changes}]
    refused(enter(Person(open_site), provider), "failed")


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [("RS256", first), ("PS256", first), ("ES256", curved), ("Ed25519", edwards)],
)
def test_valid_signatures_are_accepted(
    open_site: Service, provider: SmallProvider, algorithm: str, key: Any
) -> None:
    provider.header = {"alg": algorithm, "kid": "first"}
    provider.key, provider.published = key(), [{"kty": "X"}, "?", *published(key())]
    assert enter(Person(open_site), provider).status_code == 303


def test_an_id_token_without_key_id_is_accepted_for_a_single_key(
    open_site: Service, provider: SmallProvider
) -> None:
    provider.header = {"alg": "RS256"}
    assert enter(Person(open_site), provider).status_code == 303
    provider.published = published(first(), second())


def test_an_id_token_needs_a_key_id_if_there_are_several_keys(
    open_site: Service, provider: SmallProvider
) -> None:
    provider.header, provider.published = {"alg": "RS256"}, published(first(), second())
    refused(enter(Person(open_site), provider), "failed")


def test_rotated_keys_are_loaded_at_most_once_a_minute(
    open_site: Service, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New keys are loaded at once, but tokens cause at most one such request a minute."""
    assert enter(Person(open_site), provider).status_code == 303
    for key, name in ((second(), "second"), (third(), "third")):
        provider.key, provider.header = key, {"alg": "RS256", "kid": name}
        provider.published = published(key)
        if key is second():
            assert enter(Person(open_site), provider).status_code == 303
            assert provider.asked.count("/keys") == 2
        for _ in range(3 * (key is third())):
            refused(enter(Person(open_site), provider), "failed")
    assert provider.asked.count("/keys") == 2
    pass_time(monkeypatch, KEYS_RELOADED_EVERY)
    assert enter(Person(open_site), provider).status_code == 303
    assert provider.asked.count("/keys") == 3
    provider.key, provider.header = second(), {"alg": "RS256", "kid": "second"}
    refused(enter(Person(open_site), provider), "failed")


@pytest.mark.parametrize("header", [{"alg": "RS256"}, {"alg": "RS256", "kid": "first"}])
def test_a_key_without_a_name_of_its_own_can_be_replaced(
    open_site: Service, provider: SmallProvider, header: dict[str, str]
) -> None:
    def publish(key: RSAKey) -> None:
        (shown,) = published(key)
        named = {name: value for name, value in shown.items() if name != "kid"}
        provider.published = [{**named, **({"kid": "first"} if "kid" in header else {})}]

    provider.header = header
    publish(first())
    assert enter(Person(open_site), provider).status_code == 303
    provider.key = second()
    publish(second())
    assert enter(Person(open_site), provider).status_code == 303
    provider.key = third()
    refused(enter(Person(open_site), provider), "failed")


# -- a provider that is down or sends nonsense ---------------------------------------------


def test_people_sign_in_with_passwords_while_the_provider_is_down(
    start: Start, shelf: Shelf
) -> None:
    with small_provider() as gone:
        settings = gone.settings()
    site = start(provider=settings)
    member(site, shelf, "ann")
    person = Person(site)
    answer = person.get("/signin/provider?next=%2Faccount", 503)
    refused(answer, "away", 503)
    assert answer.headers["Retry-After"]
    *_, form = forms(answer)
    done = person.send(form, name="ann", password=PASSWORD)
    assert (done.status_code, done.headers["Location"]) == (303, "/account")
    page = person.send(person.form("/account/identities"))
    assert page.status_code == 503
    assert say("provider.away", name=NAME) in page.text


def test_a_provider_that_fails_on_the_way_back(open_site: Service, provider: SmallProvider) -> None:
    """Others can still sign in: perhaps it fails for one code only."""
    person = Person(open_site)
    address = provider.let_in(begin(person))
    provider.status = 500
    refused(come_back(person, address), "away", 503)
    provider.status = 200
    assert enter(Person(open_site), provider).status_code == 303


def test_whoever_the_provider_does_not_respond_to_does_not_delay_others(
    open_site: Service, provider: SmallProvider
) -> None:
    browsers, other = [Person(open_site) for _ in range(20)], Person(open_site, "192.0.2.2")
    answers = [provider.let_in(begin(one)) for one in browsers]
    provider.hanging.update(provider.codes)
    address = provider.let_in(begin(other))

    async def ask() -> httpx.Response:
        slow = zip(browsers, answers, strict=True)
        hanging = [asyncio.create_task(one.client.get(answer)) for one, answer in slow]
        try:
            while "/token" not in provider.asked:
                await asyncio.sleep(0.01)
            found = await other.client.get(address)
            assert not any(one.done() for one in hanging)
            return found
        finally:
            provider.end_hanging.set()
            await asyncio.gather(*hanging)

    assert open_site.run(ask()).status_code == 303


def test_a_provider_that_publishes_nothing_is_not_requested_again_too_soon(
    open_site: Service, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(open_site)
    provider.status = 500
    refused(person.get("/signin/provider", 503), "away", 503)
    asked = len(provider.asked)
    provider.status = 200
    refused(person.get("/signin/provider", 503), "away", 503)
    assert len(provider.asked) == asked
    pass_time(monkeypatch, RETRIED_AFTER)
    assert enter(person, provider).status_code == 303


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": "https://user:password@evil.example/token"},
        {"jwks_uri": "http://10.0.0.1/keys"},
        {"jwks_uri": ""},
        {"userinfo_endpoint": "ftp://evil.example/"},
    ],
)
def test_unsafe_endpoints_are_never_requested(
    site: Service, provider: SmallProvider, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    refused(Person(site).get("/signin/provider", 503), "away", 503)
    assert provider.asked == ["/.well-known/openid-configuration"]


@pytest.mark.parametrize(("status", "reason"), [(200, "failed"), (500, "away")])
def test_forged_responses_only_throttle_their_sender(
    open_site: Service,
    provider: SmallProvider,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    reason: str,
) -> None:
    monkeypatch.setattr("mapshelf.accounts.openid.sign_in.ANSWERS_OF_ADDRESS", 3)
    eve = Person(open_site, "192.0.2.66")
    begin(eve)  # what the provider publishes is known from now on
    provider.status = status
    for _ in range(3):
        address = provider.let_in(begin(eve))
        forged = come_back(eve, address.replace("code=", "code=x"))
        refused(forged, reason, 503 if status == 500 else 403)
    provider.status = 200
    denied = Person(open_site)
    for _ in range(4):
        state = parse_qs(urlsplit(begin(denied)).query)["state"][0]
        said = {"error": "access_denied", "state": state, "iss": provider.issuer}
        refused(come_back(denied, f"{BASE_URL}/signin/callback?{urlencode(said)}"), "denied")
    asked = len(provider.asked)
    answer = enter(eve, provider)
    assert (answer.status_code, len(provider.asked)) == (429, asked)
    assert int(answer.headers["Retry-After"]) > 0
    assert enter(denied, provider).status_code == 303


@pytest.mark.parametrize("ahead", [20 * MINUTE, 400 * DAY])
def test_forged_answers_in_the_future_delay_nobody_for_long(
    open_site: Service, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """A clock was wrong: one answer is checked in each minute."""
    monkeypatch.setattr("mapshelf.accounts.openid.sign_in.ANSWERS_OF_ADDRESS", 3)
    store = open_site.application.application.context.store.get()
    for _ in range(3):
        store.note_failure([attempt_key("answers from", "192.0.2.66")], milliseconds() + ahead)
    eve = Person(open_site, "192.0.2.66")
    assert enter(eve, provider).status_code == 303
    answers = [enter(Person(open_site, "192.0.2.66"), provider) for _ in range(2)]
    assert 429 in {one.status_code for one in answers}  # a minute may begin in between


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 404, 500])
def test_redirects_are_not_followed(site: Service, provider: SmallProvider, status: int) -> None:
    provider.status = status
    refused(Person(site).get("/signin/provider", 503), "away", 503)
    assert provider.asked == ["/.well-known/openid-configuration"]


@pytest.mark.parametrize("body", [b"x" * 600_000, b"no JSON", b"[]", b"[" * 100_000, b"\xff"])
def test_invalid_discovery_documents_are_refused(
    site: Service, provider: SmallProvider, body: bytes
) -> None:
    provider.body = body
    refused(Person(site).get("/signin/provider", 503), "away", 503)


def test_without_a_provider_its_pages_do_not_exist(start: Start, shelf: Shelf) -> None:
    site = start()
    person = member(site, shelf, "ann")
    for path in ("/signin/provider", "/signin/callback", "/account/identities"):
        assert person.status(path) == 404
    assert "/account/identities" not in person.get("/account").text
    assert "/signin/provider" not in Person(site).get("/signin").text
