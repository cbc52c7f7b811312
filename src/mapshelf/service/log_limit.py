"""Lines in the log, few of each kind: what goes wrong for one client goes wrong for thousands.

A store that is away, or a fault that everybody meets, would otherwise write a line for each
request, fill the disk, and hide what else there is to be read.
"""

import copy
import logging
import time
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Timer
from typing import Final, TextIO

LINES: Final = 5
"""Lines of one kind in a period."""

PERIOD: Final = 10.0
"""Seconds of a period, which begins with the first line of a kind."""

KINDS: Final = 1000
"""Most kinds to tell apart; with more all begin anew."""

UNLIMITED: Final = "mapshelf.importer"
"""The logger whose lines are all written: each tells of another file of the operator's."""


@dataclass(slots=True)
class _Period:
    """What was seen of one kind since ``began`` (``time.monotonic``)."""

    began: float
    lines: int = 0
    left_out: int = 0


class LimitedHandler(logging.StreamHandler[TextIO]):
    """Writes records to a stream, and of those alike only the first few of each period.

    How many were left out is told at its end. Records are alike when the same line of the program
    wrote them because of the same kind of error.
    """

    def __init__(self, stream: TextIO, lines: int = LINES, period: float = PERIOD) -> None:
        super().__init__(stream)
        self._lines = lines
        self._period = period
        self._seen: dict[Hashable, _Period] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        if f"{record.name}.".startswith(f"{UNLIMITED}."):
            super().emit(record)
            return
        seen = self._current(_kind(record))
        if seen.lines < self._lines:
            seen.lines += 1
            super().emit(record)
            return
        seen.left_out += 1
        if seen.left_out == 1:
            rest = max(0.0, seen.began + self._period - time.monotonic())
            timer = Timer(rest, self._tell, (seen, record))
            timer.daemon = True
            timer.start()

    def _current(self, kind: Hashable) -> _Period:
        now = time.monotonic()
        seen = self._seen.get(kind)
        if seen is None or now >= seen.began + self._period:
            if len(self._seen) >= KINDS:
                self._seen.clear()
            seen = self._seen[kind] = _Period(now)
        return seen

    def _tell(self, seen: _Period, first: logging.LogRecord) -> None:
        """End a period; write how many were left out, of which ``first`` was the first."""
        told = copy.copy(first)
        told.exc_info = told.exc_text = told.stack_info = None
        told.created = time.time()
        told.msg = "%d lines like this one were left out: %s"
        self.acquire()
        try:
            told.args = (seen.left_out, first.getMessage())
            seen.began = float("-inf")
            super().emit(told)
        finally:
            self.release()


def _kind(record: logging.LogRecord) -> Hashable:
    """Return what records that are alike have in common: nothing that a client chooses."""
    if record.exc_info and record.exc_info[0] is not None:
        kind, _, trace = record.exc_info
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else None
        return record.name, record.levelno, kind, place
    given = record.args if isinstance(record.args, tuple) else ()
    errors = tuple(type(one) for one in given if isinstance(one, BaseException))
    return record.name, record.levelno, record.pathname, record.lineno, errors
