"""Signing in with an OpenID provider at another site, in a real browser with our policies."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.harness import Shelf, shelf_with
from tests.person import PASSWORD, link_of, user_named
from tests.site.browser import Reader, served
from tests.site.people.openid_provider import CLIENT_ID, CLIENT_SECRET, small_provider
from tests.site.people.test_in_browser import PHONE, check, type_password
from tests.site.shelves import GARDEN


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("providers"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a catalogue whose provider is at another site."""
    secret = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text(CLIENT_SECRET)
    with small_provider("localhost") as provider:
        options = (
            *("--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT_ID),
            *("--oidc-client-secret-file", str(secret), "--oidc-name", "Example ID"),
        )
        with served(shelf.settings.data, *options) as address:
            yield address


@pytest.fixture(params=[False, True], ids=["under our policies", "judged by axe"])
def judged(request: pytest.FixtureRequest) -> bool:
    """Whether axe checks the pages, which is only possible without the content security policy."""
    return bool(request.param)


def test_linking_and_signing_in(browser: Browser, house: str, shelf: Shelf, judged: bool) -> None:
    guest = Reader(browser, house, viewport=PHONE, bypass_csp=judged)
    name = "ann" if judged else "bob"
    page = guest.open(link_of(shelf, name))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Accounts elsewhere").click()
    if judged:
        check(page)
    page.get_by_role("button", name="Link your Example ID account").click()
    expect(page.get_by_role("status")).to_contain_text("Your account is linked")
    if judged:
        check(page)
    assert len(shelf.store.identities(user_named(shelf, name).id)) == 1
    page.get_by_role("link", name="Back to the account").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{house}/account")
    if judged:
        check(page)
    page.get_by_role("link", name="Sign in with Example ID").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_role("link", name="Accounts elsewhere").click()
    page.get_by_role("button", name="Unlink").click()
    expect(page.get_by_role("status")).to_contain_text("no longer linked")
    page.get_by_role("link", name="Back to the account").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{house}/signin")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{house}/")
    assert len(guest.complaints) == 2
    assert all("localhost" in one and "/authorize?" in one for one in guest.complaints)
    guest.complaints.clear()
    guest.close()
