"""Streams large bodies through Granian by a pipe, as fast as the client reads.

RSGI accepts a body in memory, in pieces that it buffers without limit, or as the path of a file,
which it reads as fast as the client. So a large body is written into a pipe, and the server gets
the path of the other end: while the client accepts nothing, the pipe is full.

RSGI cannot close a connection either. If a client accepts nothing for too long, its connection is
found among the sockets of this process by the client's address, and shut down.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import sys
import termios
from array import array
from ipaddress import ip_address
from typing import BinaryIO, Final

from mapshelf.api.send_rate import PIECE
from mapshelf.api.streaming import Stream

CAPACITY: Final = 65_536
"""Bytes that a pipe holds. It must be less than any large body (``LARGE_BODY``): once all has been
written, our ends are closed, so the server must have opened its own by then. By default, a pipe has
16 pages of the memory, which are 64 KiB only if a page has 4 KiB."""

_DESCRIPTORS: Final = "/dev/fd"
"""The folder of a process's open files, by descriptor."""


class Pipe:
    """A pipe that a body is written into and the server reads; a context manager closes it."""

    def __init__(self) -> None:
        """Open the pipe.

        Raises:
            OSError: too many files are open.
        """
        self._reader, self._writer = os.pipe()
        # On other systems, and for a user with many pipes, they are smaller, and may not grow.
        if sys.platform == "linux" and fcntl.fcntl(self._writer, fcntl.F_GETPIPE_SZ) > CAPACITY:
            fcntl.fcntl(self._writer, fcntl.F_SETPIPE_SZ, CAPACITY)
        self._written = 0
        os.set_blocking(self._writer, False)

    def __enter__(self) -> "Pipe":
        return self

    def __exit__(self, *_: object) -> None:
        self._close_reader()
        os.close(self._writer)

    @property
    def path(self) -> str:
        """The path that the server reads."""
        return f"{_DESCRIPTORS}/{self._reader}"

    async def send(self, body: BinaryIO, stream: Stream) -> bool:
        """Write a body as fast as it is read; return whether sending is over.

        This is false if ``stream`` was cut off, and true if the reader closed its end.
        """
        while piece := memoryview(body.read(PIECE)):
            await stream.turn(len(piece))
            if stream.is_cut_off:
                return False
            self._close_reader_once_read()
            while piece:
                try:
                    written = os.write(self._writer, piece)
                    self._written += written
                    piece = piece[written:]
                except BlockingIOError:
                    if not await self._wait_for_room(stream):
                        return False
                except BrokenPipeError:
                    return True
        return True

    async def _wait_for_room(self, stream: Stream) -> bool:
        """Wait until the pipe has room again; return false if that takes too long."""
        loop = asyncio.get_running_loop()
        room: asyncio.Future[None] = loop.create_future()
        loop.add_writer(self._writer, _set, room)
        try:
            if not await stream.wait_until_taken(room):
                return False
        finally:
            loop.remove_writer(self._writer)
        self._close_reader_once_read()
        return True

    def _close_reader_once_read(self) -> None:
        """Close our end if the server has opened its own, or we would not notice when it closes."""
        if self._reader >= 0 and self._written > _bytes_in(self._reader):
            self._close_reader()

    def _close_reader(self) -> None:
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1


def _bytes_in(pipe: int) -> int:
    """Return how many bytes of a pipe have not been read."""
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def _set(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def end_connection(client: str) -> bool:
    """Shut down the connection of this process to ``client``; return whether there was one.

    It goes through all open descriptors, which takes milliseconds if there are hundreds: call it in
    a thread.

    Args:
        client: address and port of the other end, as Granian reports them.
    """
    host, _, port = client.rpartition(":")
    wanted = (ip_address(host.strip("[]")), int(port))
    return any(_ends(int(number), wanted) for number in os.listdir(_DESCRIPTORS))


def _ends(descriptor: int, wanted: tuple[object, int]) -> bool:
    """Shut down a descriptor if it is the wanted socket; return whether it is."""
    try:
        connection = socket.socket(fileno=descriptor)
    except OSError:  # not a socket, or closed meanwhile
        return False
    try:
        if not _leads_to(connection, wanted):
            return False
        # The duplicate stays valid, even if the server closes its own descriptor meanwhile.
        copy = connection.dup()
    except OSError:
        return False
    finally:
        connection.detach()
    with copy:
        if not _leads_to(copy, wanted):  # closed before it was duplicated, and in use again
            return False
        with contextlib.suppress(OSError):
            copy.shutdown(socket.SHUT_RDWR)
        return True


def _leads_to(connection: socket.socket, wanted: tuple[object, int]) -> bool:
    with contextlib.suppress(OSError, ValueError):  # not connected, or locally
        host, port, *_ = connection.getpeername()
        return port == wanted[1] and ip_address(host) == wanted[0]
    return False
