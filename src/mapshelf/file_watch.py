"""Wait until a file is touched or replaced by any process, without looking at it again and again.

Linux reports such events (inotify). Elsewhere, and where Linux refuses to, callers must poll.

Python has no function for it. ``inotify_simple`` would do, but it starts other programs to find the
C library; ``watchfiles``, which we use for folders of maps, polls twenty times a second itself.
"""

import ctypes
import os
import select
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_ATTRIB: Final = 0x4
_MOVED_TO: Final = 0x80
_IGNORED: Final = 0x8000
_EVENT: Final = struct.Struct("iIII")
"""Watch, mask, cookie and length of the name, which follows: see inotify(7)."""

_READ_SIZE: Final = 65_536


class FileWatch:
    """Reports that a file was touched, or that a file was moved into a folder.

    Events since the last ``clear`` are kept, so none is missed if callers clear before they look at
    the file.
    """

    def __init__(self, path: Path) -> None:
        """Watch ``path``, a file or a folder, as soon as ``begin`` is called."""
        self._path = path
        self._descriptor: int | None = None

    def begin(self) -> bool:
        """Watch the path unless it is watched, and return whether it is.

        ``False`` means that the path is missing, or that the system does not support it.
        """
        if self._descriptor is None:
            with suppress(OSError):
                self._descriptor = _watch(self._path)
        return self._descriptor is not None

    def fileno(self) -> int:
        """Return the descriptor that becomes readable with an event, -1 while not watching."""
        return -1 if self._descriptor is None else self._descriptor

    def wait(self, seconds: float) -> None:
        """Wait for an event for at most this long, or all the time while not watching."""
        poll = select.poll()
        if self._descriptor is not None:
            poll.register(self._descriptor, select.POLLIN)
        poll.poll(max(0.0, seconds) * 1000)

    def clear(self) -> None:
        """Forget the events so far. If the path is gone, stop watching until ``begin``."""
        if self._descriptor is None:
            return
        with suppress(BlockingIOError):
            while events := os.read(self._descriptor, _READ_SIZE):
                if _has_ended(events):
                    self.close()
                    return

    def close(self) -> None:
        """Stop watching; may be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _watch(path: Path) -> int:
    """Return the descriptor of a new watch.

    Raises:
        OSError: the path is missing, there are too many watches, or the system has none.
    """
    if sys.platform != "linux":
        raise OSError("only Linux has inotify")
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = int(library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    if library.inotify_add_watch(descriptor, os.fsencode(path), _ATTRIB | _MOVED_TO) < 0:
        error = ctypes.get_errno()
        os.close(descriptor)
        raise OSError(error, "inotify_add_watch", str(path))
    return descriptor


def _has_ended(events: bytes) -> bool:
    """Return whether one of these events says that the path is no longer watched."""
    place = 0
    while place < len(events):
        _, mask, _, length = _EVENT.unpack_from(events, place)
        if mask & _IGNORED:
            return True
        place += _EVENT.size + length
    return False
