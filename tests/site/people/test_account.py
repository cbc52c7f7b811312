"""The account page, invitations and registration, also with hostile names."""

import re

import pytest

from mapshelf.accounts.one_time_links import new_invitation
from mapshelf.clock import milliseconds
from mapshelf.model import Role
from mapshelf.settings import Registration
from mapshelf.site.messages import say
from tests.harness import Service, Shelf
from tests.person import (
    OTHER,
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
from tests.site.shelves import STRIKES
from tests.site.test_pages import Reading, read


@pytest.mark.slow
def test_sessions_are_listed_and_ended(site: Service, shelf: Shelf) -> None:
    desk, phone, other = (
        member(site, shelf, "ann"),
        Person(site, agent="Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Version/19 Safari/605"),
        Person(site, agent="curl/8"),
    )
    for one in (phone, other):
        assert one.sign_in("ann").status_code == 303
    page = desk.get("/account")
    assert "Safari on iPhone" in page.text
    assert page.text.count(say("session.present")) == 1
    ends = [form for form in forms(page) if form.buttons]
    assert len(ends) == 3, "one button for each of two sessions, and one for all others"
    by_phone = re.search(r'value="(\d+)" aria-label="End the session Safari on iPhone"', page.text)
    assert by_phone
    answer = desk.send(ends[0], session=by_phone[1])
    assert answer.headers["Location"] == "/account?done=session"
    assert say("done.session") in desk.get(answer.headers["Location"]).text
    until(site, lambda: not is_signed_in(phone))
    assert is_signed_in(other)
    page = desk.get("/account")
    (last,) = (form for form in forms(page) if ("others", "1") in form.buttons)
    desk.send(last, others="1")
    until(site, lambda: not is_signed_in(other))
    assert is_signed_in(desk)


def test_adding_a_passkey_needs_a_recent_session(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attacker with a stolen session could sign in with the passkey to get a new session."""
    ann = member(site, shelf, "ann")
    fields = ann.form("/account/passkeys").fields
    assert ann.post("/account/passkeys", fields).json()["challenge"]
    monkeypatch.setattr("mapshelf.accounts.own_account.YOUNG", -1_000_000)
    page = ann.get("/account/passkeys")
    assert say("account.young") in page.text
    assert "data-passkey" not in page.text
    for more in ({}, {"credential": "{}"}):
        answer = ann.post("/account/passkeys", {**fields, **more})
        assert (answer.status_code, say("failure.session_old") in answer.text) == (403, True)


@pytest.mark.slow
def test_a_user_without_a_password_can_choose_one(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.store.add_user("cat")
    cat = Person(site)
    cat.client.cookies.set("__Host-mapshelf_session", shelf.session("cat"))
    assert 'name="present"' not in cat.get("/account/password").text
    assert cat.fill("/account/password", new=OTHER, again=OTHER, present="guess").status_code == 403
    monkeypatch.setattr("mapshelf.accounts.own_account.YOUNG", -1_000_000)
    answer = cat.fill("/account/password", new=OTHER, again=OTHER)
    assert (answer.status_code, say("failure.session_old") in answer.text) == (403, True)
    monkeypatch.undo()
    answer = cat.fill("/account/password", new=OTHER, again=OTHER)
    assert answer.headers["Location"] == "/account?done=password"
    assert is_signed_in(cat)
    assert Person(site).sign_in("cat", OTHER).status_code == 303
    assert 'name="present"' in cat.get("/account/password").text
    assert cat.fill("/account/password", new=PASSWORD, again=PASSWORD).status_code == 403


def test_changing_the_password_ends_other_sessions_but_no_tokens(
    site: Service, shelf: Shelf
) -> None:
    person, other = member(site, shelf, "ann"), Person(site)
    other.sign_in("ann")
    site.token = shelf.token("ann")
    link = link_of(shelf, "ann")
    answer = person.fill("/account/password", present=OTHER, new=OTHER, again=OTHER)
    assert answer.status_code == 403
    answer = person.fill("/account/password", present=PASSWORD, new="short", again="short")
    assert (answer.status_code, say("password.short") in answer.text) == (400, True)
    answer = person.fill("/account/password", present=PASSWORD, new=OTHER, again=PASSWORD)
    assert (answer.status_code, say("password.differ") in answer.text) == (400, True)
    answer = person.fill("/account/password", present=PASSWORD, new=OTHER, again=OTHER)
    assert answer.headers["Location"] == "/account?done=password"
    assert say("done.password") in person.get(answer.headers["Location"]).text
    until(site, lambda: not is_signed_in(other))
    assert is_signed_in(person)
    assert site.get("/maps").status_code == 200
    person.get(link, 404)
    assert Person(site).sign_in("ann", OTHER).status_code == 303


@pytest.mark.slow
@pytest.mark.parametrize("by_link", [False, True])
def test_changing_the_password_can_revoke_tokens_and_other_ways_in(
    site: Service, shelf: Shelf, by_link: bool
) -> None:
    person = member(site, shelf, "ann")
    site.token = shelf.token("ann")
    user = user_named(shelf, "ann").id
    shelf.store.link_identity(user, "https://id.example", "ann", "Ann")
    page = link_of(shelf, "ann") if by_link else "/account/password"
    known = {} if by_link else {"present": PASSWORD}
    both = ["programs", "ways"]
    answer = person.fill(page, new=OTHER, again=PASSWORD, ending=both, **known)
    assert answer.status_code == 400
    assert answer.text.count(" checked>") == 2, "the choices were lost"
    assert site.get("/maps").status_code == 200
    assert len(shelf.store.identities(user)) == 1
    before = len(events(shelf))
    answer = person.fill(page, new=OTHER, again=OTHER, ending=both, **known)
    assert answer.status_code == 303
    if not by_link:
        assert say("done.password.access") in person.get(answer.headers["Location"]).text
    until(site, lambda: site.get("/maps").status_code == 401)
    assert shelf.store.identities(user) == []
    assert events(shelf)[before : before + 2] == ["password.changed", "access.ended"]
    ended = [one.entry for one in shelf.store.audit_records(0, 0, 100)][before + 1]
    assert ended.target == "tokens, programs, passkeys, linked accounts"
    assert is_signed_in(person)


def test_the_first_password_link_offers_no_revocation(site: Service, shelf: Shelf) -> None:
    person, path = Person(site), link_of(shelf, "ann")
    assert say("password.ending") not in person.get(path).text
    person.choose(path)
    assert say("password.ending") in Person(site).get(link_of(shelf, "ann")).text


def test_a_disabled_user_is_signed_out(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    shelf.store.disable_user("ann")
    until(site, lambda: not is_signed_in(person))
    assert person.sign_in("ann").status_code == 403
    shelf.store.enable_user("ann")
    assert Person(site).sign_in("ann").status_code == 303


def test_the_done_parameter_takes_only_known_values(site: Service, shelf: Shelf) -> None:
    person = member(site, shelf, "ann")
    for done in ("x", "<b>", ""):
        assert 'role="status"' not in person.get(f"/account?done={done}").text


@pytest.mark.slow
def test_an_invitation_is_made_used_and_withdrawn(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.INVITE)
    boss = member(site, shelf, "boss", Role.ADMINISTRATOR)
    assert 'href="/account/invitations"' in boss.get("/account").text
    made = boss.made("/account/invitations")
    (path,) = re.findall(r"https://maps\.example\.org(/link/msl_\w+)", made.text)
    assert path not in boss.get("/account/invitations").text
    guest = Person(site)
    for values in (
        {"name": "", "new": PASSWORD, "again": PASSWORD},
        {"name": "x" * 101, "new": PASSWORD, "again": PASSWORD},
        {"name": "Boss", "new": PASSWORD, "again": PASSWORD},
        {"name": "guest", "new": PASSWORD, "again": OTHER},
        {"name": "guest", "new": "short", "again": "short"},
    ):
        assert guest.fill(path, **values).status_code in (400, 409)
    answer = guest.fill(path, name=" guest ", new=PASSWORD, again=PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account?done=registered")
    page = guest.get(answer.headers["Location"])
    assert say("done.registered") in page.text
    assert say("role.member") in page.text
    guest.get(path, 404)
    assert {one.name for one in shelf.store.users()} >= {"guest"}
    boss.fill("/account/invitations")
    page = boss.get("/account/invitations")
    (withdraw,) = (form for form in forms(page) if form.buttons)
    answer = boss.send(withdraw, **dict(withdraw.buttons))
    assert say("done.invitation") in boss.get(answer.headers["Location"]).text
    assert shelf.store.invitations(milliseconds()) == []
    for nonsense in ("x", "00", "ff" * 32):
        assert boss.send(withdraw, withdraw=nonsense).status_code == 303


@pytest.mark.slow
def test_pages_of_administrators_are_not_found_for_members(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.INVITE)
    ann = member(site, shelf, "ann")
    assert "invitations" not in ann.get("/account").text
    (form, *_) = forms(ann.get("/account"))
    assert ann.get("/account/invitations", 404).text == ann.get("/mindmaps/none", 404).text
    assert ann.post("/account/invitations", form.fields).status_code == 404
    assert shelf.store.invitations(milliseconds()) == []
    shelf.store.set_role("ann", Role.ADMINISTRATOR)
    until(site, lambda: ann.status("/account/invitations") == 200)


@pytest.mark.parametrize("registration", Registration)
def test_who_may_register(start: Start, shelf: Shelf, registration: Registration) -> None:
    site = start(registration=registration)
    guest, is_open = Person(site), registration is Registration.OPEN
    assert guest.status("/register") == (200 if is_open else 404)
    assert ('href="/register"' in guest.get("/signin").text) == is_open
    *_, form = forms(guest.get("/signin"))
    fields = {**form.fields, "name": "guest", "new": PASSWORD, "again": PASSWORD}
    answer = guest.post("/register", fields)
    assert answer.status_code == (303 if is_open else 404)
    assert ("guest" in {one.name for one in shelf.store.users()}) == is_open
    invitation = f"/link/{new_invitation(shelf.store, milliseconds())}"
    closed = registration is Registration.CLOSED
    assert guest.status(invitation) == (404 if closed else 200)
    answer = Person(site).post(invitation, {**fields, "name": "invited"})
    assert answer.status_code == (404 if closed else 403)


@pytest.mark.slow
def test_registering(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.OPEN)
    guest = Person(site)
    taken = guest.fill("/register", name="READER", new=PASSWORD, again=PASSWORD)
    assert taken.status_code == 409
    assert say("failure.name.taken") in taken.text
    assert 'value="READER"' in taken.text
    for name in ("system", "System"):
        answer = guest.fill("/register", name=name, new=PASSWORD, again=PASSWORD)
        assert answer.status_code == 409
    answer = guest.fill("/register", name="a\tb", new=PASSWORD, again=PASSWORD)
    assert (answer.status_code, say("failure.name") in answer.text) == (400, True)
    answer = guest.fill("/register", name="deleted user 5", new=PASSWORD, again=PASSWORD)
    assert (answer.status_code, say("failure.name.unusable") in answer.text) == (400, True)
    assert guest.fill("/register", name="guest", new=PASSWORD, again=PASSWORD).status_code == 303
    guest.get("/account")


def values_of(reading: Reading) -> list[str]:
    return [attributes.get("value", "") for _, attributes in reading.found]


@pytest.mark.slow
def test_hostile_names_and_labels_are_escaped(start: Start, shelf: Shelf) -> None:
    site = start(registration=Registration.OPEN)
    for number, strike in enumerate(STRIKES):
        name = "".join(filter(str.isprintable, strike))[:90].strip()
        person = Person(
            site, f"203.0.113.{number}", agent=strike.encode("ascii", "ignore").decode()
        )
        answer = person.fill("/register", name=name, new=PASSWORD, again=PASSWORD)
        assert answer.status_code == 303, name
        shelf.token(name)
        person.fill("/account/tokens", name=name, scope=["maps"])
        pages = [person.get(path) for path in ("/account", "/account/tokens", "/signout")]
        pages.append(Person(site, f"203.0.113.{number}").sign_in(name, OTHER))
        for page in pages:
            reading = read(page)
            assert not reading.wrong
            assert reading.open == []
            tags = {tag for tag, _ in reading.found}
            assert tags.isdisjoint(("iframe", "base", "math", "details", "textarea"))
            for tag, attributes in reading.found:
                assert tag != "script" or attributes["src"].startswith("/static/")
                assert not [one for one in attributes if one.startswith("on") or one == "style"]
            shown = {" ".join(text.split()) for text in (reading.text, *values_of(reading))}
            assert any(" ".join(name.split()) in text for text in shown), page.url
