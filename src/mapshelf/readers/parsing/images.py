"""Collect the images in the topics of one file.

Topics refer to images by digest. The original bytes are stored up to a limit per map, and decoded
only on demand (``readers.parsing.pictures``). If an image is missing, too large or invalid, the
topic has an ``Image`` without a digest, so that its place and alternative text are still shown.
Invalid images count towards the limit, so that a map cannot cause thousands of futile checks.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from typing import Final

from mapshelf.errors import UnreadableFile
from mapshelf.model import Image
from mapshelf.readers.parsing import pictures
from mapshelf.readers.parsing.limits import Limits

_DATA: Final = re.compile(r"\s*data:[^,;]{0,100}(?:;[^,;]{0,100}){0,4};base64,", re.IGNORECASE)
_SCHEME: Final = re.compile(r"\s*[a-z][a-z0-9+.-]+:", re.IGNORECASE)

ReadLinkedFile = Callable[[str], bytes | None]
"""Reads the file at a path relative to the map, ``None`` if missing or not allowed."""


class Images:
    """The images of one file.

    Attributes:
        found: the bytes of each image, by its digest.
    """

    def __init__(self, limits: Limits, beside: ReadLinkedFile) -> None:
        self.found: dict[str, bytes] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._digests: dict[bytes, str] = {}
        self._limits = limits
        self._beside = beside
        self._room = limits.pictures
        self._left = limits.most_pictures

    def add(
        self, data: bytes | None, width: float = 0.0, height: float = 0.0, alt: str = ""
    ) -> Image:
        """Add the image ``data`` and return it as an ``Image``.

        Args:
            data: the original bytes, ``None`` if missing.
            width: display width in pixels, 0 if not set.
            height: display height, likewise. If only one is set, the proportions are preserved.
            alt: alternative text or file name.
        """
        digest = self._kept(data) if data else ""
        if not digest:
            return Image("", width, height, alt)
        own_width, own_height = self._sizes[digest]
        if width <= 0 and height <= 0:
            width, height = own_width, own_height
        elif width <= 0:
            width = height * own_width / own_height
        elif height <= 0:
            height = width * own_height / own_width
        return Image(digest, width, height, alt)

    def add_beside(
        self, path: str, width: float = 0.0, height: float = 0.0, alt: str = ""
    ) -> Image:
        """Add a linked image, given by a path relative to the folder of the map."""
        return self.add(self._beside(path), width, height, alt or path.rpartition("/")[2])

    def add_source(
        self, source: str, width: float = 0.0, height: float = 0.0, alt: str = ""
    ) -> Image:
        """Add the image of an HTML ``src``: a data URI, or a file next to the map.

        Remote images are not fetched: their URL becomes the alternative text.
        """
        data = _DATA.match(source)
        if data:
            return self.add(_decoded(source[data.end() :]), width, height, alt)
        if _SCHEME.match(source) or source.startswith("//"):
            return self.add(None, width, height, alt or source)
        return self.add_beside(source, width, height, alt)

    def size(self, image: Image) -> tuple[int, int]:
        """Return the intrinsic width and height of an image, (0, 0) if missing."""
        return self._sizes.get(image.digest, (0, 0))

    def _kept(self, data: bytes) -> str:
        known = self._digests.get(data)
        if known is not None:
            return known
        if len(data) > min(self._room, self._limits.picture) or not self._left:
            return ""
        self._room -= len(data)
        self._left -= 1
        digest = self._digests[data] = self._measured(data)
        return digest

    def _measured(self, data: bytes) -> str:
        try:
            size = pictures.measure(data, self._limits)
        except (UnreadableFile, MemoryError):
            return ""
        digest = hashlib.sha256(data).hexdigest()
        self._sizes[digest] = size
        self.found[digest] = data
        return digest


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return None
