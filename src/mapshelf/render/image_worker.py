"""Make the pictures in topics fit to be shown, in a child process, each of them once.

A picture from a map file is whatever somebody put there. So nobody gets its bytes: it is decoded
and encoded again under limits (``readers.parsing.pictures``), an SVG is drawn without anything from
outside (``readers.parsing.svg_pictures``). The child is another than the one that draws maps, so
that a map with hundreds of pictures delays no thumbnail.
"""

import logging
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from math import inf
from threading import Lock
from time import monotonic, process_time
from typing import Final

import xxhash

from mapshelf.disk_cache import CachedFile, DiskCache
from mapshelf.errors import Overloaded, UnreadableFile
from mapshelf.render.slow_maps import SlowMaps
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

MEMORY: Final = 768 << 20
"""Bytes for one picture. The largest that is decoded takes 64 MiB, and again when it is scaled."""

CPU_SECONDS: Final = 3  # of processor time for one picture
WALL_SECONDS: Final = 20.0  # by the clock, on a busy machine; then the child is killed

TRIED_AGAIN_AFTER: Final = 600.0
"""Seconds after which a picture is tried again that took too long by the clock: perhaps the machine
was busy. All other reasons are those of the picture, and last."""

LARGEST_SIDE: Final = 1600
"""Pixels of the longer side, at most."""

LARGE: Final = 262_144
"""Bytes from which a picture is sent from disk."""

_VERSION: Final = 2
"""Increase it with every change of what is made of a picture."""

_DESCRIPTORS: Final = 64
_MOST_REFUSED: Final = 1000  # most digests of pictures to remember that cannot be shown

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
        self._refused: dict[str, float] = {}  # until when, by the digest
        self._slow_maps = SlowMaps()

    def cached(self, request: ImageRequest) -> CachedFile | bytes | None:
        """Return the picture if it is in the cache, a large one as a file."""
        found = self._cache.find(request.key())
        if found is None or found.size >= LARGE:
            return found
        return self._cache.get(request.key())

    def has_refused(self, request: ImageRequest) -> bool:
        """Tell whether the picture is known to be one that cannot be shown."""
        return self._refused.get(request.digest, 0.0) > monotonic()

    def may_be_shown_later(self, request: ImageRequest, file_id: int) -> bool:
        """Tell whether a picture of a map that is not shown now may be tried again."""
        until = self._refused.get(request.digest, 0.0)
        if until == inf:
            return False
        return until > monotonic() or self.has_spent_its_time(file_id)

    def has_spent_its_time(self, file_id: int) -> bool:
        """Tell whether no more pictures of a map are made for a while: others took too long."""
        return self._slow_maps.has_spent_its_time(file_id, monotonic())

    def image(
        self, request: ImageRequest, data: bytes, file_id: int, patience: float = -1
    ) -> CachedFile | bytes | None:
        """Return the picture, from the cache or made now of ``data``, its bytes in the file.

        It is ``None`` if it cannot be shown. That holds for every width: decoding takes the same.
        It is ``None``, too, if other pictures of the map took too long (``slow_maps``).

        Args:
            request: the picture.
            data: its bytes in the file.
            file_id: of the map.
            patience: seconds to wait for the pictures of others; -1 if that is no matter.

        Raises:
            Overloaded: the pictures of others took longer than that.
            StoreUnavailable: this worker has been closed.
        """
        if not self._making.acquire(timeout=patience):
            raise Overloaded("other pictures take too long")
        try:
            cached = self.cached(request)
            if cached or self.has_refused(request) or self.has_spent_its_time(file_id):
                return cached
            began = monotonic()
            try:
                made, seconds = self._child.call(_image, (data, request.width), WALL_SECONDS)
            except (*FAILURES, UnreadableFile) as error:
                # Of a child that was ended nobody knows how much of the time it had a processor.
                self._note(file_id, min(monotonic() - began, CPU_SECONDS))
                cause = str(error) or type(error).__name__
                log.warning("the picture %s cannot be shown: %s", request.digest[:16], cause)
                hurried = isinstance(error, TimeoutError | BrokenProcessPool)
                self._refuse(request, monotonic() + TRIED_AGAIN_AFTER if hurried else inf)
                return None
            self._note(file_id, seconds)
            self._cache.put(request.key(), made)
            return self.cached(request) or made
        finally:
            self._making.release()

    def close(self) -> None:
        """End the child, even if it is making a picture."""
        self._child.close()

    def _note(self, file_id: int, seconds: float) -> None:
        self._slow_maps.note(file_id, seconds, monotonic())

    def _refuse(self, request: ImageRequest, until: float) -> None:
        if len(self._refused) >= _MOST_REFUSED:
            self._refused.clear()
        self._refused[request.digest] = until


# --- In the child, which alone loads what decoding takes ------------------------------------------


def _image(data: bytes, width: int) -> tuple[bytes, float]:
    """Return the picture, and the seconds of processor time that it took."""
    began = process_time()
    with processor_time(CPU_SECONDS):
        return image_in_topic(data, width), process_time() - began


def image_in_topic(data: bytes, width: int) -> bytes:
    """Return the PNG of a picture in a topic, which is no wider than ``width``.

    Raises:
        UnreadableFile: it cannot be shown.
    """
    from mapshelf.readers import Limits  # noqa: PLC0415
    from mapshelf.readers.parsing import pictures  # noqa: PLC0415
    from mapshelf.readers.parsing.svg_pictures import is_svg, safe_svg  # noqa: PLC0415
    from mapshelf.render.png import drawn_svg  # noqa: PLC0415

    limits = Limits()
    if not is_svg(data):
        return pictures.image_png(data, limits, width, LARGEST_SIDE)
    own = pictures.measure(data, limits)
    size = pictures.fitting(own, width, LARGEST_SIDE)
    return drawn_svg(safe_svg(data, limits, size, pictures.measure))
