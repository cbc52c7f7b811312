"""Common setup of all service processes: logging, signals, and exiting with the parent."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from typing import Final

from mapshelf.service.json_log import JSONFormatter
from mapshelf.service.log_limit import LimitedHandler
from mapshelf.settings import LogFormat

LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def set_up_logging(log_format: LogFormat = LogFormat.TEXT) -> None:
    """Log to standard error: all our own lines, and warnings of libraries."""
    handler = LimitedHandler(sys.stderr)
    if log_format is LogFormat.JSON:
        handler.setFormatter(JSONFormatter())
    else:
        handler.setFormatter(logging.Formatter(line_start() + LOG_FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("mapshelf").setLevel(logging.INFO)
    # It warns about every invalid form, which is the client's fault.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)


def line_start() -> str:
    """Return the prefix for a line on standard error.

    In a terminal, it clears the importer's progress bar, which is then redrawn below.
    """
    return "\r\x1b[K" if sys.stderr.isatty() else ""


def exit_with_parent() -> None:
    """Kill this process when its parent exits, for whatever reason.

    A parent that is killed cannot stop its children. Without this they would continue, and keep
    the port.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_kill_after, args=(parent.sentinel,), daemon=True).start()


def stop_event() -> threading.Event:
    """Return an event that is set when this process receives SIGTERM.

    SIGINT and SIGHUP are ignored: the terminal sends them to every process of the group, and the
    supervisor decides what they mean.
    """
    event = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: event.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return event


def _kill_after(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
