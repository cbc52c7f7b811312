"""Finding one map among several with the same title, in a library of real files.

Twelve real maps are called "Java". They are in folders of three levels, with other maps. The files
come from different programs. In some, the text of the central topic was changed to "Java".
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.process import CORPUS, Mapshelf
from tests.harness import shelf_with
from tests.site.accessibility import faults
from tests.site.browser import Reader, served

DEV = CORPUS / "dev"

CALLED_JAVA = (
    *("freeplane/0279.mm", "xmind-old/0034.xmind", "xmind-old/0037.xmind"),
    "xmind-old/0055.xmind",
)
"""Files whose central topic is "Java"."""

FOLDERS = tuple(
    f"{area}/{year}/{course}"
    for area in ("School", "University")
    for year in ("2019", "2020")
    for course in ("Basics", "Networks", "Servers")
)
WANTED = "University/2020/Servers"

pytestmark = pytest.mark.skipif(not DEV.exists(), reason=f"the corpus of real maps is not at {DEV}")


def renamed(content: str) -> str:
    """Return a FreeMind file whose central topic is "Java"."""
    return re.sub(r'(<node\b[^>]*?\bTEXT=")[^"]*', r"\1Java", content, count=1)


def fill(folder: Path) -> None:
    """Put twelve maps called "Java" and others into folders of three levels."""
    freemind = sorted((DEV / "freemind").glob("*.mm"), key=lambda file: file.stat().st_size)
    plain = [file for file in freemind if b'TEXT="' in file.read_bytes()[:2000]][40:100]
    java = [DEV / file for file in CALLED_JAVA]
    for number, place in enumerate(FOLDERS):
        (folder / place).mkdir(parents=True)
        if number < len(java):
            shutil.copy(java[number], folder / place / f"Java{java[number].suffix}")
        else:
            text = plain[number].read_text("utf-8", errors="replace")
            (folder / place / "Java.mm").write_text(renamed(text), "utf-8")
        for other in plain[12 + 2 * number : 14 + 2 * number]:
            shutil.copy(other, folder / place)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over these files."""
    data, maps = tmp_path_factory.mktemp("java"), tmp_path_factory.mktemp("maps")
    fill(maps)
    with shelf_with(data) as shelf:
        Mapshelf(data, shelf.settings.database).run("import", maps)
        shelf.publish()
        assert len([one for one in shelf.store.maps(0, 99) if one.title.lower() == "java"]) == 12
    with served(data) as running:
        yield running


@pytest.fixture(params=[True, False], ids=["at a desk", "without scripts, on a phone"])
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    size = {"width": 1440, "height": 900} if request.param else {"width": 360, "height": 740}
    reader = Reader(browser, address, viewport=size, java_script_enabled=request.param)
    yield reader.open("/")
    reader.close()


def found(page: Page) -> None:
    """Check that the page shows the wanted map."""
    path = page.get_by_role("navigation", name="Folder of this map")
    expect(path).to_contain_text("Servers")
    expect(path).to_contain_text("2020")
    expect(path).to_contain_text("University")
    expect(page.get_by_role("heading", level=1)).to_have_text("Java")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_map_is_found_in_three_clicks(browser: Browser, address: str, *, scripts: bool) -> None:
    desk = {"width": 1440, "height": 900}
    reader = Reader(browser, address, viewport=desk, java_script_enabled=scripts)
    page = reader.open("/")
    page.locator(".facet a", has_text="University").click()
    page.locator(".facet a", has_text="2020").first.click()
    wanted = page.locator(".card", has_text="Servers/Java")
    expect(wanted).to_have_count(1)
    wanted.locator(".name a").click()
    found(page)
    reader.close()


def test_a_map_is_found_in_one_search(page: Page) -> None:
    page.fill("#query", "java university 2020 servers")
    page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    expect(hit.locator(".place mark").first).to_be_visible()
    expect(hit.locator(".place")).to_contain_text(f"{WANTED}/Java")
    hit.locator(".name a").click()
    found(page)


def test_a_map_is_found_in_its_folder(browser: Browser, address: str) -> None:
    reader = Reader(browser, address, viewport={"width": 1440, "height": 900}, bypass_csp=True)
    page = reader.open("/?folder=University/2020&versions=all")
    page.fill("#query", "java")
    expect(page.locator(".hit", has_text="University/2020")).to_have_count(3)
    assert not faults(page, serious=True)
    page.get_by_role("checkbox", name="Titles only").check()
    expect(page.locator(".hit")).to_have_count(3)
    page.get_by_label("In “2020” and below").uncheck()
    expect(page.locator(".hit")).to_have_count(12)
    page.get_by_role("link", name="Save this search").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    reader.close()


def test_a_map_is_found_from_the_page_of_folders(browser: Browser, address: str) -> None:
    phone = {"width": 360, "height": 740}
    reader = Reader(browser, address, viewport=phone, bypass_csp=True)
    page = reader.open("/browse/folders?below=University")
    expect(page.locator(".total")).to_have_text("2 folders")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not faults(page, serious=True)
    page.get_by_role("link", name="2020").click()
    expect(page.locator(".card", has_text="Servers/Java")).to_have_count(1)
    reader.close()
