"""HTTP/1.1 for load that a well-behaved client does not make.

Written by hand although libraries do it well: requests are sent byte by byte as they are given,
malformed ones included, and a client that takes little processor time leaves it to the server on
the machine that both share.
"""

import asyncio
import socket
from dataclasses import dataclass
from typing import Final, Self

ADDRESS: Final = "127.0.0.1"
LARGEST_HEAD: Final = 1 << 18
"""Bytes of the headers of an answer, far more than any has."""

NO_BODY: Final = (204, 304)

BOUNDARY: Final = "boundary-of-parts"

IP_BIND_ADDRESS_NO_PORT: Final = 24
"""Of Linux; Python 3.11 has no name for it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; ``headers`` by their names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """A connection, over which one request after the other is sent.

    Attributes:
        requests: how many were sent over it.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._closing = False
        self.requests = 0

    @classmethod
    async def opened(cls, port: int, source: str = ADDRESS) -> Self:
        """Connect to a port of this machine, from one of its own addresses.

        Raises:
            OSError: it is refused.
        """
        connected = await connected_socket(port, source)
        return cls(*await asyncio.open_connection(sock=connected, limit=LARGEST_HEAD))

    @property
    def is_usable(self) -> bool:
        """Whether another request can be sent, as far as can be seen from here."""
        return not (self._closing or self._reader.at_eof() or self._writer.is_closing())

    def send(self, request: bytes) -> None:
        """Send bytes without waiting for an answer."""
        self.requests += 1
        self._writer.write(request)

    async def ask(self, request: bytes, *, head: bool = False) -> Reply:
        """Send a request and read the whole answer; ``head`` says that it has no body.

        Raises:
            OSError: the connection broke.
            EOFError: the server closed it before the answer was whole.
        """
        self.send(request)
        return await self.reply(head=head)

    async def reply(self, *, head: bool = False) -> Reply:
        """Read the next answer.

        Raises:
            OSError: the connection broke.
            EOFError: the server closed it before the answer was whole.
        """
        while True:
            status, headers = await self._head()
            if status >= 200:
                break
        body = b"" if head or status in NO_BODY else await self._body(headers)
        return Reply(status, headers, body)

    def close(self) -> None:
        """Hang up at once, whatever is under way."""
        self._writer.transport.abort()

    async def _head(self) -> tuple[int, dict[str, str]]:
        text = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text[:-4].split("\r\n")
        named = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in named}
        self._closing |= headers.get("connection", "").lower() == "close"
        return int(first.split(" ", 2)[1]), headers

    async def _body(self, headers: dict[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", ""):
            return await self._chunks()
        if "content-length" in headers:
            return await self._reader.readexactly(int(headers["content-length"]))
        self._closing = True
        return await self._reader.read()

    async def _chunks(self) -> bytes:
        chunks = []
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            chunks.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        while await self._reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return b"".join(chunks)


async def connected_socket(port: int, source: str, receiving: int | None = None) -> socket.socket:
    """Return a socket that is connected to a port of this machine.

    Args:
        port: where to.
        source: the address of this machine to come from.
        receiving: bytes that it takes before somebody reads them, by default many.

    Raises:
        OSError: it is refused.
    """
    made = socket.socket()
    try:
        made.setblocking(False)
        if receiving is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receiving)
        # Ports are chosen when it is known where to, so that each of them serves many times.
        made.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        made.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(made, (ADDRESS, port))
    except BaseException:
        made.close()
        raise
    return made


def get_request(path: str, token: str = "") -> bytes:
    """Return the bytes of a ``GET``, with a token if there is one."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: {ADDRESS}\r\n{authorization}\r\n".encode()


def upload_request(content: str, token: str) -> bytes:
    """Return the bytes of an upload of a FreeMind map, whose file is ``content``."""
    disposition = 'Content-Disposition: form-data; name="map"; filename="plan.mm"'
    body = f"--{BOUNDARY}\r\n{disposition}\r\n\r\n{content}\r\n--{BOUNDARY}--\r\n".encode()
    head = (
        f"POST /maps HTTP/1.1\r\nHost: {ADDRESS}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
