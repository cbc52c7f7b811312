"""The original files of maps, as the store keeps them: zlib-compressed.

All types are immutable.
"""

import zlib
from dataclasses import dataclass

from mapshelf.errors import StoreDamaged


@dataclass(frozen=True, slots=True)
class KeptFile:
    """Metadata of the stored original file of a map.

    Attributes:
        name: its name without folders, empty if it is no longer known.
        digest: SHA-256 of its content.
        size: size of its zlib-compressed content in bytes.
    """

    name: str
    digest: bytes
    size: int


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The stored original file of a map, with its content.

    Attributes:
        name: its name without folders, empty if it is no longer known.
        digest: SHA-256 of its content.
        content: its content, zlib-compressed.
    """

    name: str
    digest: bytes
    content: bytes

    def decompressed(self) -> bytes:
        """Return its content as the author saved it.

        Raises:
            StoreDamaged: it cannot be decompressed.
        """
        try:
            return zlib.decompress(self.content)
        except zlib.error as error:
            raise damaged_file() from error


def damaged_file() -> StoreDamaged:
    """Return the error for a stored file that cannot be decompressed."""
    return StoreDamaged("a file in the store cannot be unpacked")
