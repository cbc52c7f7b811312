"""Shares the counters of the workers of a node by files.

A worker locks its file, and the system releases the lock when the worker dies. The next worker
takes the first unlocked file, and continues with its numbers: so counters survive the death of a
worker (except the last second, if it was killed), and there are never more files than workers. The
folder is emptied when the service starts, since Prometheus expects counters to restart with it. The
lock also shows whether a worker is alive, and so whether its gauges are current.

Numbers are overwritten in place, with a checksum before them: a reader that sees a partial write
retries. Nothing is synced: counters restart after a power failure anyway.
"""

import fcntl
import logging
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson
import xxhash

from mapshelf.metrics.counts import Counts, Numbers, add_numbers

WRITTEN_EVERY: Final = 1.0
"""Seconds between writes."""

READ_TRIES: Final = 5
"""Attempts to read a file that is being written."""

READ_PAUSE: Final = 0.002
"""Seconds between these attempts."""

MOST_FILES: Final = 1024
"""Most files; more than there are workers."""

log = logging.getLogger(__name__)


def clear_counts(folder: Path) -> None:
    """Reset all counters when the service starts. No worker may use this folder."""
    shutil.rmtree(folder, ignore_errors=True)


class CountFile:
    """The file of one worker in ``folder``. Failures to write it are ignored."""

    def __init__(self, folder: Path) -> None:
        self._earlier: Numbers = {}
        self._file: int | None = None
        try:
            self._file = _claimed(folder)
        except OSError as error:
            log.warning("the requests of this worker are not counted: %s", error)
            return
        written = _read(self._file)
        if written:
            self._earlier = written["totals"]

    def write(self, totals: Numbers, gauges: Numbers) -> None:
        """Write the counts of this worker since it started, added to those it inherited."""
        if self._file is None:
            return
        said = {"totals": add_numbers((self._earlier, totals)), "gauges": gauges}
        with suppress(OSError):  # a full disk: the next attempt may succeed
            os.pwrite(self._file, _packed(said), 0)

    def close(self) -> None:
        """Release the file for the next worker."""
        if self._file is not None:
            os.close(self._file)
        self._file = None


def count_refused_connections(folder: Path, count: int) -> None:
    """Add to the number of refused connections, in the supervisor, the only one that refuses any.

    Its file is not locked, because it belongs to no worker. Failures to write it are ignored.
    """
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        file = os.open(folder / "connections.counts", flags, 0o600)
        try:
            written = _read(file)
            earlier: Numbers = written["totals"] if written else {}
            totals = add_numbers((earlier, {"connections": {"refused": [count]}}))
            os.pwrite(file, _packed({"totals": totals, "gauges": {}}), 0)
        finally:
            os.close(file)


def read_counts(folder: Path) -> Counts:
    """Return the counts of all workers of a node."""
    totals, gauges = [], []
    for path in sorted(folder.glob("*.counts")):
        with suppress(OSError), path.open("rb") as file:
            written = _read(file.fileno())
            if written is not None:
                totals.append(written["totals"])
                if _is_held(file.fileno()):
                    gauges.append(written["gauges"])
    return Counts(add_numbers(totals), add_numbers(gauges), len(gauges))


def _is_held(file: int) -> bool:
    """Return whether a worker holds the lock on a file.

    The check takes the lock for a moment. A worker that looks for a file at that moment takes the
    next one, which does no harm.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _claimed(folder: Path) -> int:
    """Lock the first unlocked file in ``folder``, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(MOST_FILES):
        file = os.open(folder / f"{number:04}.counts", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        except OSError:
            os.close(file)
            raise
        else:
            return file
    raise OSError(f"all files in {folder} are in use")


def _packed(said: Mapping[str, Any]) -> bytes:
    """Return the bytes to write; the file may have leftovers of a longer record after them."""
    body = orjson.dumps(said)
    return b"%s %d\n%s" % (xxhash.xxh3_64_hexdigest(body).encode(), len(body), body)


def _read(file: int) -> dict[str, Any] | None:
    """Return the content of a file, ``None`` if it is empty or damaged."""
    for _ in range(READ_TRIES):
        try:
            content = os.pread(file, os.fstat(file).st_size, 0)
        except OSError:
            return None
        if not content:
            return None
        head, _, rest = content.partition(b"\n")
        checksum, _, length = head.partition(b" ")
        body = rest[: int(length)] if length.isdigit() else b""
        if body and xxhash.xxh3_64_hexdigest(body).encode() == checksum:
            said: dict[str, Any] = orjson.loads(body)
            return said
        time.sleep(READ_PAUSE)
    return None
