"""Shares the progress of an import between processes by a small file in the data folder.

While a library is being filled, workers read the progress for every page, so it is not stored in
the database. It concerns one node at one moment; losing it does no harm.
"""

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.durable import replace_file

STALE: Final = 60.0
"""Age in seconds at which a progress file is stale, because its import was killed. Reading one map
file may take half of that."""

SLOW: Final = 5.0
"""Age in seconds of a progress file at which a single file is holding up the import."""


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """The progress of an import.

    Attributes:
        done: files that were read or already known.
        total: all files, 0 during the search for files.
        slow: whether the next file has been taking long; found out on reading, not recorded.
    """

    done: int = 0
    total: int = 0
    slow: bool = False


class StatusFile:
    """The progress file in the data folder ``data``. Failures to write it are ignored."""

    def __init__(self, data: Path) -> None:
        self._path = data / "importing"

    def write(self, status: ImportStatus) -> None:
        """Record the progress of the import."""
        with suppress(OSError):
            replace_file(self._path, json.dumps({"done": status.done, "total": status.total}))

    def clear(self) -> None:
        """Record that no import is running."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def read(self) -> ImportStatus | None:
        """Return the progress of the import, ``None`` if none is running."""
        try:
            age = time.time() - self._path.stat().st_mtime
            if age > STALE:
                return None
            said = json.loads(self._path.read_text("ascii"))
            done, total = (int(said[name]) for name in ("done", "total"))
            return ImportStatus(done, total, slow=done < total and age > SLOW)
        except (OSError, ValueError, KeyError, TypeError):
            return None
