"""Fixtures for tests with a browser: one service and one browser for all of them."""

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
"""Called with settings of a browser's context, gives somebody who uses it."""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with all maps of ``shelves``."""
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
    """A browser; tests that need one are skipped where there is none.

    While it is there an event loop is, so that other tests cannot have theirs.
    """
    if CHROMIUM is None:
        pytest.skip(
            "needs a browser: install chromium-headless-shell, or name one in MAPSHELF_CHROMIUM"
        )
    with sync_playwright() as playwright:
        launched_browser = launched(playwright)
        yield launched_browser
        launched_browser.close()


@pytest.fixture(scope="module")
def resting() -> dict[str, Reader]:
    """Readers that have finished a test, by their settings.

    Half of what it takes to open a page is to begin a session; they end with the browser.
    """
    return {}


@pytest.fixture
def reader_with(browser: Browser, address: str, resting: dict[str, Reader]) -> Iterator[ReaderWith]:
    """Readers with the settings they are given."""
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
    """Somebody at a desk."""
    return reader_with(viewport={"width": 1440, "height": 900})


@pytest.fixture
def phone(reader_with: ReaderWith) -> Reader:
    """Somebody with a small phone."""
    return reader_with(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
