"""The counters of this worker, for ``GET /metrics`` and ``mapshelf status``.

Counting a request takes two or three additions in this process. Once a second, a task writes all
counters to the file of this worker (``metrics/count_files.py``).
"""

import asyncio
import contextlib
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mapshelf.api.errors import error_name
from mapshelf.api.queues import Queues
from mapshelf.api.routes import READING, Route
from mapshelf.api.waiting import pause
from mapshelf.metrics.count_files import WRITTEN_EVERY, CountFile
from mapshelf.metrics.counts import (
    Numbers,
    OperationCounts,
    TaskCounts,
    numbers_of_operations,
)

OTHER: Final = "other"
"""The name for requests that match no operation: unknown paths, wrong methods, OPTIONS."""

CLIENT_GONE: Final = 499
"""The status counted for requests whose client disconnected; never sent."""


class Measurements:
    """The counters of one worker.

    Attributes:
        other: counts requests for no operation.
        lookups: counts queries for tokens, once the store has been opened.
    """

    def __init__(
        self,
        folder: Path,
        routes: Mapping[str, Route],
        queues: Queues,
        refused: Callable[[], Mapping[str, int]],
    ) -> None:
        """Create the counters.

        Args:
            folder: the folder of the files of all workers.
            routes: the routes, each of which gets counters for its operations.
            queues: the queues of this worker.
            refused: returns the number of refused requests by rate limit.
        """
        self.other = OperationCounts(OTHER)
        self.lookups = TaskCounts()
        self._folder = folder
        self._queues = queues
        self._refused = refused
        self._operations = [self.other]
        # Alerts use these: without an initial zero, the first error would not be an increase.
        self._errors = {"Fault": 0, "Overloaded": 0}
        self._file: CountFile | None = None
        self._written: tuple[Numbers, Numbers] = {}, {}
        for path, route in routes.items():
            self._count(path, route)

    def note_error(self, error: Exception) -> None:
        """Count an error that was reported to a client."""
        name = error_name(error)
        self._errors[name] = self._errors.get(name, 0) + 1

    def start(self) -> None:
        """Open the file of this worker."""
        self._file = CountFile(self._folder)
        self._write(*self._counted())

    async def follow(self) -> None:
        """Write the counters at intervals, until cancelled."""
        while True:
            await pause(WRITTEN_EVERY)
            counted = self._counted()
            # An idle service writes nothing, so that disks can sleep.
            if counted != self._written:
                await asyncio.to_thread(self._write, *counted)

    def stop(self) -> None:
        """Write the final counters."""
        if self._file:
            self._write(*self._counted())
            self._file.close()

    def _write(self, totals: Numbers, gauges: Numbers) -> None:
        self._written = totals, gauges
        if self._file:
            usage = {"process": {"": [time.process_time()]}}
            self._file.write({**totals, **usage}, {**gauges, "memory": {"": [_memory()]}})

    def _count(self, path: str, route: Route) -> None:
        for method in route.methods:
            if method == "HEAD":
                continue
            counts = OperationCounts(f"{method} {path}")
            self._operations.append(counts)
            names = READING if method == "GET" else (method,)
            route.counts.update(dict.fromkeys(names, counts))

    def _counted(self) -> tuple[Numbers, Numbers]:
        """Return totals and gauges."""
        queues = self._queues.by_name()
        totals = numbers_of_operations(self._operations)
        totals["errors"] = {name: [count] for name, count in self._errors.items()}
        totals["tasks"] = {name: _numbers(queue.counts) for name, queue in queues.items()}
        totals["limited"] = {name: [float(count)] for name, count in self._refused().items()}
        totals["lookups"] = {"": _numbers(self.lookups)}
        lengths = {name: [float(queue.waiting), queue.running] for name, queue in queues.items()}
        return totals, {"queues": lengths}


def _numbers(counts: TaskCounts) -> list[float]:
    return [counts.done, counts.refused, counts.late, counts.waited, counts.worked]


def _memory() -> float:
    """Return the resident memory of this process in bytes, including shared memory."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return float(pages * resource.getpagesize())
    # Other systems only report the peak.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)
