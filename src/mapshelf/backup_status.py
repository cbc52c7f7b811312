"""How the last backup went, for those who watch: a small file in the data folder.

The command and the daily job write it, each in a process of its own, and it is wanted above all
when nothing else works. Backups themselves may be on another disk, or gone to another machine.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """How the last backup went.

    Attributes:
        made: when the last good one was made (seconds since 1970-01-01 UTC), ``None`` if none was.
        size: its bytes.
        failing_since: when the first of the attempts that failed since then was made, ``None`` if
            none did.
        reason: why the last of these failed.
    """

    made: float | None = None
    size: int = 0
    failing_since: float | None = None
    reason: str = ""


class BackupStatusFile:
    """The file in the data folder ``data``. That it cannot be written is not worth an error."""

    def __init__(self, data: Path) -> None:
        self._path = data / "backup-status"

    def read(self) -> BackupStatus:
        """Return how the last backup went; nothing is known if the file is missing or damaged."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(self._path.read_text("utf-8"))
            made, since = said["made"], said["failing_since"]
            return BackupStatus(
                None if made is None else float(made),
                int(said["size"]),
                None if since is None else float(since),
                str(said["reason"]),
            )
        return BackupStatus()

    def note_success(self, size: int, made: float | None = None) -> None:
        """Note that a backup of ``size`` bytes was made, by default now."""
        self._write(BackupStatus(time.time() if made is None else made, size))

    def note_failure(self, reason: str) -> None:
        """Note that a backup failed."""
        known = self.read()
        since = time.time() if known.failing_since is None else known.failing_since
        self._write(replace(known, failing_since=since, reason=reason))

    def _write(self, status: BackupStatus) -> None:
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            try:
                with beside.open("w", encoding="utf-8") as file:
                    json.dump(asdict(status), file)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self._path)
            finally:
                beside.unlink(missing_ok=True)
