"""Changes in followed folders are reported, also in folders that were away meanwhile."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from mapshelf.service import folder_changes


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[bool]]:
    """What is reported of the folder ``maps``, which is watched already."""
    monkeypatch.setattr(folder_changes, "CHECK_INTERVAL", 0.1)
    (tmp_path / "maps").mkdir()
    stop = threading.Event()
    changes = folder_changes.folder_changes([tmp_path / "maps"], stop)
    assert next(changes), "something may have changed before"
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


def test_without_notifications_something_may_have_changed_before_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system has no watches left."""

    def refuse(*_: object) -> Iterator[set[object]]:
        raise OSError("no space left on device")

    monkeypatch.setattr(folder_changes, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(folder_changes, "_watch", refuse)
    changes = folder_changes.folder_changes([tmp_path], threading.Event())
    assert list(islice(changes, 3)) == [True, False, False]


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


def test_new_folders_are_watched(changes: Iterator[bool], tmp_path: Path) -> None:
    new = tmp_path / "maps" / "new" / "below"
    new.mkdir(parents=True)
    assert is_reported(changes)
    settle(changes)
    (new / "a.mm").touch()
    assert is_reported(changes)
    settle(changes)
    new.rename(tmp_path / "maps" / "moved")
    assert is_reported(changes)
    settle(changes)
    (tmp_path / "maps" / "moved" / "a.mm").unlink()
    assert is_reported(changes)


def test_links_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through links between ten folders, there are millions of ways."""
    monkeypatch.setattr(folder_changes, "CHECK_INTERVAL", 0.1)
    folder, other = tmp_path / "maps", tmp_path / "other"
    other.mkdir()
    for one in range(10):
        (folder / f"{one}").mkdir(parents=True)
        for another in range(10):
            (folder / f"{one}" / f"link{another}").symlink_to(f"../{another}")
    (folder / "other").symlink_to(other)
    stop = threading.Event()
    changes = folder_changes.folder_changes([folder], stop)
    assert list(islice(changes, 2)) == [True, False]
    (other / "a.mm").touch()
    assert not any(islice(changes, 20))
    (folder / "5" / "a.mm").touch()
    assert is_reported(changes)
    stop.set()
    assert not any(changes)


@pytest.mark.skipif(sys.platform == "darwin", reason="its names are UTF-8")
def test_a_folder_whose_path_is_not_utf_8_does_not_stop_the_watch_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(folder_changes, "CHECK_INTERVAL", 0.1)
    foreign = tmp_path / os.fsdecode(b"m\xfcller")
    folders = [foreign, tmp_path / "maps"]
    for folder in folders:
        folder.mkdir()
    stop = threading.Event()
    changes = folder_changes.folder_changes(folders, stop)
    assert list(islice(changes, 2)) == [True, False]
    assert caplog.messages == [
        f"no change notifications: {tmp_path}/m\\xfcller is not UTF-8;"
        " the folder is scanned every 30 s"
    ]
    (folders[1] / "a.mm").touch()
    assert is_reported(changes)
    settle(changes)
    move(foreign)
    assert is_reported(changes), "the folder is another"
    stop.set()
    assert not any(changes)
    alone = folder_changes.folder_changes([foreign], stop := threading.Event())
    assert list(islice(alone, 3)) == [True, False, False]
    stop.set()
    assert not any(alone)
