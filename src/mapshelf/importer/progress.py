"""Show the progress of an import, in the terminal and in the status file that pages read."""

import time
from types import TracebackType
from typing import Final, Self

from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.importer.progress_bar import ProgressBar
from mapshelf.importer.report import ImportReport

WRITTEN_EVERY: Final = 0.3
"""Seconds between two writes of the file."""


class ImportProgress:
    """Context manager that shows the progress of an import."""

    def __init__(self, status: StatusFile | None = None) -> None:
        """Write progress to ``status``, if given."""
        self._status = status
        self._bar = ProgressBar()
        self._done = self._total = 0
        self._written = 0.0

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, traceback)
        if self._status:
            self._status.clear()

    def begin(self, description: str) -> None:
        """Begin a task of unknown length."""
        self._done = self._total = 0
        self._bar.begin(description)
        self._write(ImportStatus())

    def follow(self, report: ImportReport, description: str = "", total: int = 0) -> None:
        """Track ``report``, out of ``total`` files if known."""
        if total:
            self._total = total
            self._bar.expect(description, total)
            self._write(ImportStatus(total=total))
        report.notify = self._advance

    def _advance(self) -> None:
        self._done += 1
        self._bar.advance()
        if time.monotonic() - self._written > WRITTEN_EVERY:
            # Files that could not be scanned are not included in the expected total.
            self._write(ImportStatus(min(self._done, self._total), self._total))

    def _write(self, status: ImportStatus) -> None:
        if self._status:
            self._status.write(status)
        self._written = time.monotonic()
