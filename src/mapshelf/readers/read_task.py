"""The files that ``sandboxed_reader.py`` is asked to parse."""

import os
from contextlib import suppress
from typing import NamedTuple


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
