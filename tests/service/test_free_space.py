"""Cached files make room when other files fill the disk, but no more than is needed."""

from pathlib import Path

import pytest

from mapshelf.disk_space import DiskSpace
from mapshelf.service import free_space
from mapshelf.service.free_space import FreeSpaceKeeper
from mapshelf.settings import Settings

FILE = 1 << 20
FILES = 300


class Disk:
    """A disk of 1 GB with the files below a folder.

    Attributes:
        others: the size of other files.
        freed_later: the size of removed files that still count.
    """

    def __init__(self, folder: Path) -> None:
        self.others = self.freed_later = 0
        self._folder = folder

    def __call__(self, _: Path) -> DiskSpace:
        used = FILE * cached(self._folder) + self.others + self.freed_later
        return DiskSpace(1000 * FILE, 1000 * FILE - used)


def cached(folder: Path) -> int:
    return sum(path.is_file() and path.name.isdigit() for path in folder.rglob("*"))


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    for number in range(FILES):
        folder = tmp_path / ("documents", "thumbnails")[number % 2] / "00"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}").write_bytes(bytes(FILE))
    disk = Disk(tmp_path)
    monkeypatch.setattr(free_space, "disk_space", disk)
    monkeypatch.setattr("mapshelf.disk_cache.disk_space", disk)
    return disk


def test_only_what_is_needed_is_removed(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(free_space, "monotonic", lambda: now)
    keeper = FreeSpaceKeeper(Settings(tmp_path, "", ""))

    def left() -> int:
        nonlocal now
        now += free_space.CHECKED_EVERY
        keeper.check_due()
        return cached(tmp_path)

    keeper.check_due()
    assert cached(tmp_path) == FILES
    disk.others = (1000 - FILES - 64) * FILE  # as much as caches leave
    assert left() == FILES
    disk.others += 20 * FILE
    keeper.check_due()
    assert cached(tmp_path) == FILES, "it was not time to check"
    removed = 150 - 44
    assert left() == FILES - removed
    disk.freed_later = removed * FILE  # as on btrfs
    assert left() == FILES - removed
    now += free_space.FREED_WITHIN
    disk.freed_later = 0
    disk.others += removed * FILE
    assert left() == FILES - 2 * removed, "the store grew"


def test_as_much_as_possible_is_removed(tmp_path: Path, disk: Disk) -> None:
    disk.others = (1000 - FILES // 2) * FILE
    FreeSpaceKeeper(Settings(tmp_path, "", "")).check_due()
    assert cached(tmp_path) <= FILES // 2
