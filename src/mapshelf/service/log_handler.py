"""Writes log records to standard error, and does not wait for a reader that has stopped reading.

A log collector may hang. Once the pipe or socket to it is full, each write would block, and with it
all requests. ``logging.handlers.QueueHandler`` is no help: its thread would block instead, records
would fill its queue, and the process could not end before the thread.
"""

import logging
import os
import select
import stat
import sys
from io import UnsupportedOperation
from typing import Final, TextIO

from mapshelf.plurals import noun

PATIENCE: Final = 1.0
"""Seconds to wait for a reader, before records are lost until it reads again."""


class UnblockedHandler(logging.Handler):
    """Writes records to a stream, one per line. Those that nobody reads are counted instead."""

    def __init__(self, stream: TextIO, patience: float = PATIENCE) -> None:
        """Write to ``stream``; wait for its reader for at most ``patience`` seconds."""
        super().__init__()
        self._stream = stream
        self._patience = patience
        self._lost = 0
        self._is_cut = False
        try:
            self._descriptor = stream.fileno()
            is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        except UnsupportedOperation:  # it is in memory
            self._descriptor, is_file = -1, False
        # A pipe that can be written takes this much without blocking. Lines in files are written at
        # once: those of several processes must not mix.
        self._most = sys.maxsize if is_file else select.PIPE_BUF

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        try:
            line = self.format(record)
            if self._lost and self._write(self.format(self._losses(record))):
                self._lost = 0
            if self._lost or not self._write(line):
                self._lost += 1
        except Exception:  # as in the handlers of the standard library
            self.handleError(record)

    def _losses(self, record: logging.LogRecord) -> logging.LogRecord:
        words = noun(self._lost, "line"), noun(self._lost, "was", "were")
        text, numbers = "%d %s of the log %s lost: nobody read them", (self._lost, *words)
        return logging.LogRecord(
            __name__, logging.WARNING, record.pathname, record.lineno, text, numbers, None
        )

    def _write(self, line: str) -> bool:
        """Write a line, and return whether it was read, or will be."""
        if self._descriptor < 0:
            self._stream.write(f"{line}\n")
            return True
        beginning = "\n" if self._is_cut else ""
        rest = f"{beginning}{line}\n".encode("utf-8", "backslashreplace")
        while rest:
            if not self._is_read():
                return False
            rest = rest[os.write(self._descriptor, rest[: self._most]) :]
            self._is_cut = bool(rest)
        return True

    def _is_read(self) -> bool:
        waiting = select.poll()
        waiting.register(self._descriptor, select.POLLOUT)
        return bool(waiting.poll(0 if self._lost else 1000 * self._patience))
