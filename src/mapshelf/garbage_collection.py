"""Keeps garbage collections from blocking a worker.

A collection holds the interpreter, so that no request is answered meanwhile. A search of private
maps creates sets with millions of words, hardly anything in cycles, and yet each collection
traverses them: a full one took up to 0.3 s, one of new objects 0.05 s. So full collections depend
on the time instead of the number of objects, and there are no others during long searches.
"""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

EVERY: Final = 20.0
"""Seconds between full collections."""

_NEVER: Final = 1 << 30


def collect_by_time(every: float = EVERY) -> None:
    """Run a full collection every few seconds, and none because of the number of objects.

    Objects that exist already are excluded. The modules alone create a hundred thousand.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], _NEVER)
    gc.enable()
    threading.Thread(target=_collect, args=(every,), name="garbage", daemon=True).start()


def _collect(every: float) -> None:
    while True:
        time.sleep(every)
        gc.collect()


class CollectionPause:
    """Pauses collections in this process, except for those by time, while any thread is in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Return a context manager; several threads may be in one at the same time."""
        with self._lock:
            if not self._inside:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside and self._was_enabled:
                    gc.enable()
