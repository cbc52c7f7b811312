"""Make the pictures in topics fit to be shown, in a child process, each of them once.

A picture from a map file is whatever somebody put there. So nobody gets its bytes: it is decoded
and encoded again under limits (``readers.pictures``), an SVG is drawn without anything from outside
(``readers.svg_pictures``). The child is another than the one that draws maps, so that a map with
hundreds of pictures delays no thumbnail.
"""

import logging
from dataclasses import dataclass
from threading import Lock
from typing import Final

import xxhash

from mapshelf.disk_cache import CachedFile, DiskCache
from mapshelf.errors import UnreadableFile
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

MEMORY: Final = 768 << 20
"""Bytes for one picture. The largest that is decoded takes 64 MiB, and again when it is scaled."""

CPU_SECONDS: Final = 5  # of processor time for one picture
WALL_SECONDS: Final = 20.0  # by the clock

LARGEST_SIDE: Final = 1600
"""Pixels of the longer side, at most."""

LARGE: Final = 262_144
"""Bytes from which a picture is sent from disk."""

_VERSION: Final = 1
"""Increase it with every change of what is made of a picture."""

_DESCRIPTORS: Final = 64
_REFUSED: Final = 1000  # most keys of pictures to remember that cannot be shown

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A picture in a topic, as a PNG.

    Attributes:
        digest: of the picture (``Image.digest``).
        width: the most pixels across; at most ``LARGEST_SIDE``, which bounds the height, too.
    """

    digest: str
    width: int

    def key(self) -> str:
        """Return a cache key: two requests share it if, and only if, their pictures are equal."""
        facts = (_VERSION, "image", self.digest, self.width)
        return xxhash.xxh3_128_hexdigest(repr(facts).encode())


class ImageWorker:
    """Makes pictures and caches them. It may be used from several threads."""

    def __init__(self, cache: DiskCache) -> None:
        self._cache = cache
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self._making = Lock()
        self._refused: set[str] = set()

    def cached(self, request: ImageRequest) -> CachedFile | bytes | None:
        """Return the picture if it is in the cache, a large one as a file."""
        found = self._cache.find(request.key())
        if found is None or found.size >= LARGE:
            return found
        return self._cache.get(request.key())

    def has_refused(self, request: ImageRequest) -> bool:
        """Tell whether the picture is known to be one that cannot be shown."""
        return request.key() in self._refused

    def image(self, request: ImageRequest, data: bytes) -> CachedFile | bytes | None:
        """Return the picture, from the cache or made now of ``data``, its bytes in the file.

        It is ``None`` if it cannot be shown.

        Raises:
            StoreUnavailable: this worker has been closed.
        """
        with self._making:
            cached = self.cached(request)
            if cached or self.has_refused(request):
                return cached
            try:
                made = self._child.call(_image, (data, request.width), WALL_SECONDS)
            except (*FAILURES, UnreadableFile) as error:
                cause = str(error) or type(error).__name__
                log.warning("the picture %s cannot be shown: %s", request.digest[:16], cause)
                if len(self._refused) >= _REFUSED:
                    self._refused.clear()
                self._refused.add(request.key())
                return None
            self._cache.put(request.key(), made)
            return self.cached(request) or made

    def close(self) -> None:
        """End the child, even if it is making a picture."""
        self._child.close()


# --- In the child, which alone loads what decoding takes ------------------------------------------


def _image(data: bytes, width: int) -> bytes:
    from mapshelf.readers import Limits, pictures  # noqa: PLC0415
    from mapshelf.readers.svg_pictures import is_svg, safe_svg  # noqa: PLC0415
    from mapshelf.render.png import drawn_svg  # noqa: PLC0415

    limits = Limits()
    with processor_time(CPU_SECONDS):
        if not is_svg(data):
            return pictures.image_png(data, limits, width, LARGEST_SIDE)
        own = pictures.measure(data, limits)
        size = pictures.fitting(own, width, LARGEST_SIDE)
        return drawn_svg(safe_svg(data, limits, size, pictures.measure))
