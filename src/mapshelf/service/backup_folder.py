"""The folder of daily backups: list them, schedule the next one, delete old ones.

Backups are numbered because the clock may be wrong: only the numbers decide which is the newest. An
old backup is deleted only after a new one is complete.
"""

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mapshelf.durable import make_folder
from mapshelf.errors import CannotWrite, UnusableBackup
from mapshelf.file_lock import locked_file
from mapshelf.service.backup_plan import BackupPlan
from mapshelf.store.backup_file import opened_backup
from mapshelf.store.unfinished_file import UNFINISHED

INTERVAL: Final = 86_400.0
"""Seconds between two backups."""

_NAME: Final = re.compile(r"mapshelf-([0-9]{6,12})-([0-9-]{10}T[0-9]{6}Z)\.backup", re.ASCII)
_TIME: Final = "%Y-%m-%dT%H%M%SZ"

_LOCK: Final = ".mapshelf-lock"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class KeptBackup:
    """A backup in the folder.

    Attributes:
        number: its number; later backups have higher ones.
        made: its creation time by the clock at that time (seconds since 1970-01-01 UTC).
        path: the file.
    """

    number: int
    made: float
    path: Path


def kept_backups(folder: Path) -> list[KeptBackup]:
    """Return the complete backups in a folder, oldest first. Other files are ignored.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        if name and path.is_file() and not path.is_symlink() and _is_complete(path):
            with suppress(ValueError):  # no date is like this
                made = datetime.strptime(name[2], _TIME).replace(tzinfo=UTC).timestamp()
                found.append(KeptBackup(int(name[1]), made, path))
    return sorted(found)


def _is_complete(path: Path) -> bool:
    """Return whether a file ends as a backup does: a copy of a folder may have been cut off."""
    with suppress(UnusableBackup), opened_backup(path):
        return True
    return False


def seconds_until_due(kept: list[KeptBackup], now: float) -> float:
    """Return how long to wait for the next backup after the start of a service.

    A last backup dated far in the future means that the clock was wrong, so its date is ignored.
    One dated in the near future counts as made now: a clock set back slightly, or at each boot,
    must not trigger one backup after another, which would replace all older ones.
    """
    if not kept:
        return 0.0
    age = now - kept[-1].made
    if -INTERVAL < age < 0:
        return INTERVAL
    return INTERVAL - age if 0 <= age < INTERVAL else 0.0


def next_path(folder: Path, now: float) -> Path:
    """Return the name of the next backup.

    Its number is higher than those of incomplete and unreadable ones, too: some may be readable
    later, and must not count as newer then.

    Raises:
        OSError: the folder cannot be read.
    """
    names = filter(None, (_NAME.fullmatch(path.name) for path in folder.iterdir()))
    number = 1 + max((int(name[1]) for name in names), default=0)
    return folder / f"mapshelf-{number:06d}-{time.strftime(_TIME, time.gmtime(now))}.backup"


def delete_old(plan: BackupPlan) -> int:
    """Delete the oldest backups in excess of those to keep; return how many.

    Raises:
        OSError: one cannot be deleted.
    """
    old = kept_backups(plan.folder)[: -plan.keep]
    for backup in old:
        backup.path.unlink(missing_ok=True)
    return len(old)


def delete_unfinished(folder: Path) -> None:
    """Delete unfinished backups of a killed service. The caller must hold ``only_one``."""
    for path in folder.glob(f"mapshelf-*.backup{UNFINISHED}*"):
        if _NAME.fullmatch(path.name.partition(UNFINISHED)[0]):
            path.unlink(missing_ok=True)


@contextmanager
def only_one(folder: Path) -> Iterator[bool]:
    """Yield whether no other service backs up to this folder; none does while in the context.

    Raises:
        OSError: the folder cannot be written.
    """
    make_folder(folder)
    with locked_file(folder / _LOCK) as alone:
        yield alone


def require_own(folder: Path, mark: str) -> bool:
    """Check that no other catalogue backs up to a folder: its backups would be deleted in time.

    Args:
        folder: the folder.
        mark: the mark of the catalogue (``BackupStatus.mark``).

    Returns:
        Whether it is noted there that this catalogue does (``note_owner``).

    Raises:
        CannotWrite: another catalogue does.
        OSError: the folder cannot be read.
    """
    lock, noted = folder / _LOCK, ""
    with suppress(FileNotFoundError):
        noted = lock.read_text("ascii", "replace")
    if noted not in ("", mark):
        raise CannotWrite(
            f"another catalogue backs up to {folder}: give each its own folder. If this catalogue"
            f" replaces the other one, stop the other service and delete the file {lock}"
        )
    return noted == mark


def note_owner(folder: Path, mark: str) -> None:
    """Note that the catalogue with this mark backs up to a folder.

    Raises:
        OSError: the folder cannot be written.
    """
    (folder / _LOCK).write_text(mark, "ascii")


def require_used(folder: Path, before: str) -> None:
    """Check that a folder is still the one of the earlier backups, which left a lock file in it.

    Otherwise the disk of the backups may be gone, and backups would fill the disk beneath.

    Args:
        folder: the folder.
        before: where the last daily backup was made, empty if there is none.

    Raises:
        CannotWrite: it is not.
        OSError: the folder cannot be read.
    """
    if str(folder) != before or (folder / _LOCK).exists():
        return
    with suppress(FileNotFoundError):
        if kept_backups(folder):
            return
    raise CannotWrite(
        f"the earlier backups in {folder} are gone: is their disk mounted? If you want to begin"
        f" with an empty folder, make the file {folder / _LOCK}"
    )
