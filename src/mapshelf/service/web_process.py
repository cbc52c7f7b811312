"""The web process: it runs the HTTP server, whose workers run our application."""

import gc
import socket
import sys
from functools import partial
from typing import Any, Final

from mapshelf.service.process_setup import exit_with_parent, set_up_logging
from mapshelf.service.web_server import serve_http
from mapshelf.settings import Settings

SWITCH_INTERVAL: Final = 0.0005
"""Maximum of seconds that a thread runs while others wait for the interpreter.

The event loop releases the interpreter with each file that it opens. With the default of 5 ms, it
would then wait that long for a busy thread."""


def run_web_process(settings: Settings, listener: socket.socket, workers: int) -> None:
    """Serve HTTP on ``listener`` with this number of workers until asked to stop."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    serve_http(listener, workers, partial(_load_application, settings))


def _load_application(settings: Settings, *_: Any, **__: Any) -> Any:
    """Create the application in a worker. The web process itself does not need to import it."""
    gc.disable()  # nothing of what is imported is garbage: a tenth of the time
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
    """Let the garbage collector pass over what stays for as long as the worker.

    That is a hundred thousand objects of the modules alone. Each full collection looks at all of
    them, and nothing is answered for some 50 ms meanwhile.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
