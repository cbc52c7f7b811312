"""Passkeys in Chromium, with an authenticator that Chromium simulates."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mapshelf.site.messages import say
from tests.harness import Shelf, shelf_with
from tests.person import events, link_of, user_named
from tests.site.browser import Reader, served
from tests.site.people.test_in_browser import PHONE, check, type_password
from tests.site.shelves import GARDEN

KEEPING = """
const send = HTMLFormElement.prototype.submit;
HTMLFormElement.prototype.submit = function () {
  sessionStorage.sent = new URLSearchParams(new FormData(this)).toString();
  send.call(this);
};
"""
"""JavaScript that records the content of a sent form."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("passkeys"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    """The address of a catalogue: passkeys need a host with a name."""
    with served(shelf.settings.data, host="localhost") as address:
        yield address


@pytest.fixture
def guest(browser: Browser, house: str) -> Iterator[Reader]:
    person = Reader(browser, house, viewport=PHONE)
    yield person
    person.close()


def authenticator(page: Page, *, verifying: bool = True) -> tuple[Any, str]:
    """Add an authenticator to the browser; return the session that controls it, and its id."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verifying,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, made["authenticatorId"]


def begin(guest: Reader, shelf: Shelf, name: str) -> Page:
    """Let a new user choose a password, and open their page of passkeys."""
    page = guest.open(link_of(shelf, name))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Passkeys").click()
    return page


def add(page: Page, name: str = "Phone") -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add a passkey").click()


def sign_out(page: Page) -> None:
    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/")


def sign_in(page: Page, house: str) -> None:
    page.goto(f"{house}/signin?next=/account")
    page.get_by_role("button", name="Sign in with a passkey").click()


def test_a_passkey_is_added_used_and_removed(guest: Reader, shelf: Shelf, house: str) -> None:
    page = begin(guest, shelf, "ann")
    authenticator(page)
    add(page)
    expect(page.get_by_role("status")).to_contain_text("The passkey has been added")
    (added,) = shelf.store.passkeys(user_named(shelf, "ann").id)
    assert (added.name, added.last_used) == ("Phone", None)
    add(page, "Again")
    expect(page.locator("form[data-passkey] [role=alert]")).to_be_visible()
    for _ in range(2):
        before = shelf.store.passkeys(user_named(shelf, "ann").id)[0]
        sign_out(page)
        sign_in(page, house)
        page.wait_for_url(f"{house}/account")
        expect(page.get_by_role("heading", level=1)).to_have_text("ann")
        after = shelf.store.passkeys(user_named(shelf, "ann").id)[0]
        assert after.sign_count > before.sign_count
        assert after.last_used
    page.get_by_role("link", name="Passkeys").click()
    page.get_by_role("button", name="Remove the passkey Phone").click()
    expect(page.get_by_role("status")).to_contain_text("has been removed")
    assert shelf.store.passkeys(user_named(shelf, "ann").id) == []
    noted = events(shelf)
    assert (noted.count("passkey.added"), noted.count("passkey.removed")) == (1, 1)
    sign_out(page)
    sign_in(page, house)
    expect(page.locator("p.failed:visible")).to_have_text(say("failure.passkey"))
    guest.complaints[:] = [one for one in guest.complaints if "403" not in one]


def test_an_authenticator_without_user_verification_is_refused(
    guest: Reader, shelf: Shelf, house: str
) -> None:
    page = begin(guest, shelf, "bob")
    authenticator(page, verifying=False)
    add(page)
    expect(page.locator("form[data-passkey] [role=alert]")).to_be_visible()
    assert shelf.store.passkeys(user_named(shelf, "bob").id) == []


def test_replayed_signatures_and_cloned_authenticators_are_refused(
    guest: Reader, shelf: Shelf, house: str
) -> None:
    """A replay attack: the authenticator's answer is recorded and sent again."""
    page = begin(guest, shelf, "eve")
    authenticator(page)
    add(page)
    expect(page.get_by_role("status")).to_be_visible()
    sign_out(page)
    page.add_init_script(KEEPING)
    sign_in(page, house)
    page.wait_for_url(f"{house}/account")
    sent = page.evaluate("sessionStorage.sent")
    assert "credential=%7B" in sent
    sign_out(page)
    for _ in range(2):
        answer = page.context.request.post(
            f"{house}/signin/passkey",
            data=sent,
            headers={"Content-Type": "application/x-www-form-urlencoded", "Origin": house},
            max_redirects=0,
        )
        assert answer.status == 403
        assert say("failure.passkey") in answer.text()
    # A cloned authenticator has a lower signature counter than the one stored.
    (passkey,) = shelf.store.passkeys(user_named(shelf, "eve").id)
    assert shelf.store.note_passkey_use(passkey.id, passkey.sign_count + 1000, 1)
    sign_in(page, house)
    expect(page.locator("p.failed:visible")).to_have_text(say("failure.passkey"))
    guest.complaints[:] = [one for one in guest.complaints if "403" not in one]


def test_the_passkey_pages_are_accessible(browser: Browser, shelf: Shelf, house: str) -> None:
    guest = Reader(browser, house, viewport=PHONE, bypass_csp=True)
    page = begin(guest, shelf, "cat")
    authenticator(page)
    check(page)
    add(page)
    expect(page.get_by_role("status")).to_be_visible()
    check(page)
    sign_out(page)
    page.goto(f"{house}/signin")
    check(page)
    guest.close()
    plain = Reader(browser, house, java_script_enabled=False)
    page = plain.open("/signin")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    plain.close()
