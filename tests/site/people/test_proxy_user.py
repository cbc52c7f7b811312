"""Users that a trusted proxy signs in: which headers count, and from which addresses."""

from ipaddress import ip_network

import httpx
import pytest

from mapshelf.model import MapDraft, MapsOfClosedAccount
from mapshelf.settings import ProxyUserSettings
from mapshelf.site.messages import say
from tests.harness import BASE_URL, Service, Shelf
from tests.person import (
    PASSWORD,
    Person,
    Start,
    events,
    forms,
    is_signed_in,
    link_of,
    member,
    until,
    user_named,
)
from tests.store.drafts import source

PROXY, ELSEWHERE = "10.0.0.9", "192.0.2.1"
HEADER = b"X-Remote-User"


class Behind(Person):
    """A person behind the proxy, which adds its header to every request."""

    def __init__(self, service: Service, name: str | bytes, address: str = PROXY) -> None:
        super().__init__(service, address)
        self.named(name)

    def named(self, name: str | bytes) -> None:
        """Change the name in the proxy's header."""
        others = [one for one in self.client.headers.raw if one[0] != HEADER]
        value = name if isinstance(name, bytes) else name.encode()
        self.client.headers = httpx.Headers([*others, (HEADER, value)])


@pytest.fixture
def strict(start: Start) -> Service:
    """A service behind a proxy, for users with an account."""
    return start(
        trusted_proxies=(ip_network("10.0.0.0/24"),), proxy_user=ProxyUserSettings(b"x-remote-user")
    )


@pytest.fixture
def site(start: Start) -> Service:
    """A service behind a proxy that creates an account for every name."""
    return start(
        trusted_proxies=(ip_network("10.0.0.0/24"),),
        proxy_user=ProxyUserSettings(b"x-remote-user", auto_create=True),
    )


def enter(person: Person, path: str = "/account") -> httpx.Response:
    """Open a page as a browser does, through one redirect to the sign-in page and back."""
    answer = person.get(path, 303)
    assert answer.headers["Location"].startswith("/signin?next=")
    back = person.get(answer.headers["Location"], 303)
    assert back.headers["Location"] == path
    return person.get(path)


def test_the_user_named_by_the_proxy_is_signed_in(strict: Service, shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    person = Behind(strict, "Ann")
    assert "ann" in enter(person).text
    assert person.session.startswith("msx_")
    assert person.get("/signin?next=%2Faccount", 303).headers["Location"] == "/account"


def test_other_sites_cannot_begin_a_session(strict: Service, shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    person = Behind(strict, "ann")
    for kind in ("image", "iframe", "empty"):
        person.client.headers["Sec-Fetch-Dest"] = kind
        person.get("/signin", 200)
    assert not shelf.store.sessions(user_named(shelf, "ann").id)
    person.client.headers["Sec-Fetch-Dest"] = "document"
    assert "ann" in enter(person).text


def test_an_unknown_name_gets_an_error_page(strict: Service, shelf: Shelf) -> None:
    before = shelf.store.users()
    person = Behind(strict, "nobody")
    answer = person.get("/signin", 403)
    assert say("proxy.unlinked") in answer.text
    assert 'name="password"' in answer.text
    assert shelf.store.users() == before
    assert not person.session


def test_an_unknown_name_gets_an_account_if_the_setting_allows_it(
    site: Service, shelf: Shelf
) -> None:
    assert "newcomer" in enter(Behind(site, "newcomer")).text
    user = user_named(shelf, "newcomer")
    assert (user.role, shelf.store.password_of("newcomer").encoded) == ("member", None)  # type: ignore[union-attr]
    enter(Behind(site, "newcomer"))
    assert len(shelf.store.sessions(user.id)) == 2
    assert events(shelf) == ["user.registered", "sign_in", "sign_in"]


def test_a_proxy_gives_nobody_a_reserved_name(site: Service, shelf: Shelf) -> None:
    """Somebody else may have the name at the proxy by now."""
    ann = shelf.store.add_user("ann")
    shelf.store.put_maps([MapDraft(title="t", owner="ann", source=source())])
    shelf.store.close_account(ann.id, MapsOfClosedAccount.REMOVE, None)
    while shelf.store.finish_closing():
        pass
    before = shelf.store.users()
    person = Behind(site, "ann")
    assert say("proxy.unlinked") in person.get("/signin", 403).text
    assert shelf.store.users() == before
    again = shelf.store.add_user("ann", even_if_reserved=True)
    assert again.id != ann.id
    assert "ann" in enter(person).text


def test_the_header_counts_only_from_the_proxy(site: Service, shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    outsider = Behind(site, "ann", ELSEWHERE)
    outsider.client.headers["X-Forwarded-For"] = PROXY
    assert 'name="password"' in outsider.get("/signin").text
    assert not is_signed_in(outsider)
    insider = Behind(site, "ann")
    enter(insider)
    stolen = insider.client.cookies["__Host-mapshelf_session"]
    outsider.client.cookies.set("__Host-mapshelf_session", stolen, domain="maps.example.org")
    assert not is_signed_in(outsider), "the session works without the proxy"


def test_without_the_setting_the_header_is_ignored(start: Start, shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    person = Behind(start(trusted_proxies=(ip_network("10.0.0.0/24"),)), "ann")
    assert 'name="password"' in person.get("/signin").text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["", " ", "ann, bob", "a\tb", b"\xff", "zoë", "x" * 101, "a\u202eb", "system", "\u0085"]
)
def test_invalid_names_from_the_proxy_are_refused(
    site: Service, shelf: Shelf, name: str | bytes
) -> None:
    before = shelf.store.users()
    person = Behind(site, name)
    assert person.status("/signin") in (200, 403)
    assert not person.session
    assert shelf.store.users() == before


@pytest.mark.parametrize("name", ["/", "..", "deleted user 5", "ann  lee"])
def test_only_existing_users_may_have_an_unusable_name(
    site: Service, shelf: Shelf, name: str
) -> None:
    before = shelf.store.users()
    person = Behind(site, name)
    assert say("proxy.unusable") in person.get("/signin", 403).text
    assert shelf.store.users() == before
    shelf.store.add_user(name)
    assert enter(person).status_code == 200


def test_a_disabled_user_gets_an_error_page(site: Service, shelf: Shelf) -> None:
    shelf.store.add_user("ann")
    shelf.store.disable_user("ann")
    assert say("proxy.disabled") in Behind(site, "ann").get("/signin", 403).text


def test_another_name_from_the_proxy_is_another_user(site: Service, shelf: Shelf) -> None:
    person = Behind(site, "ann")
    enter(person)
    person.named("bob")
    assert "bob" in enter(person).text
    person.named("")
    assert not is_signed_in(person), "the session goes on after signing out at the proxy"
    person.named("bob")
    assert is_signed_in(person)


def test_signing_out_is_left_to_the_proxy(site: Service, shelf: Shelf) -> None:
    person = Behind(site, "ann")
    account = enter(person)
    assert say("signout.proxy") in account.text
    assert 'action="/signout"' not in account.text
    page = person.get("/signout")
    assert say("signout.proxy") in page.text
    own = member(site, shelf, "eve")
    assert say("signout.proxy") not in own.get("/signout").text + own.get("/account").text


def test_somebody_behind_the_proxy_may_use_a_password(site: Service, shelf: Shelf) -> None:
    Person(site).choose(link_of(shelf, "admin"))
    person = Behind(site, "ann")
    *_, form = forms(person.get("/signin?way=password"))
    assert person.send(form, name="admin", password=PASSWORD).status_code == 303
    assert "admin" in person.get("/account").text
    assert person.session.startswith("mss_")


def test_forms_need_their_token_behind_a_proxy_too(site: Service, shelf: Shelf) -> None:
    person = Behind(site, "ann")
    enter(person)
    form = person.form("/account/tokens")
    fields = {**form.fields, "name": "x", "scope": "maps", "days": "30"}
    others = {**fields, "csrf_token": Person(site).form("/signin").fields["csrf_token"]}
    for sent, origin in (
        ({**fields, "csrf_token": ""}, BASE_URL),
        (others, BASE_URL),
        (fields, "https://evil.example"),
    ):
        answer = person.post("/account/tokens", sent, Origin=origin, Sec_Fetch_Site="")
        assert answer.status_code == 403
    assert shelf.store.tokens("ann") == []
    fresh = Behind(site, "ann")
    answer = fresh.post("/account/tokens", fields)
    assert answer.headers["Location"].startswith("/signin"), "the header alone was enough"
    assert person.post("/account/tokens", fields).status_code == 303
    assert len(shelf.store.tokens("ann")) == 1


def test_the_api_takes_proxy_sessions_only_behind_the_proxy(site: Service, shelf: Shelf) -> None:
    person = Behind(site, "ann")
    assert person.status("/users/me") == 401
    enter(person)
    assert person.get("/users/me").json()["UserName"] == "ann"
    person.named("bob")
    assert person.status("/users/me") == 401


def test_the_proxy_signs_users_into_a_private_catalogue(start: Start, shelf: Shelf) -> None:
    site = start(
        private=True,
        trusted_proxies=(ip_network("10.0.0.0/24"),),
        proxy_user=ProxyUserSettings(b"x-remote-user", auto_create=True),
    )
    assert "Garden" in enter(Behind(site, "ann"), "/").text
    assert Behind(site, "ann", ELSEWHERE).get("/", 303)


@pytest.mark.slow
def test_a_session_by_the_proxy_ends_with_the_setting(
    site: Service, start: Start, shelf: Shelf
) -> None:
    person = Behind(site, "ann")
    enter(person)
    without = Person(start(), PROXY)
    without.client.cookies.set("__Host-mapshelf_session", person.session, domain="maps.example.org")
    assert not is_signed_in(without)
    shelf.store.end_sessions(user_named(shelf, "ann").id, None)
    until(site, lambda: not is_signed_in(person))


def test_users_signed_in_by_the_proxy_cannot_choose_a_password(site: Service, shelf: Shelf) -> None:
    # The proxy can start a new session at any time, so a young session proves nothing.
    ann = Behind(site, "ann")
    enter(ann)
    page = ann.get("/account/password")
    assert say("password.proxy") in page.text
    assert 'name="new"' not in page.text
    token = forms(ann.get("/account/tokens"))[-1].fields["csrf_token"]
    fields = {"csrf_token": token, "new": PASSWORD, "again": PASSWORD}
    assert ann.post("/account/password", fields).status_code == 403
    record = shelf.store.password_of("ann")
    assert record
    assert record.encoded is None
