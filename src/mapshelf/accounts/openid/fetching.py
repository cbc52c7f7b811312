"""HTTP requests to the OpenID provider: few, small, and only to addresses the operator allows.

``http.client`` suits this better than a full client library: it follows no redirects, reads no
proxy settings from the environment, and has explicit timeouts. Each request ends within ``LONGEST``
seconds, whatever the server sends.
"""

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR, socket
from threading import Event, Timer
from typing import Any, Final
from urllib.parse import SplitResult

from mapshelf.accounts.openid.provider_urls import checked_url
from mapshelf.errors import InvalidSetting

PATIENCE: Final = 5.0
"""Timeout of each network operation, in seconds."""

LONGEST: Final = 10.0
"""Timeout of a whole request, in seconds."""

CUT_EVERY: Final = 0.1
"""Seconds between attempts to cut a connection that is over time."""

LARGEST: Final = 512 * 1024
"""Maximum size of a response in bytes."""


class FetchError(Exception):
    """A request failed, or its response cannot be used. The message is for the operator's log."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response: its status, and the JSON object in its body, empty if there is none."""

    status: int
    content: Mapping[str, Any]


def fetch(url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Fetched:
    """Return the response to a GET, or to a POST if there is a ``body``.

    Raises:
        FetchError: there is no response, or it is unusable.
    """
    try:
        parts = checked_url(url)
    except InvalidSetting as error:
        raise FetchError(str(error)) from error
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    given = {"Accept": "application/json", "User-Agent": "Mapshelf", **(headers or {})}
    if body is not None:
        given["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        with _connected(parts) as connection:
            connection.request("POST" if body is not None else "GET", target, body, given)
            with connection.getresponse() as response:
                content = response.read(LARGEST + 1)
    except (OSError, HTTPException, UnicodeError) as error:  # UnicodeError: an invalid host name
        raise FetchError(f"{_place(parts)} does not answer: {error}") from error
    if len(content) > LARGEST:
        raise FetchError(f"{_place(parts)} sends more than {LARGEST} bytes")
    return Fetched(response.status, _json_object(content))


def _json_object(content: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def _connected(parts: SplitResult) -> Iterator[HTTPConnection]:
    """Yield a connection that is closed afterwards, and cut when it takes too long."""
    host = parts.hostname or ""
    connection: HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = HTTPSConnection(host, parts.port, timeout=PATIENCE, context=context)
    else:
        connection = HTTPConnection(host, parts.port, timeout=PATIENCE)

    link: socket | None = None
    late, done = Event(), Event()

    def cut() -> None:
        late.set()
        # Repeatedly: the connection may only just have been opened.
        while not done.wait(CUT_EVERY):
            if link is not None:
                with suppress(OSError):
                    socket.shutdown(link, SHUT_RDWR)

    timer = Timer(LONGEST, cut)
    timer.daemon = True
    timer.start()
    try:
        connection.connect()
        # ``connection`` drops its socket when a response begins that ends with the connection.
        link = connection.sock
        yield connection
        if late.is_set():  # a cut response may look complete
            raise TimeoutError(f"it took longer than {LONGEST} seconds")
    finally:
        done.set()
        timer.cancel()
        connection.close()


def _place(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
