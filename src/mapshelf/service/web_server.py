"""Granian as the server of one worker, without its own main process.

Granian's main process does what our supervisor does for all processes: it starts workers and
replaces those that die. A second one would take 19 MB. It also gives each worker a socket of its
own, where connections are lost when the worker dies. So each worker is a child of the supervisor,
and runs here what Granian would run in a new process. There is no public function for that. This is
all of Granian that is not its public interface:

* ``CALLED_METHODS``: ``_spawn_worker`` prepares a process that would run ``_spawn_rsgi_worker``;
* ``SET_ATTRIBUTES``: the listening socket as Python (``_sso``) and Rust (``_shd``) have it;
* ``USED_WORKER_ATTRIBUTES``: the process (``inner``), whose work this process does itself.

``tests/service/test_web_server.py`` checks that the installed version has them. To upgrade Granian,
compare these parts, then change ``GRANIAN_VERSION`` here and the pin in ``pyproject.toml``.
"""

import socket
from collections.abc import Callable
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings
from granian.net import SocketHolder  # type: ignore[attr-defined]  # stubs lag behind
from granian.server.mp import MPServer

from mapshelf.descriptors import connection_limit
from mapshelf.service.listening import BACKLOG

GRANIAN_VERSION: Final = "2.8"
CALLED_METHODS: Final = {"_spawn_worker": ("self", "idx", "target", "callback_loader")}
SET_ATTRIBUTES: Final = ("_sso", "_shd")
USED_WORKER_ATTRIBUTES: Final = ("inner",)

HEADER_TIMEOUT: Final = 10_000
"""Milliseconds a client has to send the headers of a request."""

BUFFER_SIZE: Final = 32_768
"""Bytes that a connection buffers at most of a request's headers, and of a response besides its
body: far above any request we understand, and little enough for thousands of connections."""


def serve_http(listener: socket.socket, load_application: Callable[[], Any]) -> None:
    """Serve HTTP/1.1 on ``listener`` until this process receives SIGTERM or SIGINT.

    ``load_application`` is called once for the RSGI application.
    """
    server = MPServer(
        "mapshelf.api",
        interface=Interfaces.RSGI,
        loop=Loops.uvloop,
        runtime_mode=RuntimeModes.st,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=connection_limit(),
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_TIMEOUT, max_buffer_size=BUFFER_SIZE
        ),
        log_enabled=False,
    )
    server._sso = listener
    server._shd = SocketHolder(listener.fileno(), False, BACKLOG)  # type: ignore[assignment, call-arg]  # stubs lag behind
    worker = server._spawn_worker(0, server._spawn_rsgi_worker, load_application)
    worker.inner.run()
