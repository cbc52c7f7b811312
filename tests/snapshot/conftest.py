"""Fixtures for tests of snapshots."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.snapshot.world import World, world_in


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty catalogue with its builder."""
    with world_in(tmp_path) as world:
        yield world
