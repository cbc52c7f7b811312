"""Parses uploaded map files in sandboxed child processes, like an import does.

A child starts with the first file. A file that takes long is parsed again, from the beginning, in a
child of its own, so that the files of others do not wait for it (``feedback_queue``). Refused files
are not stored.
"""

import hashlib
import zlib
from typing import Final

from mapshelf.api.feedback_queue import TakesLong, must_be_quick
from mapshelf.errors import StoreUnavailable, TooSlow
from mapshelf.model import UploadedFile
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.read_task import FileAgain
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader

QUICK_SECONDS: Final = 1
"""Seconds of processor time after which a file takes long. Maps of people take a tenth."""

LONGEST_NAME = 200
"""Maximum length of a stored file name, in characters; of a longer name, the end is kept."""

NAMELESS = "map"
"""The name of a file that was sent without one."""

REFUSED = "The file is refused: "
"""The beginning of each message about a refused file."""


class UploadReader:
    """Parses one file at a time. It may be closed from another thread.

    Attributes:
        reader: runs the child that parses.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        """Prepare to parse files within ``limits``, by default those of an import."""
        self.reader = SandboxedReader(workers=1, limits=limits)
        self._closed = False

    def read(self, name: str, content: bytes) -> UploadedFile:
        """Parse a map file.

        Args:
            name: its name without folders, as sent by the client; may be empty.
            content: the file.

        Raises:
            UnreadableFile: it is refused; the message says why, and the subclass is the kind of
                reason.
            StoreUnavailable: the service is shutting down.
        """
        name = name[-LONGEST_NAME:].strip() or NAMELESS
        # Compressed only because the reader expects the format of the store.
        again = FileAgain(zlib.compress(content, 1), name, "")
        (result,) = self.reader.read_again([again])
        if isinstance(result, ReadFile):
            return _uploaded_file(name, result)
        if self._closed:
            raise StoreUnavailable("the service is shutting down")
        raise result.kind(f"{REFUSED}{result.reason}.")

    def close(self) -> None:
        """Kill the child, even if it is parsing a file."""
        self._closed = True
        self.reader.close()


class PatientReader:
    """Parses two files at a time, for a feedback queue: one that takes long, and another one.

    Attributes:
        quick: parses files that do not take long.
        slow: parses the others.
    """

    def __init__(self) -> None:
        self.quick = UploadReader(Limits(cpu_seconds=QUICK_SECONDS))
        self.slow = UploadReader()

    def read(self, name: str, content: bytes) -> UploadedFile:
        """Parse a map file (see ``UploadReader.read``).

        Raises:
            TakesLong: it takes long, and this thread must be quick.
            UnreadableFile: it is refused.
            StoreUnavailable: the service is shutting down.
        """
        if not must_be_quick():
            return self.slow.read(name, content)
        try:
            return self.quick.read(name, content)
        except TooSlow:
            raise TakesLong from None

    def close(self) -> None:
        """Kill the children, even if they are parsing files."""
        self.quick.close()
        self.slow.close()


def digest_of(content: bytes) -> bytes:
    """Return the digest of a file's content, as in ``UploadedFile``."""
    return hashlib.sha256(content).digest()


def _uploaded_file(name: str, result: ReadFile) -> UploadedFile:
    return UploadedFile(
        name=name,
        digest=result.digest,
        size=result.size,
        content=result.content,
        outline=result.outline,
        images=result.images,
        links=result.links,
        software=result.software,
        title=result.title,
        description=result.description,
        template=result.template,
        tags=result.tags,
    )
