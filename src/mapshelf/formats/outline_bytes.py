"""Unpack encoded outlines, and tell damage from a lack of memory.

The size of an outline is not known before it is unpacked, and the error of a decoder that gets no
memory looks like one about the data. Damage is reported to operators, so the two must not be mixed
up.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import orjson

from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_size import LARGEST, check_size

_NO_MEMORY: Final = "Not enough memory"
"""How the message of orjson begins if it cannot allocate memory. All others are about the data."""


@contextmanager
def decoding_errors() -> Iterator[None]:
    """Translate the errors of decoding an outline, as a context or a decorator.

    Raises:
        StoreDamaged: the outline is not one that was encoded.
        MemoryError: it takes more memory than this process may use.
    """
    try:
        yield
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, orjson.JSONDecodeError) and error.msg.startswith(_NO_MEMORY):
            raise MemoryError("the outline takes more memory than is allowed") from error
        raise StoreDamaged("an outline in the store cannot be read") from error


def unpacked(encoded: bytes) -> bytes:
    """Return the document in ``encoded``.

    Raises:
        TooLarge: it is larger than any that is stored now.
        zlib.error: it cannot be decompressed.
    """
    unpacking = zlib.decompressobj()
    document = unpacking.decompress(encoded, LARGEST + 1)
    check_size(len(document))
    if not unpacking.eof:
        raise zlib.error("the end is missing")
    return document


@decoding_errors()
def unpacked_up_to(encoded: bytes, most: int) -> bytes | None:
    """Return the document in ``encoded``, ``None`` if it is larger than ``most`` bytes.

    Raises:
        StoreDamaged: the data is small and cannot be decompressed.
    """
    if len(encoded) > 2 * most:  # compressed data is never twice as large as its input
        return None
    document = zlib.decompressobj().decompress(encoded, most + 1)
    return document if len(document) <= most else None
