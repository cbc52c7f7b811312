"""The metrics process: serve ``GET /metrics`` on a separate address.

A separate process costs the workers nothing, and still answers when they do not. The few requests
of a monitoring system need no fast server.
"""

import socket
import threading
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from mapshelf.metrics.exposition import MEDIA_TYPE, expose
from mapshelf.metrics.watcher import Watcher
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.settings import Settings
from mapshelf.store import Store, open_store

PATH: Final = "/metrics"

MOST_CONNECTIONS: Final = 16
"""Connections at a time; further ones are closed."""

CLIENT_TIMEOUT: Final = 10.0
"""Seconds that a client has to send its request, and to read the response."""


def run_metrics_process(settings: Settings, listener: socket.socket) -> None:
    """Answer on ``listener`` until asked to stop."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    stop = stop_event()
    watcher = Watcher(settings.data, _LazyStore(settings.database).get)
    server = _Server(listener, watcher)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stop.wait()
    server.shutdown()


class _LazyStore:
    """The store, opened on first use."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._store: Store | None = None

    def get(self) -> Store:
        """Return the store.

        Raises:
            StoreError: it cannot be opened.
        """
        if self._store is None:
            self._store = open_store(self._url, create=False)
        return self._store


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, watcher: Watcher) -> None:
        handler = partial(_Handler, watcher)
        super().__init__(listener.getsockname()[:2], handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self._free = threading.Semaphore(MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server_version = "Mapshelf"
    sys_version = ""
    timeout = CLIENT_TIMEOUT

    def __init__(self, watcher: Watcher, *arguments: Any) -> None:
        self._watcher = watcher
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer a request."""
        if self.path.partition("?")[0] != PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        body = expose(self._watcher.overview())
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the names that the base class calls

    def log_message(self, *_: Any) -> None:
        """Log nothing: it would be a line every few seconds."""
