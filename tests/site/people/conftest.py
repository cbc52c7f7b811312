"""Fixtures for tests about accounts: a catalogue with one map, and services for it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.site import site_routes
from tests.harness import Service, Shelf, copied_shelf
from tests.person import Start
from tests.site.shelves import GARDEN


@pytest.fixture(autouse=True)
def _cheap(cheap: None) -> None:
    """Make password hashes cheap."""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, GARDEN) as full:
        yield full


@pytest.fixture
def start(shelf: Shelf) -> Iterator[Start]:
    """A function that starts the service with changed settings."""
    with ExitStack() as stack:

        def start(**settings: object) -> Service:
            changed = replace(shelf.settings, **settings)  # type: ignore[arg-type]
            return stack.enter_context(Service(changed, "", site_routes))

        yield start


@pytest.fixture
def site(start: Start) -> Service:
    return start()
