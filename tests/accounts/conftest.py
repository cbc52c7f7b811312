"""Fixtures for tests of accounts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.store import Store
from tests.databases import give_back, open_with
from tests.store.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    store = open_with(tmp_path, clock)
    yield store
    store.close()
    give_back(tmp_path)
