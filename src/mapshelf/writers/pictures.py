"""The pictures in topics, as they are written into files.

What is written is never what somebody put into a map: whoever asks for an export gives PNGs of our
own making, by digest (``Writer.embeds_pictures``). A picture that is not among them is left out.
"""

import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from mapshelf.model import Topic

Pictures = Mapping[str, bytes]
"""PNGs by the digests of pictures."""

NONE: Final[Pictures] = MappingProxyType({})

MOST_PICTURE_BYTES: Final = 16 << 20
"""Bytes of all pictures in a file: as many as our own readers take."""

_MOST: Final = 10_000
"""Pixels across or down that a topic can sensibly show."""

_SIZE: Final = struct.Struct(">II")
_SIZE_AT: Final = 16
"""Where a PNG has its width and height."""


class Shown(NamedTuple):
    """A picture in a topic.

    Attributes:
        digest: of the picture.
        width: how wide it is shown, in pixels.
        height: how high, likewise.
        scaled: whether this is another size than that of the PNG.
    """

    digest: str
    width: int
    height: int
    scaled: bool


def shown_in(topic: Topic, pictures: Pictures) -> Iterator[Shown]:
    """Yield those of the pictures in ``topic`` that are among ``pictures``."""
    for image in topic.images:
        if image.digest in pictures:
            own = _SIZE.unpack_from(pictures[image.digest], _SIZE_AT)
            width, height = own
            if 0 < image.width <= _MOST and 0 < image.height <= _MOST:
                width, height = max(1, round(image.width)), max(1, round(image.height))
            yield Shown(image.digest, width, height, scaled=(width, height) != own)
