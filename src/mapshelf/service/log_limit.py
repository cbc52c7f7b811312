"""Rate limit for similar log records.

Otherwise an unreachable store, or a bug that affects every request, would write a line for each
request, fill the disk, and hide all other lines.
"""

import copy
import logging
import time
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Timer
from typing import Final, TextIO

from mapshelf.plurals import noun
from mapshelf.service.log_handler import UnblockedHandler

LINES_PER_PERIOD: Final = 5
"""Lines of one kind in a period."""

PERIOD: Final = 10.0
"""Seconds of a period, which starts with the first line of a kind."""

MOST_KINDS: Final = 1000
"""Maximum number of kinds counted at a time; beyond that, all counts are reset."""

UNLIMITED: Final = ("mapshelf.importer.", "mapshelf.access.")
"""Loggers without a limit, with a dot after the name: each of their records is about a different
file, or was requested by the operator."""


@dataclass(slots=True)
class _Period:
    """The lines of one kind since ``began`` (``time.monotonic``)."""

    began: float
    lines: int = 0
    suppressed: int = 0


class LimitedHandler(UnblockedHandler):
    """Writes records to a stream, but only the first few similar ones of each period.

    At the end of a period it logs how many were suppressed. Records are similar if the same line of
    code logged them for the same type of error.
    """

    def __init__(
        self, stream: TextIO, lines: int = LINES_PER_PERIOD, period: float = PERIOD
    ) -> None:
        super().__init__(stream)
        self._lines = lines
        self._period = period
        self._periods: dict[Hashable, _Period] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        if f"{record.name}.".startswith(UNLIMITED):
            super().emit(record)
            return
        period = self._current(_kind(record))
        if period.lines < self._lines:
            period.lines += 1
            super().emit(record)
            return
        period.suppressed += 1
        if period.suppressed == 1:
            remaining = max(0.0, period.began + self._period - time.monotonic())
            timer = Timer(remaining, self._log_suppressed, (period, record))
            timer.daemon = True
            timer.start()

    def _current(self, kind: Hashable) -> _Period:
        now = time.monotonic()
        period = self._periods.get(kind)
        if period is None or now >= period.began + self._period:
            if len(self._periods) >= MOST_KINDS:
                self._periods.clear()
            period = self._periods[kind] = _Period(now)
        return period

    def _log_suppressed(self, period: _Period, first: logging.LogRecord) -> None:
        """End ``period`` and log how many records like ``first`` were suppressed."""
        summary = copy.copy(first)
        summary.exc_info = summary.exc_text = summary.stack_info = None
        summary.created = time.time()
        summary.msg = "%d %s like this one %s left out: %s"
        self.acquire()
        try:
            left = period.suppressed
            words = noun(left, "line"), noun(left, "was", "were")
            summary.args = (left, *words, first.getMessage())
            period.began = float("-inf")
            super().emit(summary)
        finally:
            self.release()


def _kind(record: logging.LogRecord) -> Hashable:
    """Return the grouping key of a record, which clients cannot influence."""
    if record.exc_info and record.exc_info[0] is not None:
        kind, _, trace = record.exc_info
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else None
        return record.name, record.levelno, kind, place
    arguments = record.args if isinstance(record.args, tuple) else ()
    errors = tuple(type(one) for one in arguments if isinstance(one, BaseException))
    return record.name, record.levelno, record.pathname, record.lineno, errors
