"""A lock admits one process at a time, and all where the file system has no locks."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from mapshelf.file_lock import locked_file, try_lock
from mapshelf.service.backup_folder import only_one
from mapshelf.service.data_folder_lock import is_in_use, lock_data_folder
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory


def no_locks(*_: object) -> None:
    """Fail like a file system without locks."""
    raise OSError(errno.ENOLCK, "No locks available")


def test_one_at_a_time_holds_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked_file(path) as first, locked_file(path) as second:
        assert (first, second) == (True, False)
    with locked_file(path) as again:
        assert again
    assert path.stat().st_mode & 0o077 == 0


def test_several_share_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    readers = [os.open(path, os.O_RDONLY) for _ in range(2)]
    try:
        assert [try_lock(one, shared=True) for one in readers] == [True, True]
        with locked_file(path) as alone:
            assert not alone
    finally:
        for one in readers:
            os.close(one)


def test_without_file_locks_every_process_may_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    directory = SnapshotDirectory(tmp_path / "snapshots")
    with directory.building() as first, directory.building() as second:
        assert first
        assert second
    with only_one(tmp_path / "backups") as alone:
        assert alone
    with lock_data_folder(Settings(data=tmp_path, database="", base_url="http://127.0.0.1:8000")):
        assert not is_in_use(tmp_path)
