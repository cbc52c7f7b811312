"""The files that ``sandboxed_reader.py`` is asked to parse."""

import os
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple


class FileAgain(NamedTuple):
    """A stored map file to parse again.

    Attributes:
        content: zlib-compressed.
        path: its original path, or only its name. The path itself is not read, but linked images
            next to it are.
        folder: the imported folder that contains ``path``, empty to skip linked images.
    """

    content: bytes
    path: str
    folder: str


class ReadTask(NamedTuple):
    """A file to parse.

    Attributes:
        path: path of the file.
        folder: the imported folder that contains it, empty for a single file.
        content: zlib-compressed content to parse instead of the file.
    """

    path: str
    folder: str
    content: bytes | None = None

    def size(self) -> int:
        """Return about how many bytes have to be read, 0 if that is unknown."""
        if self.content is not None:
            return len(self.content)
        with suppress(OSError, ValueError):
            return os.path.getsize(self.path)
        return 0


class PendingRead(NamedTuple):
    """A file that is being read.

    Attributes:
        task: the file.
        future: done when it is read, with a result that says how many bytes it takes in memory.
        size: about how many bytes the file has.
    """

    task: ReadTask
    future: "Future[Any]"
    size: int

    def in_memory(self) -> int:
        """Return about how many bytes it takes in memory. Its pictures may be in other files."""
        if not self.future.done() or self.future.cancelled() or self.future.exception():
            return self.size
        return int(self.future.result().in_memory())
