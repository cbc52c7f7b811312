"""``python -m benchmarks.floor PORT FILE``: our server with an empty application.

It answers every request with the same prepared response, which is the least that any request can
cost. ``FILE`` contains the pickled headers and body.
"""

import asyncio
import pickle
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

from mapshelf.api.rsgi import HTTPProtocol, HTTPScope, TextHeaders
from mapshelf.service.listening import BACKLOG
from mapshelf.service.web_server import serve_http


class Floor:
    """The empty application."""

    def __init__(self, headers: TextHeaders, body: bytes) -> None:
        """Prepare the only response."""
        self._headers = headers
        self._body = body

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start; there is nothing to prepare."""

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop."""

    async def __rsgi__(self, scope: HTTPScope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        protocol.response_bytes(200, self._headers, self._body)


def load(file: Path) -> Any:
    """Return the application for the response in ``file``."""
    return Floor(*pickle.loads(file.read_bytes()))  # noqa: S301 - the benchmark wrote it


def main() -> None:
    """Serve until a signal ends the process."""
    port, file = int(sys.argv[1]), Path(sys.argv[2])
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
        serve_http(listener, partial(load, file))


if __name__ == "__main__":
    main()
