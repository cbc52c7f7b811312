"""Signing in: who can, who cannot, and which page comes next."""

import asyncio
import re
import time
from collections.abc import Iterator

import httpx
import pytest

from mapshelf.accounts import passwords
from mapshelf.site import site_routes
from mapshelf.site.messages import say
from mapshelf.tokens import LINK_PREFIX, new_token
from tests.conftest import make_hashes_cheap
from tests.harness import Service, Shelf, copied_shelf
from tests.person import (
    OTHER,
    PASSWORD,
    Person,
    Start,
    forms,
    is_signed_in,
    link_of,
    member,
    until,
    user_named,
)
from tests.site.shelves import GARDEN


@pytest.fixture(scope="module")
def site_of_ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service where ann has an account, for tests that only sign in."""
    with (
        pytest.MonkeyPatch.context() as patch,
        copied_shelf(tmp_path_factory.mktemp("ann"), GARDEN) as shelf,
        Service(shelf.settings, "", site_routes) as running,
    ):
        make_hashes_cheap(patch)
        member(running, shelf, "ann")
        yield running


def masked(answer: httpx.Response, *secrets: str) -> str:
    """Return a page without the parts that differ each time or come from the form."""
    text = re.sub(r'(name="csrf_token" value=")[^"]*', r"\1", answer.text)
    for secret in secrets:
        text = text.replace(secret, "")
    return text


@pytest.mark.slow
def test_unknown_and_known_names_get_the_same_answers(site: Service, shelf: Shelf) -> None:
    member(site, shelf, "known")
    shelf.store.add_user("without")
    shelf.store.add_user("disabled")
    shelf.store.disable_user("disabled")
    answers = []
    for number, name in enumerate(("known", "nobody", "without", "disabled", "system", "a" * 150)):
        person = Person(site, f"192.0.2.{number + 10}")
        of_one = [person.sign_in(name, OTHER) for _ in range(7)]
        assert [one.status_code for one in of_one] == [403] * 5 + [429] * 2
        assert not person.session
        answers.append(
            [
                (masked(one, name), one.headers.get("Retry-After"), sorted(one.headers))
                for one in of_one
            ]
        )
    assert all(one == answers[0] for one in answers)


def test_wrong_passwords_are_throttled(site: Service, shelf: Shelf) -> None:
    member(site, shelf, "ann")
    guesser = Person(site, "192.0.2.9")
    for _ in range(5):
        assert guesser.sign_in("ann", OTHER).status_code == 403
    refused = guesser.sign_in("ann")
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 5
    assert say("failure.credentials") not in refused.text
    assert Person(site, "192.0.2.1").sign_in("ann").status_code == 303, "the owner waits"
    assert guesser.choose(link_of(shelf, "ann"), OTHER).status_code == 303, "a link is delayed, too"


def test_guesses_of_the_present_password_are_throttled(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    told = [
        person.fill("/account/password", present=f"wrong {n}", new=OTHER, again=OTHER).status_code
        for n in range(6)
    ]
    assert told == [403] * 5 + [429]
    assert Person(site, "192.0.2.200").sign_in("ann").status_code == 303


@pytest.mark.slow
def test_signing_in_prevents_session_fixation(site: Service, shelf: Shelf) -> None:
    """Session fixation: an attacker gains nothing by putting a session into another's browser."""
    member(site, shelf, "ann")
    planted = shelf.session()
    victim, thief = Person(site), Person(site)
    form = victim.form("/signin")
    for one in (victim, thief):
        one.client.cookies.set("__Host-mapshelf_session", planted, domain="maps.example.org")
    assert is_signed_in(thief)
    assert victim.send(form, name="ann", password=PASSWORD).status_code == 303
    assert victim.session not in ("", planted)
    assert "ann" in victim.get("/account").text
    until(site, lambda: not is_signed_in(thief))


def test_signing_in_again_replaces_the_session(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    first, path = person.session, link_of(shelf, "ann")
    assert person.choose(path, OTHER).status_code == 303
    assert person.session != first
    assert len(shelf.store.sessions(user_named(shelf, "ann").id)) == 1


def test_the_cookie_of_a_session(site: Service, shelf: Shelf) -> None:
    answer = Person(site).choose(link_of(shelf, "ann"))
    name, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert name.startswith("__Host-mapshelf_session=mss_")
    assert set(attributes) == {
        "Secure", "Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={30 * 86_400}",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "\t//evil.example",
        "/\n/evil.example",
        " /account",
        "evil.example",
        "javascript:alert(1)",
        "/account\r\nSet-Cookie: a=b",
        "/account#x",
        "/../x",
        "/%2e%2e/x",
        "/%2E./x",
        "/\x00",
        "/é",
        "/" + "x" * 3000,
        "",
    ],
)
def test_after_signing_in_only_local_addresses_are_next(site_of_ann: Service, target: str) -> None:
    person = Person(site_of_ann)
    *_, form = forms(person.get("/signin"))
    answer = person.send(form, name="ann", password=PASSWORD, next=target)
    if "\x00" in target:
        assert answer.status_code == 400
        return
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    shown = person.get("/signin?" + str(httpx.QueryParams({"next": target})), 303)
    assert shown.headers["Location"] == "/"


@pytest.mark.parametrize(
    "target", ["/account/tokens", "/?query=a+b&offset=24", "/owners/%E6%9D%8E", "/a//b", "/x?y=//z"]
)
def test_signing_in_leads_to_the_requested_page(site_of_ann: Service, target: str) -> None:
    address = "/signin?" + str(httpx.QueryParams({"next": target}))
    answer = Person(site_of_ann).sign_in("ann", path=address)
    assert answer.headers["Location"] == target


def test_a_base_url_with_a_path(start: Start, shelf: Shelf) -> None:
    site = start(base_url="https://maps.example.org/shelf")
    person = Person(site)
    found = person.get("/account", 303).headers["Location"]
    assert found == "/shelf/signin?next=%2Fshelf%2Faccount"
    *_, form = forms(person.get("/signin?next=%2Faccount"))
    assert form.action == "/shelf/signin"
    assert "next" not in form.fields, "it leaves the base path"


def test_the_form_keeps_the_name_but_not_the_password(site: Service) -> None:
    answer = Person(site).sign_in("somebody", OTHER)
    assert 'value="somebody"' in answer.text
    assert OTHER not in answer.text
    assert 'role="alert"' in answer.text


def test_signing_in_says_why_it_does_not_work(site: Service, shelf: Shelf) -> None:
    person = Person(site)
    *_, form = forms(person.get("/signin"))
    site.application.application.context.store.get().close()
    answer = person.send(form, name="ann", password=PASSWORD)
    assert answer.status_code == 503
    assert say("failure.store") in answer.text
    assert answer.headers["Retry-After"]
    answer = person.get(f"/link/{new_token(LINK_PREFIX)}", 503)
    assert say("error.unavailable") in answer.text


@pytest.mark.slow
def test_too_many_sign_ins_are_refused_at_once(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most two passwords are hashed at once, and only a few requests may wait."""
    member(site, shelf, "ann")
    running, most = 0, 0
    verify = passwords.verify

    def slow(password: str, encoded: str | None) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.05)
        running -= 1
        return verify(password, encoded)

    monkeypatch.setattr("mapshelf.accounts.sign_in.verify", slow)
    people = [Person(site, f"198.51.100.{n}") for n in range(120)]
    sent = [forms(one.get("/signin"))[-1] for one in people]

    async def all_at_once() -> list[httpx.Response]:
        return await asyncio.gather(
            *(
                one.client.post(
                    form.action, data={**form.fields, "name": f"n{n}", "password": "wrong"}
                )
                for n, (one, form) in enumerate(zip(people, sent, strict=True))
            )
        )

    answers = site.run(all_at_once())
    told = [answer.status_code for answer in answers]
    assert set(told) == {403, 503}
    assert most == 2
    refused = [answer for answer in answers if answer.status_code == 503]
    assert all(answer.headers["Retry-After"] for answer in refused)
    # If the event loop is late, the application refuses requests before the page does.
    busy = say("failure.busy"), say("error.overloaded")
    assert all(any(words in answer.text for words in busy) for answer in refused)


def test_concurrent_attempts_are_all_counted(site: Service, shelf: Shelf) -> None:
    person = Person(site)
    *_, form = forms(person.get("/signin"))
    fields = {**form.fields, "name": "ann", "password": "wrong"}

    async def at_once() -> list[int]:
        sent = (person.client.post(form.action, data=fields) for _ in range(10))
        return [answer.status_code for answer in await asyncio.gather(*sent)]

    assert sorted(site.run(at_once())) == [403] * 5 + [429] * 5
