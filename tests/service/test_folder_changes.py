"""Changes in followed folders are reported, also in folders that were away meanwhile."""

import shutil
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from mapshelf.service import folder_changes


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[bool]]:
    """What is reported of the folder ``maps``, which is watched already."""
    monkeypatch.setattr(folder_changes, "SHORT_INTERVAL", 0.1)
    (tmp_path / "maps").mkdir()
    stop = threading.Event()
    changes = folder_changes.folder_changes([tmp_path / "maps"], stop)
    assert not next(changes)
    yield changes
    stop.set()
    assert not any(changes)


def is_reported(changes: Iterator[bool]) -> bool:
    """Return whether a change is reported within some seconds."""
    return any(islice(changes, 150))


def settle(changes: Iterator[bool]) -> None:
    """Wait until nothing is reported."""
    while any(islice(changes, 5)):
        pass


def remove(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def move(folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.mkdir()


def link(folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.symlink_to("away")
    folder.unlink()
    folder.symlink_to("other")


@pytest.mark.parametrize("replace", [remove, move, link])
def test_a_folder_that_is_replaced_is_watched_like_the_first_one(
    changes: Iterator[bool], tmp_path: Path, replace: Callable[[Path], None]
) -> None:
    folder = tmp_path / "maps"
    (tmp_path / "other").mkdir()
    (folder / "a.mm").touch()
    assert is_reported(changes)
    settle(changes)
    replace(folder)
    assert is_reported(changes)
    settle(changes)
    (folder / "b.mm").touch()
    assert is_reported(changes)


def test_a_folder_that_comes_back_is_watched_again(changes: Iterator[bool], tmp_path: Path) -> None:
    folder = tmp_path / "maps"
    away = folder.rename(tmp_path / "away")
    assert is_reported(changes)
    settle(changes)
    away.rename(folder)
    assert is_reported(changes)
    settle(changes)
    (folder / "b.mm").touch()
    assert is_reported(changes)
