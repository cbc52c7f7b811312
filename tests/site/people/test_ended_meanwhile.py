"""Requests that were authorised, and whose authorisation ends before they write.

Clients hold back the rest of a body for as long as they like, and choose it at the end. Or the
request waits for something else, such as an OpenID provider.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson
import pytest

from mapshelf.accounts.openid.attempt import Purpose, new_attempt
from mapshelf.clock import milliseconds
from mapshelf.model import MINUTE, Access, MapDetails, MapsOfClosedAccount, Role
from mapshelf.settings import Registration
from mapshelf.site.messages import say
from mapshelf.tokens import FEED_PREFIX, MAPS_WRITE, PREFIX
from tests.harness import BASE_URL, Service, Shelf
from tests.person import (
    PASSWORD,
    Form,
    Person,
    Start,
    events,
    is_signed_in,
    member,
    user_named,
)
from tests.site.people.openid_provider import SmallProvider, small_provider
from tests.site.people.test_providers import begin, come_back, link
from tests.site.shelves import GARDEN
from tests.store.drafts import upload

End = Callable[[], object]

TOKEN_FORM = "/account/tokens"
SIGN_IN = "/signin?next="


def held_back(person: Person, form: Form, end: End, /, **values: str) -> httpx.Response:
    """Send a form of which the second half arrives after ``end`` was called."""
    body = urlencode({**form.fields, **values}).encode()

    async def halves() -> AsyncIterator[bytes]:
        yield body[: len(body) // 2]
        end()
        yield body[len(body) // 2 :]

    headers = {
        "Origin": BASE_URL,
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": str(len(body)),
    }
    return person.run(person.client.post(form.action, content=halves(), headers=headers))


def is_refused(answer: httpx.Response) -> bool:
    """Return whether a form was answered as if nobody were signed in."""
    return answer.status_code == 303 and answer.headers["Location"].startswith(SIGN_IN)


def change_password(shelf: Shelf, name: str) -> End:
    """Return what ends all access of a user but that of another session."""
    user = user_named(shelf, name)
    ending = list(Access)
    return lambda: shelf.store.set_password(user.id, "encoded", keep=None, ending=ending)


def test_no_token_is_made(site: Service, shelf: Shelf) -> None:
    bob = member(site, shelf, "bob")
    values = {"name": "Mine", "scope": MAPS_WRITE, "days": "30"}
    answer = held_back(bob, bob.form(TOKEN_FORM), lambda: None, **values)
    assert answer.headers["Location"] == TOKEN_FORM
    (made,) = shelf.store.tokens("bob")
    form = bob.form(TOKEN_FORM)
    assert is_refused(held_back(bob, form, change_password(shelf, "bob"), **values))
    assert [one.id for one in shelf.store.tokens("bob")] == [made.id]
    assert shelf.store.tokens("bob")[0].revoked is not None
    assert not any(one.startswith(PREFIX) for one in bob.client.cookies.values())


def test_no_feed_address_is_made(site: Service, shelf: Shelf) -> None:
    bob = member(site, shelf, "bob")
    form = bob.form("/account/feeds")
    assert is_refused(held_back(bob, form, change_password(shelf, "bob")))
    assert shelf.store.tokens("bob") == []
    assert not any(FEED_PREFIX in one for one in bob.client.cookies.values())


def test_the_password_of_the_next_user_with_the_name_is_not_chosen(
    site: Service, shelf: Shelf
) -> None:
    before = shelf.store.add_user("bob")
    person = Person(site)
    person.client.cookies.set("__Host-mapshelf_session", shelf.session("bob"))
    form = person.form("/account/password")

    def replace() -> None:
        shelf.store.close_account(before.id, MapsOfClosedAccount.REMOVE, None)
        while shelf.store.finish_closing():
            pass
        shelf.store.add_user("bob")

    assert is_refused(held_back(person, form, replace, new=PASSWORD, again=PASSWORD))
    record = shelf.store.password_of("bob")
    assert record
    assert record.encoded is None


@pytest.mark.parametrize("left", ["session", "role"])
def test_administrators_invite_nobody(start: Start, shelf: Shelf, left: str) -> None:
    site = start(registration=Registration.INVITE)
    shelf.store.add_user("other", Role.ADMINISTRATOR)
    ann = member(site, shelf, "ann", Role.ADMINISTRATOR)
    form = ann.form("/account/invitations")
    end: End = (
        change_password(shelf, "ann")
        if left == "session"
        else lambda: shelf.store.set_role("ann", Role.MEMBER)
    )
    assert is_refused(held_back(ann, form, end))
    assert shelf.store.invitations(0) == []


def test_nothing_is_read_either_if_the_body_takes_long(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapshelf.api.bodies.CHECKED_AFTER", 0.0)
    monkeypatch.setattr("mapshelf.store.sqlite.accounts.SQLiteAccounts.tokens_version_age", 0.0)
    bob = member(site, shelf, "bob")
    form = bob.form("/account/export")
    assert held_back(bob, form, lambda: None).headers["Content-Type"] == "application/zip"
    assert is_refused(held_back(bob, form, change_password(shelf, "bob")))
    assert events(shelf).count("data.exported") == 1


@pytest.mark.parametrize("ending", ["token revoked", "user disabled", "user demoted"])
@pytest.mark.parametrize(
    "method", ["PATCH", "POST", pytest.param("PUT", marks=pytest.mark.process)]
)
def test_programs_change_nothing(site: Service, shelf: Shelf, ending: str, method: str) -> None:
    store = shelf.store
    ann = store.add_user("ann", Role.ADMINISTRATOR)
    mine, _ = store.publish(upload(), MapDetails(title="Mine"), store.add_user("eve").id, None)
    secret = shelf.token("ann", scopes=MAPS_WRITE)
    (token,) = store.tokens("ann")
    ends: dict[str, End] = {
        "token revoked": lambda: store.revoke_token(token.id),
        "user disabled": lambda: store.disable_user("ann"),
        "user demoted": lambda: store.set_role("ann", Role.MEMBER),
    }
    path, kind, body = {
        "PATCH": (f"/maps/{mine.id}", "application/json", orjson.dumps({"description": "x"})),
        "PUT": (
            f"/maps/{mine.id}/file",
            "application/octet-stream",
            b'<map><node TEXT="Other"/></map>',
        ),
        "POST": (
            "/collections",
            "application/json",
            orjson.dumps({"title": "Mine", "maps": [GARDEN.id]}),
        ),
    }[method]

    async def halves() -> AsyncIterator[bytes]:
        yield body[:5]
        ends[ending]()
        yield body[5:]

    headers = {
        "Authorization": f"Bearer {secret}",
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Content-Disposition": 'attachment; filename="other.mm"',
    }
    answer = site.run(site.client.request(method, path, headers=headers, content=halves()))
    assert (answer.status_code, answer.headers["WWW-Authenticate"][:6]) == (401, "Bearer")
    assert store.find_map(mine.id) == mine
    assert len(store.versions(mine.file_id)) == 1
    assert store.collections_of(ann.id) == []


def link_while(person: Person, provider: SmallProvider, end: End) -> httpx.Response:
    """Link an account of the provider, which calls ``end`` before it answers our last request."""
    answer = provider.answer

    def answer_late(path: str, body: str, authorization: str) -> tuple[int, Any]:
        if path == "/token":
            end()
        return answer(path, body, authorization)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provider, "answer", answer_late)
        return link(person, provider, subject="thief")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["password changed", "user disabled", "session ended"])
def test_no_account_of_a_provider_is_linked(start: Start, shelf: Shelf, ending: str) -> None:
    with small_provider() as provider:
        site = start(provider=provider.settings())
        bob = member(site, shelf, "bob")
        user = user_named(shelf, "bob")
        (session,) = shelf.store.sessions(user.id)
        ends: dict[str, End] = {
            "password changed": change_password(shelf, "bob"),
            "user disabled": lambda: shelf.store.disable_user("bob"),
            "session ended": lambda: shelf.store.end_session(user.id, session.id),
        }
        answer = link_while(bob, provider, ends[ending])
        assert answer.status_code == 403
        assert say("provider.attempt", name="Example ID") in answer.text
        assert 'name="password"' in answer.text, "the page to sign in"
        assert shelf.store.identities(user.id) == []
        assert "identity.linked" not in events(shelf)
        thief = Person(site)
        address = provider.let_in(begin(thief), subject="thief")
        assert come_back(thief, address).status_code == 403
        assert not is_signed_in(thief)


@pytest.mark.slow
def test_no_account_of_a_provider_is_linked_if_the_session_grew_old(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_provider() as provider:
        bob = member(start(provider=provider.settings()), shelf, "bob")
        young = "mapshelf.accounts.own_account.YOUNG"
        answer = link_while(bob, provider, lambda: monkeypatch.setattr(young, -MINUTE * 60))
        assert (answer.status_code, say("failure.session_old") in answer.text) == (403, True)
        assert shelf.store.identities(user_named(shelf, "bob").id) == []
        monkeypatch.undo()
        assert link(bob, provider).headers["Location"].endswith("done=linked")


@pytest.mark.slow
def test_signing_in_with_a_provider_needs_no_other_session(start: Start, shelf: Shelf) -> None:
    """The browser's session may end meanwhile: it does not matter for a new one."""
    with small_provider() as provider:
        site = start(provider=provider.settings(auto_create=True))
        bob = member(site, shelf, "bob")
        address = provider.let_in(begin(bob), subject="1", preferred_username="eve")
        change_password(shelf, "bob")()
        assert come_back(bob, address).status_code == 303
        assert "eve" in bob.get("/account").text


@pytest.mark.slow
def test_an_attempt_to_link_never_signs_anybody_in(start: Start, shelf: Shelf) -> None:
    """The cookie of an attempt comes from the browser, which may write what it likes into it."""
    with small_provider() as provider:
        site = start(provider=provider.settings(auto_create=True))
        attempt = new_attempt(Purpose.LINK, "", milliseconds())
        person = Person(site)
        person.client.cookies.set("__Host-mapshelf_provider", attempt.cookie())
        query = urlencode({"state": attempt.state(""), "code": "x", "iss": provider.issuer})
        answer = come_back(person, f"{BASE_URL}/signin/callback?{query}")
        assert answer.status_code == 403
        assert say("provider.attempt", name="Example ID") in answer.text
        assert provider.asked == []
