"""Tells the size of an encoded outline without decoding it, to decide where it may be processed.

Decoding a large outline in a worker would delay all other requests. One that is larger than any map
of people would not fit into the memory of the processes that read it, so none is stored. The store
may have some from versions without that limit.
"""

import zlib
from typing import Final

from mapshelf.errors import StoreDamaged, TooLarge

LARGE: Final = 32_768
"""Uncompressed size in bytes above which an outline is large: about 300 topics, which take ten
milliseconds to draw.
"""

LARGEST: Final = 32 << 20
"""Uncompressed size in bytes of the largest outline that is stored. The largest of the maps of
people that we examined has 0.8 MB, but a small file whose topics share a text could have hundreds.
"""


MOST_DECODED: Final = 4 << 20
"""Uncompressed size in bytes of the largest outline that is decoded in a process that serves
others. Decoding one of ``LARGEST`` may take seconds, in which Python does nothing else."""


def check_size(size: int, most: int = LARGEST) -> None:
    """Check the uncompressed size of an outline, in bytes, or the least that it can be.

    Raises:
        TooLarge: it is larger than ``most``.
    """
    if size > most:
        raise TooLarge(f"its texts together are larger than {most / (1 << 20):g} MiB")


def is_large(encoded: bytes) -> bool:
    """Return whether an encoded outline takes long to process.

    Raises:
        StoreDamaged: the data is small and cannot be decoded.
    """
    return size_up_to(encoded, LARGE) > LARGE


def size_up_to(encoded: bytes, most: int) -> int:
    """Return the size of an encoded outline after decompression, in bytes; if larger, ``most + 1``.

    The encoded size tells little: texts that repeat themselves may be a thousand times as large.

    Raises:
        StoreDamaged: the data is small and cannot be decoded.
    """
    if len(encoded) > 2 * most:  # compressed data is never twice as large as its input
        return most + 1
    try:
        return len(zlib.decompressobj().decompress(encoded, most + 1))
    except zlib.error as error:
        raise StoreDamaged("an outline in the store cannot be read") from error
