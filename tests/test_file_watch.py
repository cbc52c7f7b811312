"""Changes of files are reported, at once, and none is missed."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from mapshelf import file_watch
from mapshelf.file_watch import FileWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes")


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[FileWatch]:
    """A watch of a folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    watch = FileWatch(folder)
    assert watch.begin()
    yield watch
    watch.close()


def has_event(watch: FileWatch) -> bool:
    return bool(select([watch], [], [], 0)[0])


def test_touched_files_and_replaced_ones_are_reported(watch: FileWatch, tmp_path: Path) -> None:
    file, new = tmp_path / "folder" / "file", tmp_path / "new"
    file.write_text("old")
    assert not has_event(watch), "writing alone is not reported"
    os.utime(file)
    assert has_event(watch)
    watch.clear()
    assert not has_event(watch)
    new.write_text("new")
    new.rename(file)
    watch.wait(60)
    assert has_event(watch), "events are kept until they are cleared"
    watch.clear()
    assert not has_event(watch)


def test_a_single_file_is_watched(tmp_path: Path) -> None:
    file = tmp_path / "file"
    watch = FileWatch(file)
    assert not watch.begin(), "it is missing"
    assert watch.fileno() == -1
    watch.clear()
    file.touch()
    assert watch.begin()
    os.utime(file)
    assert has_event(watch)
    watch.close()
    watch.close()
    assert watch.fileno() == -1


def test_a_folder_that_is_removed_can_be_watched_again(watch: FileWatch, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "folder")
    assert has_event(watch)
    watch.clear()
    assert not watch.begin()
    (tmp_path / "folder").mkdir()
    assert watch.begin()
    (tmp_path / "new").touch()
    (tmp_path / "new").rename(tmp_path / "folder" / "new")
    assert has_event(watch)


def test_more_events_than_are_read_at_once_are_cleared(
    watch: FileWatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "_READ_SIZE", 64)
    files = [tmp_path / "folder" / f"file {number}" for number in range(20)]
    for file in files:
        file.touch()
        os.utime(file)
    watch.clear()
    assert not has_event(watch)


def test_without_inotify_callers_are_told_to_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not FileWatch(tmp_path).begin()
