"""Publishing in a real browser: on a phone, on a desktop, with dropped files, by keyboard alone."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from mapshelf.accounts.one_time_links import new_invitation
from mapshelf.clock import milliseconds
from mapshelf.model import MapDetails, MapDraft, Visibility
from tests.harness import Shelf, shelf_with
from tests.person import PASSWORD, link_of
from tests.site.browser import Reader, served
from tests.site.people.test_in_browser import PHONE, check, heading, type_password
from tests.site.shelves import GARDEN

DESK: Final = {"width": 1280, "height": 800}

DROP: Final = """([names, texts]) => {
    const data = new DataTransfer();
    names.forEach((name, at) => data.items.add(new File([texts[at]], name)));
    const form = document.getElementById("drop");
    for (const kind of ["dragenter", "dragover", "drop"]) {
        form.dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }),
        );
    }
}"""
"""JavaScript that drops files with these names and texts."""


def plan(title: str) -> str:
    """Return a FreeMind file."""
    nodes = "".join(f'<node TEXT="Part {number}"/>' for number in range(4))
    return f'<map version="1.0.1"><node TEXT="{title}">{nodes}</node></map>'


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("publishing"), GARDEN) as full:
        yield full


@pytest.fixture(scope="module")
def house(shelf: Shelf) -> Iterator[str]:
    with served(shelf.settings.data, "--registration", "invite") as address:
        yield address


@pytest.fixture
def guest(browser: Browser, house: str) -> Iterator[Reader]:
    """A reader with a phone, without the content security policy, which would block axe."""
    person = Reader(browser, house, viewport=PHONE, has_touch=True, is_mobile=True, bypass_csp=True)
    yield person
    person.close()


@pytest.fixture
def strict(browser: Browser, house: str) -> Iterator[Reader]:
    """A reader with a desktop screen, who records violations of the content security policy."""
    person = Reader(browser, house, viewport=DESK)
    yield person
    person.close()


def files(folder: Path, **texts: str) -> list[str]:
    """Write files, and return their paths."""
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.mm"
        path.write_text(text)
        paths.append(str(path))
    return paths


def enter(shelf: Shelf, person: Reader, name: str, path: str = "/publish") -> Page:
    page = person.open(link_of(shelf, name))
    type_password(page)
    page.get_by_role("button", name="Save").click()
    heading(page, name)
    person.go(page, path)
    return page


def test_a_new_user_gets_from_an_invitation_to_a_published_map_on_a_phone(
    shelf: Shelf, guest: Reader, house: str, tmp_path: Path
) -> None:
    page = guest.open(f"/link/{new_invitation(shelf.store, milliseconds())}")
    page.get_by_label("Username").fill("newcomer")
    type_password(page)
    page.keyboard.press("Enter")
    heading(page, "newcomer")
    check(page)
    page.get_by_role("link", name="Publish", exact=True).first.click()
    heading(page, "Publish maps")
    check(page)
    page.get_by_label("Choose files").set_input_files(files(tmp_path, trip=plan("Trip")))
    heading(page, "Check your maps")
    expect(page.get_by_text("5 topics, 2 levels")).to_be_visible()
    guest.settle(page)
    assert page.locator(".upload img").evaluate("image => image.naturalWidth") == 640
    check(page)
    page.get_by_label("Title").fill("A trip by train")
    page.get_by_label("Category").select_option(label="Travel and Places")
    page.get_by_label("Tags").fill("train, summer")
    page.get_by_role("button", name="Publish", exact=True).click()
    heading(page, "A trip by train")
    guest.settle(page)
    expect(page.locator("#stage > svg")).to_be_visible()
    check(page)
    reader = page.context.browser.new_page(base_url=house)  # type: ignore[union-attr]
    answer = reader.goto(page.url)
    assert answer is not None
    assert answer.status == 200
    reader.wait_for_timeout(2000)
    reader.goto(f"{house}/?query=train")
    expect(reader.get_by_role("link", name="A trip by train").first).to_be_visible()
    reader.close()


def test_each_dropped_file_shows_its_result(shelf: Shelf, strict: Reader) -> None:
    page = enter(shelf, strict, "dan")
    names = ["one.mm", "<b>photo.jpg", "two.mm"]
    page.evaluate(DROP, [names, [plan("One"), "\xff\xd8", plan("Two")]])
    rows = page.locator("#sent-files li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Ready")
    expect(rows.nth(1)).to_contain_text("<b>photo.jpg")
    expect(rows.nth(1)).to_contain_text("This is not a mind map")
    expect(page.get_by_role("status")).to_have_text("Ready: 2. Refused: 1.")
    page.get_by_role("link", name="Check the others").click()
    expect(page.locator(".upload")).to_have_count(2)
    page.get_by_role("button", name="Discard “Two”").click()
    expect(page.locator(".upload")).to_have_count(1)
    page.get_by_label("Tags").fill(",".join("abcdefghijklmnopqrstuvwxyz"))
    page.get_by_label("Private").check()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_label("Tags")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Private")).to_be_checked()
    page.get_by_label("Tags").fill("one")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("This map is private")).to_be_visible()
    strict.settle(page)
    strict.complaints = [one for one in strict.complaints if "400" not in one]


def test_a_file_that_is_too_large_is_not_even_sent(shelf: Shelf, strict: Reader) -> None:
    page = enter(shelf, strict, "eve")
    page.evaluate("document.getElementById('drop').dataset.largest = 10")
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.method))
    page.evaluate(DROP, [["large.mm"], [plan("Large")]])
    expect(page.locator("#sent-files li")).to_contain_text("larger than")
    assert "POST" not in asked


def test_files_after_the_session_has_ended_lead_to_signing_in(shelf: Shelf, strict: Reader) -> None:
    page = enter(shelf, strict, "fay")
    page.context.clear_cookies()
    page.evaluate(DROP, [["one.mm"], [plan("One")]])
    heading(page, "Sign in")
    page.get_by_label("Username").fill("fay")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    heading(page, "Publish maps")


def test_publishing_pages_are_accessible_on_phone_and_desktop(
    shelf: Shelf, guest: Reader, tmp_path: Path
) -> None:
    page = enter(shelf, guest, "gil")
    page.get_by_label("Choose files").set_input_files(
        files(tmp_path, a=plan("An outing"), b=plan("Word" * 60))
    )
    heading(page, "Check your maps")
    check(page)
    page.get_by_label("Title").first.fill("")
    page.locator("form").evaluate_all("forms => forms.forEach(form => form.noValidate = true)")
    page.get_by_role("button", name="Publish all 2 maps").click()
    expect(page.get_by_text("A title must have 1 to 500 characters.")).to_be_visible()
    check(page)
    page.get_by_label("Title").first.fill("An outing")
    page.get_by_role("button", name="Publish all 2 maps").click()
    heading(page, "Your maps are ready")
    check(page)
    page.get_by_role("link", name="An outing").click()
    heading(page, "An outing")
    for name in ("Edit", "Files", "Remove"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("nav a[aria-current]")).to_have_text(name)
        check(page)
    page.get_by_role("button", name="Remove", exact=True).click()
    heading(page, "My maps")
    check(page)
    page.get_by_role("button", name="Restore “An outing”").click()
    heading(page, "An outing")
    guest.go(page, "/")
    page.get_by_role("link", name=GARDEN.title).first.click()
    page.get_by_role("button", name="Thumbs up").click()
    expect(page.get_by_role("button", name="Thumbs up")).to_have_attribute("aria-pressed", "true")
    check(page)
    page.get_by_role("button", name="Remove my vote").click()
    expect(page.get_by_role("button", name="Thumbs up")).to_have_attribute("aria-pressed", "false")
    guest.complaints = [one for one in guest.complaints if "400" not in one]


def test_all_of_it_works_without_scripts_and_with_keys(
    shelf: Shelf, browser: Browser, house: str, tmp_path: Path
) -> None:
    person = Reader(browser, house, viewport=PHONE, java_script_enabled=False)
    page = enter(shelf, person, "hal")
    page.get_by_label("Map files").set_input_files(files(tmp_path, plan=plan("Keys alone")))
    page.get_by_label("Map files").focus()
    until_focused(page, "Upload and preview")
    page.keyboard.press("Enter")
    heading(page, "Check your maps")
    page.get_by_label("Title").focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Typed with keys")
    page.keyboard.press("Enter")  # presses the first button of the form, which publishes
    heading(page, "Typed with keys")
    until_focused(page, "Edit")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Typed with keys")
    until_focused(page, "Save")
    page.keyboard.press("Enter")
    heading(page, "Typed with keys")
    person.close()


def until_focused(page: Page, name: str) -> None:
    """Press Tab until the element with this name is focused."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if re.fullmatch(name, page.locator(":focus").inner_text().strip()):
            return
    raise AssertionError(name)


def test_an_edit_form_that_was_open_for_long_undoes_nothing(shelf: Shelf, strict: Reader) -> None:
    shelf.put(MapDraft(id="edited", title="Two  words", owner="editor"))
    page = enter(shelf, strict, "editor", "/")
    found = shelf.store.find_map("edited")
    assert found is not None
    tricky = MapDetails(description="\n\n One\r\ntwo &amp; <b>\rthree \t\n", tags=("b & c", "a"))
    shelf.store.edit_map(found.file_id, tricky)
    strict.go(page, "/mindmaps/edited/two-words/edit")
    changes = MapDetails(visibility=Visibility.PRIVATE, description="Other", tags=("a", "d"))
    now = shelf.store.edit_map(found.file_id, changes)
    page.get_by_role("button", name="Save").click()
    heading(page, "Two words")
    assert shelf.store.find_map("edited") == now, "the browser changed a field that nobody touched"
    shelf.store.edit_map(found.file_id, tricky)
    strict.go(page, "/mindmaps/edited/two-words/edit")
    page.get_by_label("Tags").fill("b & c, a, e")
    now = shelf.store.edit_map(found.file_id, changes)
    page.get_by_role("button", name="Save").click()
    heading(page, "Two words")
    assert shelf.store.find_map("edited") == replace(now, tags=("a", "e", "d"))
