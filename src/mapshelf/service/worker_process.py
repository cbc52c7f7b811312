"""A worker: a process that answers requests."""

import gc
import signal
import socket
import sys
from functools import partial
from typing import Any, Final

from mapshelf.garbage_collection import collect_by_time
from mapshelf.service.process_setup import exit_with_parent, set_up_logging
from mapshelf.service.web_server import serve_http
from mapshelf.settings import Settings

SWITCH_INTERVAL: Final = 0.0005
"""Thread switch interval in seconds.

The event loop releases the interpreter lock whenever it opens a file. With the default of 5 ms, it
would then wait that long for a busy thread."""


def run_worker_process(settings: Settings, listener: socket.socket) -> None:
    """Answer the requests of clients that connect to ``listener`` until asked to stop."""
    # A terminal sends these to all processes, and the supervisor decides what they mean. Granian
    # sets a handler of its own, so they are blocked, in all threads: before any other is started.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    exit_with_parent()
    serve_http(listener, partial(_load_application, settings))


def _load_application(settings: Settings) -> Any:
    """Create the application; Granian has set up its own logging before."""
    gc.disable()  # importing creates no garbage; collecting takes a tenth of the time
    from mapshelf.api import Application  # noqa: PLC0415
    from mapshelf.api.rsgi import RSGIApplication  # noqa: PLC0415
    from mapshelf.site import site_routes  # noqa: PLC0415

    set_up_logging(settings.log_format)
    sys.setswitchinterval(SWITCH_INTERVAL)
    application = RSGIApplication(Application(settings, site_routes))
    collect_by_time()
    return application
