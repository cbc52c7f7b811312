"""Links to choose a password, and access tokens, in a browser without JavaScript."""

import re

import pytest

from mapshelf.accounts.one_time_links import LIFETIMES, new_invitation, new_password_link
from mapshelf.accounts.personal_tokens import MOST_TOKENS
from mapshelf.clock import milliseconds
from mapshelf.model import LinkKind, Role
from mapshelf.settings import Registration
from mapshelf.site.messages import say
from mapshelf.tokens import FEED_PREFIX, LINK_PREFIX, PREFIX, is_well_formed, new_token
from tests.harness import Service, Shelf
from tests.person import (
    OTHER,
    PASSWORD,
    Person,
    Start,
    forms,
    link_of,
    member,
    until,
    user_named,
)
from tests.site.shelves import GARDEN


@pytest.mark.slow
def test_from_a_link_to_a_token_and_back(site: Service, shelf: Shelf) -> None:
    person, path = Person(site), link_of(shelf, "ann")
    assert "ann" in person.get(path).text
    answer = person.choose(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    account = person.get("/account")
    assert say("role.member") in account.text
    assert "Firefox on Linux" in account.text
    made = person.made("/account/tokens", name="Portal", scope=["account", "maps"], days="30")
    (token,) = re.findall(rf"{PREFIX}\w+", made.text)
    assert is_well_formed(token)
    site.token = token
    assert site.get("/users/me").json()["UserName"] == "ann"
    assert [one["Title"] for one in site.get("/maps").json()] == [GARDEN.title]
    listed = person.get("/account/tokens")
    assert "Portal" in listed.text
    assert token not in listed.text
    (revoke,) = (form for form in forms(listed) if form.buttons)
    answer = person.send(revoke, **dict(revoke.buttons))
    assert answer.headers["Location"] == "/account/tokens?done=token"
    told = person.get(answer.headers["Location"]).text
    assert say("done.token") in told
    assert "Portal" not in told
    until(site, lambda: site.get("/maps").status_code == 401)
    answer = person.fill("/signout")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert not person.session
    assert person.get("/account", 303).headers["Location"] == "/signin?next=%2Faccount"
    answer = person.sign_in("ANN", path="/signin?next=%2Faccount")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    person.get("/account")


def test_reloading_a_page_with_a_new_secret_creates_nothing(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.INVITE)
    boss = member(site, shelf, "boss", Role.ADMINISTRATOR)
    for path, values, secret in (
        ("/account/tokens", {"name": "Portal", "scope": "maps", "days": "30"}, PREFIX),
        ("/account/invitations", {}, LINK_PREFIX),
        ("/account/feeds", {}, FEED_PREFIX),
    ):
        assert len(re.findall(rf"{secret}\w{{49}}", boss.made(path, **values).text)) == 1
        for _ in range(2):
            page = boss.get(path)
            assert secret not in page.text
            assert "Set-Cookie" not in page.headers
    assert sorted(one.scopes for one in shelf.store.tokens("boss")) == ["feeds", "maps"]
    assert len(shelf.store.invitations(milliseconds())) == 1


@pytest.mark.slow
def test_a_page_shows_new_secrets_only_to_their_owner(start: Start, shelf: Shelf) -> None:
    """Others can set cookies: an attacker over HTTP, or whoever used the browser before."""
    site = start(registration=Registration.INVITE)
    ann = member(site, shelf, "ann", Role.ADMINISTRATOR)
    member(site, shelf, "ben")
    withdrawn = shelf.token("ann")
    shelf.store.revoke_token(shelf.store.tokens("ann")[0].id)
    others = {
        "/account/tokens": (shelf.token("ben"), new_token(), withdrawn, shelf.session("ann")),
        "/account/invitations": (
            new_invitation(shelf.store, milliseconds()),
            new_password_link(shelf.store, user_named(shelf, "ann"), milliseconds()),
            new_token(LINK_PREFIX),
        ),
        "/account/feeds": (
            shelf.token("ben", scopes="feeds", prefix=FEED_PREFIX),
            new_token(FEED_PREFIX),
            shelf.token("ann", scopes="maps", prefix=FEED_PREFIX),
        ),
    }
    own = {
        "/account/tokens": shelf.token("ann"),
        "/account/feeds": shelf.token("ann", scopes="feeds", prefix=FEED_PREFIX),
    }
    for path, secrets in others.items():
        for secret in (*secrets, "x", "<b>"):
            assert shown(ann, path, secret) == "", (path, secret)
    for path, secret in own.items():
        assert secret in shown(ann, path, secret)


def shown(person: Person, path: str, secret: str) -> str:
    """Return the secret that a page shows if the cookie for new secrets has this one."""
    cookie = f"__Host-mapshelf_session={person.session}; __Host-mapshelf_made={secret}"
    page = person.get(path, Cookie=cookie)
    found = re.search('<code class="secret">(.*?)</code>', page.text)
    return found[1] if found else ""


def test_a_token_gets_the_name_scope_and_days_of_its_form(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    before = milliseconds()
    person.fill("/account/tokens", name=" Upload ", scope=["maps:write"], days="7")
    (token,) = shelf.store.tokens("ann")
    assert (token.label, token.scopes) == ("Upload", "maps:write")
    assert token.expires is not None
    assert 0 <= token.expires - before - 7 * 86_400_000 < 60_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"name": "two\nlines"},
        {"scope": []},
        {"scope": ["root"]},
        {"scope": ["maps", "root"]},
        {"days": ""},
        {"days": "0"},
        {"days": "-1"},
        {"days": "36501"},
        {"days": "9" * 400},
        {"days": "١٢"},
    ],
)
def test_a_token_that_cannot_be_made(
    site: Service, shelf: Shelf, values: dict[str, str | list[str]]
) -> None:
    person = member(site, shelf, "ann")
    given: dict[str, str | list[str]] = {"name": "Portal", "scope": ["maps"], "days": "30"}
    answer = person.fill("/account/tokens", **{**given, **values})
    assert answer.status_code == 400
    assert say("failure.token") in answer.text
    assert shelf.store.tokens("ann") == []


def test_the_number_of_tokens_is_limited(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    for _ in range(MOST_TOKENS):
        shelf.token("ann")
    answer = person.fill("/account/tokens", name="One more", scope=["maps"])
    assert answer.status_code == 409
    assert say("failure.too_many") in answer.text
    assert len(shelf.store.tokens("ann")) == MOST_TOKENS


def test_tokens_and_sessions_of_others_cannot_be_ended(site: Service, shelf: Shelf) -> None:
    ann, ben = member(site, shelf, "ann"), member(site, shelf, "ben")
    shelf.token("ben")
    (token,) = shelf.store.tokens("ben")
    user = user_named(shelf, "ben")
    (session,) = shelf.store.sessions(user.id)
    fields = ann.form("/account").fields
    for number in (token.id, session.id, 0, "x", "9" * 50):
        assert ann.post("/account/tokens", {**fields, "revoke": str(number)}).status_code == 303
        assert ann.post("/account", {**fields, "session": str(number)}).status_code == 303
    assert [one.revoked for one in shelf.store.tokens("ben")] == [None]
    assert shelf.store.sessions(user.id)
    ben.get("/account")


def test_a_link_works_once_and_opening_it_does_not_use_it_up(site: Service, shelf: Shelf) -> None:
    person, path = Person(site), link_of(shelf, "ann")
    for _ in range(3):
        person.get(path)
    assert person.choose(path).status_code == 303
    gone = person.get(path, 404)
    assert say("failure.link") in gone.text
    late = person.post(path, {"new": OTHER, "again": OTHER})
    assert late.status_code == 404
    assert Person(site).sign_in("ann").status_code == 303
    assert Person(site).sign_in("ann", OTHER).status_code == 403


def test_all_invalid_links_get_the_same_page(site: Service, shelf: Shelf) -> None:
    user = shelf.store.add_user("ann")
    expired = new_password_link(shelf.store, user, milliseconds() - LIFETIMES[LinkKind.PASSWORD])
    invitation = new_invitation(shelf.store, milliseconds())  # because registration is closed
    secrets = (expired, invitation, new_token(LINK_PREFIX), new_token(), "x", "msl_")
    told = {Person(site).get(f"/link/{secret}", 404).content for secret in secrets}
    assert len(told) == 1


def test_a_link_works_until_a_password_is_accepted(site: Service, shelf: Shelf) -> None:
    person, path = Person(site), link_of(shelf, "annabella")
    refused = {
        "short": "short",
        "long": "x1 " * 70,
        "common": "password1234",
        "name": "annabella123",
    }
    for rule, password in refused.items():
        answer = person.choose(path, password)
        assert answer.status_code == 400
        assert say(f"password.{rule}") in answer.text
        assert f'"{password}"' not in answer.text
    answer = person.fill(path, new=PASSWORD, again=OTHER)
    assert say("password.differ") in answer.text
    assert person.choose(path).status_code == 303


def test_a_link_is_not_sent_as_referrer(site: Service, shelf: Shelf) -> None:
    person, path = Person(site), link_of(shelf, "ann")
    for answer in (person.get(path), person.get("/link/x", 404)):
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    (form,) = forms(person.get(path))
    # With this policy, browsers do not send the origin of the form either.
    answer = person.post(
        form.action, {**form.fields, "new": PASSWORD, "again": PASSWORD}, Origin="null"
    )
    assert answer.status_code == 303
    assert path not in answer.headers["Location"]
