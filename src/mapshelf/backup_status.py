"""Stores the result of the last backup in a small file in the data folder, for monitoring.

Both the command and the daily job write it, each in its own process. It must be readable even when
nothing else works, and backups themselves may be on another disk or another machine.
"""

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mapshelf.durable import replace_file


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """The result of the last backup.

    Attributes:
        made: when the last successful backup was made (seconds since 1970-01-01 UTC), ``None`` if
            there is none.
        size: its size in bytes.
        failing_since: when the first failed attempt after it was made, ``None`` if none failed.
        reason: why the last attempt failed.
        folder: where the last daily backup was made, empty if there is none.
        mark: what the lock file of a backup folder calls this catalogue, empty before the first
            daily backup. It stays the same when another state is restored.
    """

    made: float | None = None
    size: int = 0
    failing_since: float | None = None
    reason: str = ""
    folder: str = ""
    mark: str = ""


class BackupStatusFile:
    """The status file in the data folder ``data``. Failures to write it are ignored."""

    def __init__(self, data: Path) -> None:
        self._path = data / "backup-status"

    def read(self) -> BackupStatus:
        """Return the status; it is empty if the file is missing or damaged."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(self._path.read_text("utf-8"))
            made, since = said["made"], said["failing_since"]
            return BackupStatus(
                None if made is None else float(made),
                int(said["size"]),
                None if since is None else float(since),
                str(said["reason"]),
                str(said.get("folder", "")),
                str(said.get("mark", "")),
            )
        return BackupStatus()

    def note_mark(self, mark: str) -> None:
        """Record the mark of this catalogue."""
        self._write(replace(self.read(), mark=mark))

    def note_success(
        self, size: int, made: float | None = None, folder: Path | None = None
    ) -> None:
        """Record a backup of ``size`` bytes, made now by default.

        Args:
            size: its size.
            made: when it was made.
            folder: the folder of a daily backup.
        """
        known = self.read()
        where = known.folder if folder is None else str(folder)
        when = time.time() if made is None else made
        self._write(BackupStatus(when, size, folder=where, mark=known.mark))

    def note_failure(self, reason: str) -> None:
        """Record a failed backup."""
        known = self.read()
        since = time.time() if known.failing_since is None else known.failing_since
        self._write(replace(known, failing_since=since, reason=reason))

    def _write(self, status: BackupStatus) -> None:
        with suppress(OSError):
            replace_file(self._path, json.dumps(asdict(status)), sync=True)
