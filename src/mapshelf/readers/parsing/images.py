"""Collects the pictures in the topics of one file.

Topics refer to pictures by digest. The bytes are kept as they are in the file, at most so many for
one map, and are decoded only when somebody wants to see them (``readers.parsing.pictures``). A
picture that is missing, too large or no picture costs only itself: the topic keeps an ``Image``
without a digest, so that its place and its words are still shown. What is no picture counts as if
it were one, so that a map cannot have thousands looked at in vain.
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
"""Returns the file at a path relative to the map, ``None`` if there is none that may be read."""


class Images:
    """The pictures of one file.

    Attributes:
        found: the bytes of each picture, by its digest.
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
        """Return the picture ``data`` as a topic has it.

        Args:
            data: the bytes in the file, ``None`` if they are not there.
            width: how wide the author shows it in pixels, 0 if not said.
            height: how high, likewise. With only one of both, the other keeps its proportions.
            alt: what it shows, or its file name.
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
        """Return the picture that the map only points to, by a path relative to its folder."""
        return self.add(self._beside(path), width, height, alt or path.rpartition("/")[2])

    def add_source(
        self, source: str, width: float = 0.0, height: float = 0.0, alt: str = ""
    ) -> Image:
        """Return the picture at an address as HTML has it: in a data URI, or beside the map.

        What is elsewhere is not fetched: its address stands for it.
        """
        data = _DATA.match(source)
        if data:
            return self.add(_decoded(source[data.end() :]), width, height, alt)
        if _SCHEME.match(source) or source.startswith("//"):
            return self.add(None, width, height, alt or source)
        return self.add_beside(source, width, height, alt)

    def size(self, image: Image) -> tuple[int, int]:
        """Return the own width and height of a picture, (0, 0) if it is not there."""
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
