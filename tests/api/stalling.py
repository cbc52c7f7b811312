"""A service with a short timeout for stalled clients, and a slow search for their connections.

``python -m tests.api.stalling FOLDER PORT`` serves a large body besides the API. The search for a
connection creates ``FOLDER/looking``, and then waits until a file ``FOLDER/found`` exists.
"""

import os
import socket
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from mapshelf.api import Application, application, rsgi
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response, body_response
from mapshelf.api.pipe import end_connection
from mapshelf.api.routes import Route
from mapshelf.api.streaming import Streams
from mapshelf.service.listening import bind_socket, listen, resolve_address
from mapshelf.service.web_server import serve_http
from mapshelf.settings import Settings

LARGE: Final = 16 << 20
"""Bytes of the body: more than the kernel keeps for a client who takes nothing."""

PATIENCE: Final = 2.0
"""Seconds that a client has to take a piece."""

LOOKING: Final = 30.0
"""Seconds after which a connection is found at the latest."""


async def show_large(context: Context, request: Request) -> Response:
    return body_response(200, b"application/octet-stream", bytes(LARGE), ())


def large_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes."""
    return {"/test/large": Route(show_large, scope=None)}


def end_when_found(folder: Path, client: str) -> bool:
    """End a connection, once the test lets the search for it finish."""
    (folder / "looking").touch()
    deadline = time.monotonic() + LOOKING
    while not (folder / "found").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return end_connection(client)


def load_application(settings: Settings) -> Any:
    patch.object(application, "Streams", partial(Streams, PATIENCE)).start()
    patch.object(rsgi, "end_connection", partial(end_when_found, settings.data)).start()
    return rsgi.RSGIApplication(Application(settings, large_routes))


def main(folder: Path, listener: socket.socket) -> None:
    settings = Settings(data=folder, database=os.environ["DATABASE"], base_url="http://x")
    serve_http(listener, partial(load_application, settings))


if __name__ == "__main__":
    opened = bind_socket(resolve_address("127.0.0.1", int(sys.argv[2])))
    listen(opened)
    main(Path(sys.argv[1]), opened)
