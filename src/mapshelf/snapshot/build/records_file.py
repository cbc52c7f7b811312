"""Write the append-only file of records while snapshots are being built."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.snapshot.format.append_file import AppendFile
from mapshelf.snapshot.format.columns import Columns
from mapshelf.snapshot.format.records import record_title

MINIMUM_GARBAGE: Final = 1 << 24
"""Size of all replaced records in bytes up to which the file is never rewritten."""


class RecordsFile:
    """The file of the records of all maps.

    Attributes:
        garbage: the number of bytes of replaced and removed records in the file.
    """

    def __init__(self, path: Path, length: int = 0, garbage: int = 0) -> None:
        self._file = AppendFile(path, length)
        self.garbage = garbage

    def append(self, record: bytes) -> int:
        """Append a record with its details; return its offset."""
        return self._file.append(record)

    def discard(self, length: int) -> None:
        """Count a record of ``length`` bytes as garbage."""
        self.garbage += length

    def needs_rewrite(self) -> bool:
        """Return whether most of the file is garbage."""
        return self.garbage > max(MINIMUM_GARBAGE, len(self._file) // 2)

    def rewrite(self, columns: Columns, number: int) -> "RecordsFile":
        """Copy the live records to a new file and delete the old one; return the new one.

        The offsets in ``columns`` are updated.
        """
        self._file.flush()
        path = self._file.path
        rewritten = RecordsFile(path.with_name(f"records-{number}-rewritten.bin"))
        starts, lengths = columns["start"].copy(), columns["length"] + columns["details"]
        for slot in np.flatnonzero(columns.live).tolist():
            record = self._file.read(int(starts[slot]), int(lengths[slot]))
            starts[slot] = rewritten.append(record)
        columns.rewrite("start", starts)
        self.close()
        path.unlink()
        return rewritten

    def link_to(self, path: Path) -> tuple[int, str]:
        """Hard-link the file into a snapshot; return its length and checksum there."""
        return self._file.link_to(path)

    def titles_in(self, columns: Columns) -> Callable[[Sequence[int]], list[str]]:
        """Return a function that reads the titles of slots."""

        def titles(slots: Sequence[int]) -> list[str]:
            self._file.flush()
            read, starts, lengths = self._file.read, columns["start"], columns["length"]
            return [record_title(read(int(starts[s]), int(lengths[s]))) for s in slots]

        return titles

    def close(self) -> None:
        """Close the file."""
        self._file.close()
