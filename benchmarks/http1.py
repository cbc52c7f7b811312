"""An HTTP/1.1 client for load that ordinary clients cannot generate.

Unlike HTTP libraries, it sends requests exactly as given, even malformed ones. It also needs little
processor time, which matters because it shares the machine with the server.
"""

import asyncio
import socket
from dataclasses import dataclass
from typing import Final, Self

ADDRESS: Final = "127.0.0.1"
LARGEST_HEAD: Final = 1 << 18
"""Most bytes of the headers of a response, far more than any has."""

NO_BODY: Final = (204, 304)

BOUNDARY: Final = "boundary-of-parts"

IP_BIND_ADDRESS_NO_PORT: Final = 24
"""A socket option of Linux; Python 3.11 has no name for it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; the names of ``headers`` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """A connection that sends one request after the other.

    Attributes:
        requests: how many it has sent.
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
            OSError: the connection failed.
        """
        connected = await connected_socket(port, source)
        return cls(*await asyncio.open_connection(sock=connected, limit=LARGEST_HEAD))

    @property
    def is_usable(self) -> bool:
        """Whether another request can be sent, as far as the client can tell."""
        return not (self._closing or self._reader.at_eof() or self._writer.is_closing())

    def send(self, request: bytes) -> None:
        """Send bytes without waiting for a response."""
        self.requests += 1
        self._writer.write(request)

    async def ask(self, request: bytes, *, head: bool = False) -> Reply:
        """Send a request and read the complete response; with ``head``, it has no body.

        Raises:
            OSError: the connection broke.
            EOFError: the server closed it before the response was complete.
        """
        self.send(request)
        return await self.reply(head=head)

    async def reply(self, *, head: bool = False) -> Reply:
        """Read the next response.

        Raises:
            OSError: the connection broke.
            EOFError: the server closed it before the response was complete.
        """
        while True:
            status, headers = await self._head()
            if status >= 200:
                break
        body = b"" if head or status in NO_BODY else await self._body(headers)
        return Reply(status, headers, body)

    def close(self) -> None:
        """Close the connection at once, even during a request."""
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
        port: the port to connect to.
        source: the local address to connect from.
        receiving: size of the receive buffer in bytes, by default the system's.

    Raises:
        OSError: the connection failed.
    """
    made = socket.socket()
    try:
        made.setblocking(False)
        if receiving is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receiving)
        # The local port is chosen on connecting, so that several connections can share one.
        made.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        made.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(made, (ADDRESS, port))
    except BaseException:
        made.close()
        raise
    return made


def get_request(path: str, token: str = "") -> bytes:
    """Return the bytes of a ``GET`` request, with the token if there is one."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: {ADDRESS}\r\n{authorization}\r\n".encode()


def upload_request(content: str, token: str) -> bytes:
    """Return the bytes of a request that uploads ``content`` as a FreeMind file."""
    disposition = 'Content-Disposition: form-data; name="map"; filename="plan.mm"'
    body = f"--{BOUNDARY}\r\n{disposition}\r\n\r\n{content}\r\n--{BOUNDARY}--\r\n".encode()
    head = (
        f"POST /maps HTTP/1.1\r\nHost: {ADDRESS}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
