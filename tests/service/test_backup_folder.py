"""Daily backups: when they are made, which are kept, and what happens after failures."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from mapshelf.backup_status import BackupStatusFile
from mapshelf.cli import main
from mapshelf.service.backup_folder import (
    INTERVAL,
    KeptBackup,
    delete_old,
    delete_unfinished,
    kept_backups,
    next_path,
    only_one,
    seconds_until_due,
)
from mapshelf.service.backup_plan import BackupPlan
from mapshelf.service.backup_process import keep_backing_up
from mapshelf.store.backup_file import write_backup
from mapshelf.store.sqlite.sqlite_store import SQLiteStore

NOW = 1_800_000_000.0


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "catalogue.db"
    SQLiteStore(path).close()
    return path


class Stop(threading.Event):
    """An event that is set after some waits. It records their timeouts, and never waits."""

    def __init__(self, waits: int) -> None:
        super().__init__()
        self.long: list[float] = []
        self._waits = waits

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        if timeout > 1:  # shorter ones are pauses within a backup
            self.long.append(timeout)
            if len(self.long) == self._waits:
                self.set()
        return self.is_set()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize(
    ("age", "wait"),
    [
        (0, INTERVAL),
        (INTERVAL / 4, INTERVAL * 3 / 4),
        (INTERVAL, 0),
        (INTERVAL * 9, 0),
        (-60, INTERVAL),  # the clock was set back a little
        (-INTERVAL * 365, 0),  # the clock was wrong when the last one was made
    ],
)
def test_the_first_backup_is_due_a_day_after_the_last(age: float, wait: float) -> None:
    assert seconds_until_due([KeptBackup(3, NOW - age, Path())], NOW) == wait


def test_the_first_backup_is_due_at_once_if_there_is_none() -> None:
    assert seconds_until_due([], NOW) == 0


def test_the_newest_backups_are_kept_despite_clock_changes(database: Path, tmp_path: Path) -> None:
    made, folder = [], tmp_path / "backups"
    folder.mkdir()
    for now in (NOW, 0.0, NOW * 2, NOW + INTERVAL):
        made.append(next_path(folder, now))
        write_backup(database, made[-1], nothing)
    others = ("notes", "mapshelf-000001-2026-99-99T000000Z.backup", "mapshelf-1.backup")
    for name in others:
        (folder / name).write_bytes(made[0].read_bytes())
    cut = folder / "mapshelf-000009-2027-01-15T080000Z.backup"
    cut.write_bytes(made[0].read_bytes()[:-1])

    assert next_path(folder, NOW).name.startswith("mapshelf-000010-")
    assert delete_old(BackupPlan(folder, 2)) == 2

    assert names(folder) == sorted([*others, cut.name, made[2].name, made[3].name])
    assert made[0].name == "mapshelf-000001-2027-01-15T080000Z.backup"
    assert delete_old(BackupPlan(folder, 2)) == 0


def nothing(done: int, total: int) -> None:
    """Show no progress."""


def test_a_file_that_was_cut_off_does_not_replace_a_backup(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    cut = next_path(folder, time.time() - 60)
    cut.write_bytes(b"x")
    keep_backing_up(database, BackupPlan(folder, 1), Stop(1), BackupStatusFile(tmp_path))
    assert cut.exists()
    assert len(kept_backups(folder)) == 1


def test_leftovers_of_a_killed_service_are_deleted(tmp_path: Path) -> None:
    left = next_path(tmp_path, NOW)
    left.with_name(f"{left.name}.unfinished").touch()
    other = tmp_path / "mapshelf-mine.backup.unfinished"
    other.touch()
    delete_unfinished(tmp_path)
    assert list(tmp_path.iterdir()) == [other]


def test_backups_are_made_every_day_and_old_ones_deleted(
    database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    folder, stop = tmp_path / "new" / "backups", Stop(4)
    keep_backing_up(database, BackupPlan(folder, 2), stop, BackupStatusFile(tmp_path))
    assert all(INTERVAL - 600 < waited <= INTERVAL for waited in stop.long)
    assert [name[:16] for name in names(folder)] == ["mapshelf-000003-", "mapshelf-000004-"]
    assert caplog.text.count("backed up 0 maps, revision 0, to") == 4
    assert caplog.text.count("deleted 1 old backup, kept the newest 2") == 2
    status = BackupStatusFile(tmp_path).read()
    assert status.made is not None
    assert status.size == kept_backups(folder)[-1].path.stat().st_size
    assert status.failing_since is None

    again = Stop(1)
    # A restart makes no new backup.
    keep_backing_up(database, BackupPlan(folder, 2), again, BackupStatusFile(tmp_path))
    assert INTERVAL - 600 < again.long[0] <= INTERVAL
    assert len(names(folder)) == 2
    assert BackupStatusFile(tmp_path).read() == status

    (tmp_path / "backup-status").write_bytes(bytes(40))  # as a power cut may leave it
    assert BackupStatusFile(tmp_path).read().made is None
    keep_backing_up(database, BackupPlan(folder, 2), Stop(1), BackupStatusFile(tmp_path))
    assert BackupStatusFile(tmp_path).read().made == kept_backups(folder)[-1].made


def broken(folder: Path) -> None:
    folder.write_text("no folder")


def missing(folder: Path) -> None:
    (folder.parent / "catalogue.db").unlink()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (broken, "the folder {}/backups cannot be used: File exists"),
        (missing, "there is no catalogue in {}/catalogue.db"),
    ],
)
def test_a_failed_backup_is_retried_with_growing_delays(
    database: Path,
    tmp_path: Path,
    fault: Callable[[Path], None],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fault(tmp_path / "backups")
    reason = reason.format(tmp_path)
    stop = Stop(8)
    keep_backing_up(database, BackupPlan(tmp_path / "backups", 2), stop, BackupStatusFile(tmp_path))
    assert stop.long == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert caplog.text.count(f"the backup will be retried in 1 minute: {reason}") == 1
    assert caplog.text.count(reason) == 8
    status = BackupStatusFile(tmp_path).read()
    assert reason in status.reason
    assert status.failing_since is not None


@pytest.mark.parametrize("beneath", [True, False])
def test_no_backups_are_made_where_their_disk_is_not_mounted(
    database: Path, tmp_path: Path, beneath: bool
) -> None:
    folder, disk, file = tmp_path / "backups", tmp_path / "disk", BackupStatusFile(tmp_path)
    plan = BackupPlan(folder, 2)
    keep_backing_up(database, plan, Stop(1), file)
    folder.rename(disk)
    if beneath:
        folder.mkdir()
    keep_backing_up(database, plan, Stop(1), file)
    assert "is their disk mounted?" in file.read().reason
    assert not beneath or names(folder) == []
    assert beneath or not folder.exists()

    if beneath:
        folder.rmdir()
    disk.rename(folder)
    keep_backing_up(database, plan, Stop(2), file)
    assert len(names(folder)) == 2
    assert file.read().failing_since is None


class Unmounting(Stop):
    """Moves a folder away before the second backup."""

    def __init__(self, folder: Path) -> None:
        super().__init__(2)
        self._folder = folder

    def wait(self, timeout: float | None = None) -> bool:
        if len(self.long) == 0 and timeout is not None and timeout > 1:
            self._folder.rename(self._folder.with_name("disk"))
            self._folder.mkdir()
        return super().wait(timeout)


def test_no_backups_are_made_after_their_disk_is_unmounted(database: Path, tmp_path: Path) -> None:
    folder, file = tmp_path / "backups", BackupStatusFile(tmp_path)
    keep_backing_up(database, BackupPlan(folder, 2), Unmounting(folder), file)
    assert "is their disk mounted?" in file.read().reason
    assert names(folder) == []
    assert len(names(tmp_path / "disk")) == 1


@pytest.mark.parametrize("kept", ["a backup", "the lock file", "another folder"])
def test_backups_can_begin_in_another_folder(database: Path, tmp_path: Path, kept: str) -> None:
    folder, disk, file = tmp_path / "backups", tmp_path / "disk", BackupStatusFile(tmp_path)
    keep_backing_up(database, BackupPlan(folder, 2), Stop(1), file)
    folder.rename(disk)
    folder.mkdir()
    (backup,) = kept_backups(disk)
    if kept == "a backup":
        (folder / backup.path.name).write_bytes(backup.path.read_bytes())
    elif kept == "the lock file":
        (folder / ".mapshelf-lock").touch()
    else:
        folder = tmp_path / "elsewhere"
    keep_backing_up(database, BackupPlan(folder, 2), Stop(2), file)
    assert file.read().failing_since is None
    assert names(folder)


def test_only_one_of_two_services_makes_backups(
    database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, stop = tmp_path / "backups", Stop(1)
    with only_one(folder) as alone:
        assert alone
        keep_backing_up(database, BackupPlan(folder, 2), stop, BackupStatusFile(tmp_path))
    assert names(folder) == []
    assert f"another service backs up to {folder}" in caplog.text


def test_backups_of_another_catalogue_are_left_alone(database: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "backups", tmp_path / "other"
    other.mkdir()
    SQLiteStore(other / "catalogue.db").close()
    plan, status = BackupPlan(folder, 1), BackupStatusFile(other)
    keep_backing_up(database, plan, Stop(1), BackupStatusFile(tmp_path))
    before = names(folder)
    for running in (nullcontext(), only_one(folder)):
        with running:
            keep_backing_up(other / "catalogue.db", plan, Stop(1), status)
        assert "another catalogue backs up to" in status.read().reason
        assert status.read().made is None
    keep_backing_up(database, plan, Stop(1), BackupStatusFile(tmp_path))
    assert names(folder) == before
    assert BackupStatusFile(tmp_path).read().failing_since is None

    began = time.time()
    (folder / ".mapshelf-lock").unlink()
    keep_backing_up(other / "catalogue.db", plan, Stop(1), status)
    assert status.read().failing_since is None
    assert (status.read().made or 0) >= began, "the backup of the other catalogue counts as its own"
    before = names(folder)
    keep_backing_up(database, plan, Stop(1), BackupStatusFile(tmp_path))
    assert "another catalogue backs up to" in BackupStatusFile(tmp_path).read().reason
    assert names(folder) == before, "the replaced catalogue takes the folder back"


def test_a_failure_is_over_when_the_folder_can_be_used_again(
    database: Path, tmp_path: Path
) -> None:
    folder, status = tmp_path / "backups", BackupStatusFile(tmp_path)
    keep_backing_up(database, BackupPlan(folder, 2), Stop(1), status)
    made = status.read().made
    status.note_failure("the folder cannot be used")
    keep_backing_up(database, BackupPlan(folder, 2), Stop(1), status)
    assert status.read().failing_since is None
    assert abs((status.read().made or 0) - (made or 0)) <= 1
    assert len(names(folder)) == 1


class Midway(threading.Event):
    """An event that is set while the first backup is made."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.waits += 1
        if self.waits > 1:
            self.set()
        return self.is_set()


def test_a_service_that_stops_leaves_no_half_backup(database: Path, tmp_path: Path) -> None:
    stop = Midway()
    keep_backing_up(database, BackupPlan(tmp_path / "backups", 2), stop, BackupStatusFile(tmp_path))
    assert stop.waits == 2
    assert names(tmp_path / "backups") == []


def test_backups_go_on_after_restores(database: Path, tmp_path: Path) -> None:
    folder, status = tmp_path / "backups", BackupStatusFile(tmp_path)
    keep_backing_up(database, BackupPlan(folder, 2), Stop(1), status)
    (backup,) = kept_backups(folder)
    for stop in (Midway(), Stop(2)):  # the first backup after a restore may be cut off
        assert main(["restore", "--data", str(tmp_path), str(backup.path)]) == 0
        keep_backing_up(database, BackupPlan(folder, 2), stop, status)
        assert status.read().failing_since is None
    assert len(names(folder)) == 2
