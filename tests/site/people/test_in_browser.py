"""Accounts in a real browser on a small phone: invitation, reading a map, tokens, signing out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from mapshelf.model import Role
from tests.harness import Shelf, shelf_with
from tests.person import OTHER, PASSWORD, PROMISE, link_of, user_named
from tests.site.accessibility import faults_in_both_schemes
from tests.site.browser import Reader, served
from tests.site.shelves import GARDEN

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("people"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    """The address of a private catalogue."""
    with served(shelf.settings.data, "--private", "--registration", "invite") as address:
        yield address


@pytest.fixture
def guest(browser: Browser, house: str) -> Iterator[Reader]:
    person = Reader(browser, house, viewport=PHONE, has_touch=True, is_mobile=True, bypass_csp=True)
    yield person
    person.close()


def check(page: Page) -> None:
    """Check that a page fits the screen and that axe finds nothing, in light and dark mode."""
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert not faults_in_both_schemes(page), page.url


def shown_secret(page: Page) -> str:
    return page.locator(".secret").inner_text().strip()


def type_password(page: Page, password: str = PASSWORD) -> None:
    fields = page.locator("[autocomplete=new-password]")
    fields.nth(0).fill(password)
    fields.nth(1).fill(password)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def invited(page: Page) -> str:
    """Create an invitation, and return its address."""
    page.get_by_role("link", name="Invitations").click()
    page.get_by_role("button", name="Create an invitation").click()
    check(page)
    return shown_secret(page)


def read_a_map(page: Page) -> None:
    page.get_by_role("link", name="Mapshelf").first.click()
    page.get_by_role("link", name=GARDEN.title).first.click()
    expect(page.locator("#stage > svg")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown").click()
    assert "# A kitchen garden" in Path(download.value.path()).read_text()


def make_and_revoke_a_token(page: Page) -> None:
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="Access tokens").click()
    check(page)
    page.get_by_label("Name", exact=True).fill("Portal")
    page.get_by_label("add and change maps").check()
    page.get_by_label("Expires").select_option(label="after 7 days")
    page.get_by_role("button", name="Create token").click()
    check(page)
    assert re.fullmatch(r"msh_\w{49}", shown_secret(page))
    page.get_by_role("button", name="Revoke the token Portal").click()
    expect(page.get_by_role("status")).to_have_text("The token has been revoked.")
    page.get_by_role("link", name="Back to the account").click()


def make_and_withdraw_an_address(page: Page) -> None:
    check(page)
    page.get_by_role("button", name="Create an address").click()
    check(page)
    secret = r".*/feeds/msf_\w{49}\.atom"
    assert re.fullmatch(secret, shown_secret(page))
    page.reload()
    expect(page.locator(".secret")).to_have_count(0)
    page.get_by_role("button", name="Delete the address").click()
    expect(page.get_by_role("status")).to_have_text("The address has been deleted.")


def type_wrong_passwords(page: Page) -> None:
    page.get_by_role("link", name="Change password").click()
    check(page)
    page.get_by_label("Current password").fill(OTHER)
    type_password(page, OTHER)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong username or password.")
    check(page)
    page.get_by_role("link", name="Back to the account").click()
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    check(page)
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(OTHER)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("Wrong username or password.")
    check(page)


def test_from_an_invitation_to_a_map_and_a_token(shelf: Shelf, guest: Reader, house: str) -> None:
    page = guest.open(link_of(shelf, "boss", Role.ADMINISTRATOR))
    check(page)
    type_password(page)
    page.get_by_role("button", name="Save").click()
    heading(page, "boss")
    check(page)
    invitation = invited(page)
    assert invitation.startswith(f"{house}/link/")
    guest.go(page, "/account")
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    guest.go(page, invitation.removeprefix(house))
    check(page)
    page.get_by_label("Username").fill("ann")
    type_password(page)
    page.keyboard.press("Enter")
    heading(page, "ann")
    read_a_map(page)
    make_and_revoke_a_token(page)
    guest.go(page, "/account/feeds")
    make_and_withdraw_an_address(page)
    guest.go(page, "/account")
    type_wrong_passwords(page)
    guest.go(page, "/link/msl_none")
    check(page)
    # The browser logs every response with an error status.
    guest.complaints = [one for one in guest.complaints if not re.search("40[34]", one)]


def test_pictures_are_not_shown_after_signing_out(shelf: Shelf, guest: Reader) -> None:
    page = guest.open(link_of(shelf, "ben"))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    guest.go(page, "/")
    address = page.locator(".picture img").first.evaluate("image => image.currentSrc")
    load = "address => fetch(address).then(answer => answer.status)"
    assert page.evaluate(load, address) == 200
    guest.go(page, "/signout")
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    assert page.evaluate(load, address) == 401
    guest.go(page, "/account")
    heading(page, "Sign in")
    guest.complaints = [one for one in guest.complaints if "401" not in one]


def test_all_of_it_works_with_keys_alone(shelf: Shelf, browser: Browser, house: str) -> None:
    person = Reader(browser, house, java_script_enabled=False)
    page = person.open(link_of(shelf, "cat"))
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    for text in (PASSWORD, PASSWORD):
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    heading(page, "cat")
    person.close()


def test_a_search_continues_after_signing_in_again(shelf: Shelf, guest: Reader) -> None:
    page = guest.open(link_of(shelf, "dot"))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    heading(page, "dot")
    guest.go(page, "/")
    shelf.store.end_sessions(user_named(shelf, "dot").id, None)
    page.wait_for_timeout(PROMISE * 1000)
    page.fill("#query", "carrots")
    heading(page, "Sign in")
    page.get_by_label("Username").fill("dot")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator(".hit mark").first).to_have_text("Carrots")
    guest.complaints = [one for one in guest.complaints if "401" not in one]
