"""Select the images in topics that an export embeds.

Image bytes from map files are untrusted and never exported. The caller supplies re-encoded PNGs by
digest (``Writer.embeds_pictures``); images without one are omitted.
"""

import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from mapshelf.model import Topic

Pictures = Mapping[str, bytes]
"""PNGs by image digest."""

NONE: Final[Pictures] = MappingProxyType({})

MOST_PICTURE_BYTES: Final = 16 << 20
"""Maximum total size of the images in a file, in bytes: the limit of our own readers."""

_MOST: Final = 10_000
"""Maximum width or height of an image in a topic, in pixels."""

_SIZE: Final = struct.Struct(">II")
_SIZE_AT: Final = 16
"""Offset of width and height in a PNG, in bytes."""


class Shown(NamedTuple):
    """An image in a topic, with its display size.

    Attributes:
        digest: digest of the image.
        width: display width in pixels.
        height: display height in pixels.
        scaled: whether the display size differs from the size of the PNG.
    """

    digest: str
    width: int
    height: int
    scaled: bool


def shown_in(topic: Topic, pictures: Pictures) -> Iterator[Shown]:
    """Yield the images in ``topic`` that ``pictures`` contains."""
    for image in topic.images:
        if image.digest in pictures:
            own = _SIZE.unpack_from(pictures[image.digest], _SIZE_AT)
            width, height = own
            if 0 < image.width <= _MOST and 0 < image.height <= _MOST:
                width, height = max(1, round(image.width)), max(1, round(image.height))
            yield Shown(image.digest, width, height, scaled=(width, height) != own)
