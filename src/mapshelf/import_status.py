"""How far an import has come, for the processes that show it: a small file in the data folder.

A worker asks for it with each page of a library that is being filled, so it is no row in the
database. It is of one moment and one node, and nothing is lost with it.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

STALE: Final = 60.0
"""Seconds after which an import that says nothing is taken for ended: it was killed. Reading one
file may take half of that."""


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """How far an import has come.

    Attributes:
        done: files that were read, or known already.
        total: all files, 0 while they are being looked for.
    """

    done: int = 0
    total: int = 0


class StatusFile:
    """The file in the data folder ``data``. That it cannot be written is not worth an error."""

    def __init__(self, data: Path) -> None:
        self._path = data / "importing"

    def write(self, status: ImportStatus) -> None:
        """Say how far the import has come."""
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            beside.write_text(json.dumps(asdict(status)), "ascii")
            beside.replace(self._path)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def clear(self) -> None:
        """Say that no import is going on."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def read(self) -> ImportStatus | None:
        """Return how far the import has come, ``None`` if there is none."""
        try:
            if time.time() - self._path.stat().st_mtime > STALE:
                return None
            said = json.loads(self._path.read_text("ascii"))
            return ImportStatus(*(int(said[name]) for name in ("done", "total")))
        except (OSError, ValueError, KeyError, TypeError):
            return None
