"""What tests of the importer share: an empty catalogue, and a process that reads files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(sqlite_url(tmp_path / "data"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def reader() -> Iterator[SandboxedReader]:
    with SandboxedReader(workers=1) as reader:
        yield reader
