"""The web process: run the HTTP server and its workers."""

import gc
import socket
import sys
from functools import partial
from typing import Any, Final

from mapshelf.metrics.count_files import count_refused_connections
from mapshelf.service.process_setup import exit_with_parent, set_up_logging
from mapshelf.service.web_server import serve_http
from mapshelf.settings import Settings

SWITCH_INTERVAL: Final = 0.0005
"""Thread switch interval in seconds.

The event loop releases the interpreter lock whenever it opens a file. With the default of 5 ms, it
would then wait that long for a busy thread."""


def run_web_process(settings: Settings, listener: socket.socket, workers: int) -> None:
    """Serve HTTP on ``listener`` with this number of workers until asked to stop."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    count_refused = partial(count_refused_connections, settings.counts)
    serve_http(listener, workers, partial(_load_application, settings), count_refused)


def _load_application(settings: Settings, *_: Any, **__: Any) -> Any:
    """Create the application in a worker. The web process itself does not need to import it."""
    gc.disable()  # importing creates no garbage; collecting takes a tenth of the time
    from mapshelf.api import Application  # noqa: PLC0415
    from mapshelf.api.rsgi import RSGIApplication  # noqa: PLC0415
    from mapshelf.site import site_routes  # noqa: PLC0415

    set_up_logging(settings.log_format)
    exit_with_parent()
    sys.setswitchinterval(SWITCH_INTERVAL)
    application = RSGIApplication(Application(settings, site_routes))
    _keep_from_collector()
    return application


def _keep_from_collector() -> None:
    """Exclude long-lived objects from garbage collection.

    The modules alone create a hundred thousand objects. A full collection would traverse them all
    and block the worker for about 50 ms.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
