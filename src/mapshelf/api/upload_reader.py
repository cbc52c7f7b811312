"""Reads uploaded map files, in a child process with limits, as an import does.

The child starts with the first file. What is refused is kept nowhere.
"""

import hashlib
import zlib
from dataclasses import dataclass

from mapshelf.errors import StoreUnavailable
from mapshelf.model import UploadedFile
from mapshelf.readers.sandboxed_reader import FileAgain, ReadFile, SandboxedReader

LONGEST_NAME = 200
"""Characters of the name of a file that are kept: the last ones."""

NAMELESS = "map"
"""The name of a file without one."""

REFUSED = "The file is refused: "
"""How each message begins that says why."""


@dataclass(frozen=True, slots=True)
class ReadUpload:
    """An uploaded file that was read.

    Attributes:
        file: for the store.
        title: what it says itself, see ``ReadFile``.
        description: likewise.
        template: likewise.
    """

    file: UploadedFile
    title: str
    description: str
    template: bool


class UploadReader:
    """Reads one file at a time. It may be closed from another thread."""

    def __init__(self) -> None:
        self._reader = SandboxedReader(workers=1)
        self._closed = False

    def read(self, name: str, content: bytes) -> ReadUpload:
        """Read a map file.

        Args:
            name: its name without folders, as the client says; may be empty.
            content: the file.

        Raises:
            UnreadableFile: it is refused; the message says why, and its class what kind of reason
                that is.
            StoreUnavailable: the service is shutting down.
        """
        name = name[-LONGEST_NAME:].strip() or NAMELESS
        # Packed only because the reader takes what the store keeps.
        again = FileAgain(zlib.compress(content, 1), name, "")
        (result,) = self._reader.read_again([again])
        if isinstance(result, ReadFile):
            return ReadUpload(_uploaded_file(name, result), *_facts(result))
        if self._closed:
            raise StoreUnavailable("the service is shutting down")
        raise result.kind(f"{REFUSED}{result.reason}.")

    def close(self) -> None:
        """End the child, even if it is reading a file."""
        self._closed = True
        self._reader.close()


def digest_of(content: bytes) -> bytes:
    """Return what identifies the content of a file, as ``UploadedFile`` has it."""
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
        tags=result.tags,
    )


def _facts(result: ReadFile) -> tuple[str, str, bool]:
    return result.title, result.description, result.template
