"""What every process of the service does alike: log, heed signals, and not outlive its parent."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from typing import Final

from mapshelf.service.log_limit import LimitedHandler

LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def set_up_logging() -> None:
    """Log warnings of others and everything of our own to the standard error stream."""
    handler = LimitedHandler(sys.stderr)
    logging.basicConfig(handlers=[handler], format=LOG_FORMAT, level=logging.WARNING)
    logging.getLogger("mapshelf").setLevel(logging.INFO)


def end_with_parent() -> None:
    """End this process when its parent does, however that came about.

    A parent that is killed outright cannot tell its children; left alone, they would go on and
    hold the port.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_await_end, args=(parent.sentinel,), daemon=True).start()


def stop_event() -> threading.Event:
    """Return an event that is set when this process is asked to end.

    An interrupt from the keyboard reaches every process of the group; the one over the others
    decides what it means, and tells them.
    """
    event = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: event.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return event


def _await_end(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
