"""Fixtures for tests in a browser, which share one service and one browser."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.harness import shelf_with
from tests.site.browser import CHROMIUM, Reader, launched, served
from tests.site.shelves import (
    ARABIC,
    BARE,
    CHINESE,
    FOLDED,
    GARDEN,
    NOTED,
    TOUR,
    deep,
    filler,
    hostile,
    large,
)

ReaderWith = Callable[..., Reader]
"""Returns a reader with these settings of the browser context."""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with all maps of the module ``shelves``."""
    folder = tmp_path_factory.mktemp("library")
    with shelf_with(
        folder,
        GARDEN,
        CHINESE,
        ARABIC,
        BARE,
        TOUR,
        FOLDED,
        NOTED,
        large(),
        deep(),
        *filler(60),
        *hostile(),
    ):
        pass
    with served(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; tests that need it are skipped if none is installed.

    An event loop runs as long as the browser does, so tests cannot start their own meanwhile.
    """
    if CHROMIUM is None:
        pytest.skip(
            "needs a browser: install chromium-headless-shell, or set MAPSHELF_CHROMIUM to one"
        )
    with sync_playwright() as playwright:
        launched_browser = launched(playwright)
        yield launched_browser
        launched_browser.close()


@pytest.fixture(scope="module")
def resting() -> dict[str, Reader]:
    """Readers of finished tests, by their settings, for later tests to use again.

    Creating a browser context takes half of the time to open a page. They end with the browser.
    """
    return {}


@pytest.fixture
def reader_with(browser: Browser, address: str, resting: dict[str, Reader]) -> Iterator[ReaderWith]:
    """A function that returns a reader with the given settings."""
    readers: list[tuple[str, Reader]] = []

    def start(**settings: Any) -> Reader:
        kind = f"{address} {sorted(settings.items())}"
        reader = resting.pop(kind, None) or Reader(browser, address, **settings)
        readers.append((kind, reader))
        return reader

    yield start
    for kind, reader in readers:
        reader.rest()
        resting[kind] = reader


@pytest.fixture
def reader(reader_with: ReaderWith) -> Reader:
    """A reader with a desktop screen."""
    return reader_with(viewport={"width": 1440, "height": 900})


@pytest.fixture
def phone(reader_with: ReaderWith) -> Reader:
    """A reader with a small phone."""
    return reader_with(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
