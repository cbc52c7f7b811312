"""Keeps garbage collections from blocking a worker.

The collector begins a full collection whenever there are a quarter more objects than at the last
one. A search of private maps creates millions of objects, hardly any of them in cycles, and
collections among them blocked all other requests of the worker for up to 0.3 s each. So full
collections depend on the time instead.
"""

import gc
import threading
import time
from typing import Final

EVERY: Final = 60.0
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
