"""Every form about accounts: which requests it accepts, and the headers of its page."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

import httpx
import pytest

from mapshelf.accounts.one_time_links import new_invitation
from mapshelf.accounts.permissions import PERMISSIONS
from mapshelf.api.csrf import FIELD, form_token
from mapshelf.clock import milliseconds
from mapshelf.errors import AlreadyExists
from mapshelf.model import LinkKind, MapDraft, Passkey, Reason, Refusal, RefusalKind, Role
from mapshelf.settings import ProviderSettings, Registration
from mapshelf.site import site_routes
from mapshelf.tokens import SCOPES, SESSION_PREFIX, new_token
from tests.api.oauth_programs import Asking, registered
from tests.examples import share
from tests.harness import BASE_URL, READER, Service, Shelf, shelf_with
from tests.person import OTHER, PASSWORD, Person, link_of, member, user_named

pytestmark = pytest.mark.slow

ISSUER: Final = "https://id.example"
PASSKEY: Final = Passkey(b"one", b"key", 0, "Phone", 1, None)

REFUSAL: Final = Refusal("/maps/a.mm", "not a mind map", RefusalKind.REFUSED)

SESSION_COOKIE: Final = "__Host-mapshelf_session"
FORM_COOKIE: Final = "__Host-mapshelf_form"

PROGRAMS: Final = ("/account/programs", "/oauth/authorize", "/oauth/auth", "/oauth/device")
OWN: Final = (
    *("/account", "/account/password", "/account/tokens", "/account/feeds", "/signout"),
    *("/account/identities", "/account/passkeys", "/account/export", "/account/delete"),
    *PROGRAMS,
)
OF_ADMINISTRATORS: Final = (
    "/account/invitations",
    "/account/reports",
    "/account/imports",
    "/account/tags",
)
OPEN: Final = ("/signin", "/register", "/link/password", "/link/invitation")
PATHS: Final = (*OWN, *OF_ADMINISTRATORS, *OPEN)

FIELDS: Final[dict[str, dict[str, str]]] = {
    "/account": {"others": "1"},
    "/account/password": {"present": PASSWORD, "new": OTHER, "again": OTHER},
    "/account/tokens": {"name": "Portal", "scope": "maps", "days": "30"},
    "/account/feeds": {},
    "/account/programs": {},
    "/oauth/authorize": {"decision": "allow"},
    "/oauth/auth": {"decision": "allow"},
    "/oauth/device": {"decision": "allow"},
    "/account/identities": {"issuer": ISSUER, "subject": "1"},
    "/account/passkeys": {"remove": PASSKEY.id.hex()},
    "/signout": {},
    "/account/export": {},
    "/account/delete": {"present": PASSWORD, "maps": "remove"},
    "/account/invitations": {},
    "/account/reports": {"decide": "dismiss:1"},
    "/account/imports": {"dismiss": sha256(REFUSAL.path.encode()).hexdigest()},
    "/account/tags": {"tag": "phys", "name": "Physics"},
    "/signin": {"name": "ann", "password": PASSWORD},
    "/register": {"name": "guest", "new": PASSWORD, "again": PASSWORD},
    "/link/password": {"new": PASSWORD, "again": PASSWORD},
    "/link/invitation": {"name": "guest", "new": PASSWORD, "again": PASSWORD},
}
"""Field values with which each form does something if it is accepted."""


@dataclass(frozen=True)
class Sent:
    """How a form is sent; ``token`` computes the CSRF token from the right secret."""

    headers: dict[str, str]
    token: Callable[[str], str] = form_token
    taken: bool = False


SENT: Final = {
    "from our page": Sent({"Origin": BASE_URL, "Sec-Fetch-Site": "same-origin"}, taken=True),
    "in an old browser": Sent({}, taken=True),
    "with a hidden origin": Sent({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, taken=True),
    "with a hidden origin over http": Sent({"Origin": "null"}, taken=True),
    "typed": Sent({"Sec-Fetch-Site": "none"}, taken=True),
    "without a token": Sent({"Origin": BASE_URL}, lambda _: ""),
    "with nonsense": Sent({"Origin": BASE_URL}, lambda _: "x" * 86),
    "with another's token": Sent({"Origin": BASE_URL}, lambda _: form_token("another")),
    "with the secret as token": Sent({"Origin": BASE_URL}, lambda secret: secret),
    "from another site": Sent({"Origin": "https://evil.example"}),
    "from a like one": Sent({"Origin": f"{BASE_URL}.evil.example"}),
    "over http": Sent({"Origin": BASE_URL.replace("https", "http")}),
    "from another port": Sent({"Origin": f"{BASE_URL}:8443"}),
    "from a sister site": Sent({"Sec-Fetch-Site": "same-site"}),
    "hidden, from another site": Sent({"Origin": "null", "Sec-Fetch-Site": "cross-site"}),
}

NOBODY: Final = ("nobody", "ended", "expired", "disabled", "invented", "token in the cookie")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("forms")) as empty:
        empty.store.add_user("chief", Role.ADMINISTRATOR)
        empty.store.put_maps([MapDraft(title="reported")])
        yield empty


@pytest.fixture(scope="module")
def site(shelf: Shelf) -> Iterator[Service]:
    settings = replace(
        shelf.settings,
        registration=Registration.OPEN,
        provider=ProviderSettings(ISSUER, "id", "secret", "Example ID"),
    )
    with Service(settings, "", site_routes) as running:
        yield running


@pytest.fixture(autouse=True)
def _each(cheap: None, site: Service) -> None:
    """Make password hashes cheap, and clear the cookies of earlier tests."""
    site.client.cookies.clear()


def everything(shelf: Shelf) -> list[Any]:
    """Return all data that forms could change."""
    store, now = shelf.store, milliseconds()
    users = store.users()
    passwords = [store.password_of(user.name) for user in users]
    tokens = [store.tokens(user.name) for user in users]
    sessions = [[one.id for one in store.sessions(user.id)] for user in users]
    reports = store.count_reported_maps()
    log = sum(
        one.count for one in store.audit_records(0, 0, 10_000)
    )  # equal entries share a record
    grants = [store.grants(user.id, now) for user in users]
    ways = [(store.identities(user.id), store.passkeys(user.id)) for user in users]
    kept = [store.invitations(now), store.count_open_refusals()]
    return [users, passwords, tokens, sessions, reports, log, grants, ways, kept]


@pytest.fixture(scope="module")
def asking(shelf: Shelf, site: Service) -> Asking:
    """A program that asks ``ann`` for access."""
    return Asking(shelf, site, registered(shelf.store), "ann")


def fields_of(asking: Asking, path: str) -> dict[str, str]:
    """Return the fields with which a form does something; forms of programs name a program."""
    named = {}
    if path == "/account/programs":
        asking.tokens()
        named = {"withdraw": asking.program.id}
    if path == "/oauth/device":
        named = {"user_code": asking.post("/oauth/device_authorization", {}).json()["user_code"]}
    return {**FIELDS[path], **named}


def address_of(shelf: Shelf, path: str, asking: Asking) -> str:
    if path in ("/oauth/authorize", "/oauth/auth"):
        return f"{path}?{httpx.QueryParams(asking.parameters())}"
    if path == "/link/password":
        return link_of(shelf, "ann")
    if path == "/link/invitation":
        return f"/link/{new_invitation(shelf.store, milliseconds())}"
    if path == "/account/reports":
        (reader,) = (user.id for user in shelf.store.users() if user.name == READER)
        shelf.store.report_map(1, reader, Reason.SPAM, "")
    if path == "/account/imports":
        shelf.store.forget_refusals([REFUSAL.path])  # in case an earlier test dismissed it
        shelf.store.note_refusals([REFUSAL])
    return path


def cookies_of(person: Person) -> tuple[str, str]:
    """Return the Cookie header of a person, and the secret of forms without a session."""
    secret = person.client.cookies.get(FORM_COOKIE) or ""
    return f"{SESSION_COOKIE}={person.session}; {FORM_COOKIE}={secret}", secret


def ways(path: str) -> list[str]:
    """Return the ways to test a form with: three important ones, and a share of the others."""
    most = ("from our page", "without a token", "from another site")
    return [*most, *share([how for how in SENT if how not in most], PATHS.index(path))]


@pytest.mark.parametrize(("path", "how"), [(path, how) for path in PATHS for how in ways(path)])
def test_forms_from_other_sites_are_refused(
    site: Service, shelf: Shelf, asking: Asking, path: str, how: str
) -> None:
    person = member(site, shelf, "ann", Role.ADMINISTRATOR)
    shelf.store.set_role("ann", Role.ADMINISTRATOR)
    person.get("/link/none", 404)
    header, secret = cookies_of(person)
    sent, address = SENT[how], address_of(shelf, path, asking)
    token = sent.token(secret if path in OPEN else person.session)
    fields = {**fields_of(asking, path), FIELD: token}
    if path in ("/account/identities", "/account/passkeys"):
        ann = user_named(shelf, "ann")
        shelf.store.link_identity(ann.id, ISSUER, "1", "")
        with suppress(AlreadyExists):
            shelf.store.add_passkey(ann.id, PASSKEY)
    if fields.get("name") == "guest":
        fields["name"] = f"guest{len(shelf.store.users())}"
    content = str(httpx.QueryParams(fields)).encode()
    before = everything(shelf)
    answer = site.request(
        "POST",
        address,
        headers={
            **sent.headers,
            "Cookie": header,
            "Content-Type": "application/x-www-form-urlencoded",
        },
        signed=False,
        content=content,
    )
    location = answer.headers.get("Location", "")
    shown = path in ("/account/export", "/account/delete")
    if sent.taken:
        assert answer.status_code == (200 if shown else 303)
        assert not location.startswith("/signin")
        # There may be no other sessions to end. Whether a program got access shows below, when it
        # exchanges its code.
        assert everything(shelf) != before or path in ("/account", *PROGRAMS[1:])
        assert path != "/oauth/device" or location == "/account/programs?done=device.allowed"
        if path in ("/oauth/authorize", "/oauth/auth"):
            code = httpx.URL(location).params["code"]
            assert asking.exchange(code).status_code == 200
    else:
        assert answer.status_code == 403
        assert answer.headers["Content-Type"].startswith("text/html")
        assert everything(shelf) == before
        assert location == ""
        assert "Set-Cookie" not in answer.headers
        waiting = fields.get("user_code")
        assert not waiting or is_waiting(shelf, waiting)


def is_waiting(shelf: Shelf, user_code: str) -> bool:
    """Tell whether the request of a device is still undecided."""
    return shelf.store.device_request(user_code.replace("-", ""), milliseconds()) is not None


def session_of(shelf: Shelf, who: str) -> str:
    """Return the session cookie of somebody who is not signed in."""
    if who == "nobody":
        return ""
    if who == "invented":
        return new_token(SESSION_PREFIX)
    if who == "token in the cookie":
        return shelf.token(scopes=" ".join(SCOPES))
    if who == "expired":
        return shelf.session(expires=1)
    if who == "disabled":
        if "gone" not in {user.name for user in shelf.store.users()}:
            shelf.store.add_user("gone")
        shelf.store.enable_user("gone")
        secret = shelf.session("gone")
        shelf.store.disable_user("gone")
        return secret
    secret = shelf.session()
    (reader,) = (user.id for user in shelf.store.users() if user.name == "reader")
    shelf.store.end_sessions(reader, None)
    return secret


@pytest.mark.parametrize("path", [*OWN, *OF_ADMINISTRATORS])
@pytest.mark.parametrize("who", NOBODY)
def test_pages_of_an_account_need_a_session(
    site: Service, shelf: Shelf, asking: Asking, path: str, who: str
) -> None:
    secret = session_of(shelf, who)
    if "ann" not in {user.name for user in shelf.store.users()}:
        shelf.store.add_user("ann")
    address, fields = address_of(shelf, path, asking), fields_of(asking, path)
    cookie = {"Cookie": f"{SESSION_COOKIE}={secret}"} if secret else {}
    before = everything(shelf)
    shown = site.request("GET", address, headers=cookie, signed=False)
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": BASE_URL}
    content = str(httpx.QueryParams({**fields, FIELD: form_token(secret)})).encode()
    sent = site.request("POST", address, headers={**cookie, **form}, signed=False, content=content)
    for answer in (shown, sent):
        assert answer.status_code == 303
        expected = "/signin?next=" + path.replace("/", "%2F")
        if path in ("/oauth/authorize", "/oauth/auth"):
            assert answer.headers["Location"].startswith(f"{expected}%3F")
            expected = answer.headers["Location"]
        if path == "/signout":
            expected = "/" if answer is shown else "/signin?next=%2F"
        assert answer.headers["Location"] == expected
        assert answer.headers["Cache-Control"] == "no-store"
    assert everything(shelf) == before


def test_a_token_of_the_api_opens_no_page(site: Service, shelf: Shelf) -> None:
    """Pages about the account need a session (``accounts/permissions.py``)."""
    site.token = shelf.token(scopes=" ".join(SCOPES))
    for path in (*OWN, *OF_ADMINISTRATORS):
        assert site.get(path).status_code == 303


def test_pages_need_the_permissions_in_the_table() -> None:
    asked = {
        "/account": "list and end sessions",
        "/account/password": "change the password",
        "/account/tokens": "make, list and revoke tokens",
        "/account/identities": "link and unlink identities",
        "/account/passkeys": "add, list and remove passkeys",
        "/signout": "sign out",
        "/account/feeds": "make and withdraw the address of feeds",
        "/account/programs": "list and withdraw programs",
        **dict.fromkeys(("/oauth/authorize", "/oauth/auth", "/oauth/device"), "let a program in"),
        "/account/invitations": "make, list and withdraw invitations",
        "/account/reports": "decide about reports",
        "/account/imports": "see and dismiss refused files",
        "/account/tags": "rename tags",
        "/account/export": "export one's own data",
        "/account/delete": "delete one's own account",
    }
    assert set(asked) == {*OWN, *OF_ADMINISTRATORS}
    for path, operation in asked.items():
        permission = PERMISSIONS[operation]
        assert permission.session_only
        assert (Role.MEMBER in permission.roles) == (path in OWN)


@pytest.mark.parametrize("path", PATHS)
def test_pages_with_forms_have_strict_headers(
    site: Service, shelf: Shelf, asking: Asking, path: str
) -> None:
    person = member(site, shelf, "ann", Role.ADMINISTRATOR)
    shelf.store.set_role("ann", Role.ADMINISTRATOR)
    if path == "/signin":
        person = Person(site)
    address = address_of(shelf, path, asking)
    answers = [person.get(address), person.post(address, {})]
    for answer in answers:
        headers = answer.headers
        assert headers["Cache-Control"] == "no-store"
        assert "ETag" not in headers
        assert not {name for name in headers if name.startswith("access-control-")}
        # The policy of a consent page names the program: see test_oauth_programs.py.
        policy = headers["Content-Security-Policy"].replace(" https://program.example", "")
        assert policy == Person(site).get("/docs").headers["Content-Security-Policy"].replace(
            " data: blob:", ""
        )
        assert "form-action 'self'" in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert 'name="robots" content="noindex"' in answer.text
    secret = address.startswith("/link/")
    expected = "no-referrer" if secret else "same-origin"
    assert answers[0].headers["Referrer-Policy"] == expected


@pytest.mark.parametrize(
    ("media_type", "content", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data; boundary=x", b"--x--\r\n", 415),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 40_000, 413),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 20_000, 413),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 30), 400),
        ("application/x-www-form-urlencoded", b"name=%00", 400),
        ("application/x-www-form-urlencoded", b"name=%FF", 400),
        ("application/x-www-form-urlencoded", b"name=a&name=b", 400),
    ],
)
def test_invalid_form_bodies_get_an_error_page(
    site: Service, media_type: str, content: bytes, status: int
) -> None:
    answer = site.request(
        "POST", "/signin", headers={"Content-Type": media_type}, signed=False, content=content
    )
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", PATHS)
def test_other_methods_get_an_error_page(site: Service, path: str) -> None:
    answer = site.request("PUT", path, signed=False)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    assert answer.headers["Content-Type"].startswith("text/html")


def test_unknown_addresses_get_an_error_page_in_browsers(site: Service) -> None:
    accepted = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    page = site.request("GET", "/nowhere", headers={"Accept": accepted}, signed=False)
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")
    for other in ("*/*", "application/json", "text/html, image/gif, *; q=.2, */*; q=.2"):
        answer = site.request("GET", "/nowhere", headers={"Accept": other}, signed=False)
        assert answer.json()["error"] == "not_found"
    answer = site.request("GET", "/maps", headers={"Accept": accepted}, signed=False)
    assert answer.json()["error"] == "invalid_request"


def test_every_kind_of_link_is_tested() -> None:
    assert set(LinkKind) == {"password", "invitation"}, (
        "add the form of the new kind to these tests"
    )
