"""Re-encode the images in topics in a sandboxed child process, and cache them.

Images in map files are untrusted, so their original bytes are never served. They are decoded and
re-encoded under limits (``readers.parsing.pictures``); SVG is drawn without external resources
(``readers.parsing.svg_pictures``). The child is separate from the one that draws maps, so that a
map with hundreds of images does not delay thumbnails. A second child re-encodes images for
documents whose images are expected to be quick, so that these do not wait for others.
"""

import logging
from dataclasses import dataclass
from threading import Lock
from time import monotonic, process_time
from typing import Final

import xxhash

from mapshelf.cached_file import CachedFile
from mapshelf.disk_cache import DiskCache
from mapshelf.errors import Overloaded, UnreadableFile
from mapshelf.render.slow_maps import SlowMaps
from mapshelf.sandbox.failures import TaskFailures
from mapshelf.sandbox.long_tasks import LongTasks
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, is_out_of_time, processor_time

MEMORY: Final = 768 << 20
"""Maximum memory for one image, in bytes. The largest image that is decoded takes 64 MiB, and as
much again while it is scaled."""

CPU_SECONDS: Final = 3  # of CPU time for one image
QUICK_SECONDS: Final = 1
"""Seconds of CPU time after which an image takes long, where others wait for it. Ordinary ones take
some hundredths."""

WALL_SECONDS: Final = 20.0  # of wall-clock time, for a busy machine; then the child is killed

TRIED_AGAIN_AFTER: Final = 600.0
"""Seconds after which an image is tried again that exceeded the wall-clock limit, or whose child
died for an unknown reason: perhaps the machine was busy. All other failures are caused by the image
itself, so they are permanent."""

LARGEST_SIDE: Final = 1600
"""Maximum length of the longer side, in pixels."""

LARGE: Final = 262_144
"""Minimum size of images that are sent from disk, in bytes."""

_VERSION: Final = 2
"""Part of the cache key: increase it with every change of the output."""

_DESCRIPTORS: Final = 64

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A request for an image in a topic, as PNG.

    Attributes:
        digest: the digest of the image (``Image.digest``).
        width: its maximum width in pixels, at most ``LARGEST_SIDE``, which also limits the height.
    """

    digest: str
    width: int

    def key(self) -> str:
        """Return a cache key: two requests share it if, and only if, their images are equal."""
        facts = (_VERSION, "image", self.digest, self.width)
        return xxhash.xxh3_128_hexdigest(repr(facts).encode())


class ImageTakesLong(Exception):
    """An image takes long, so it is to be re-encoded where others do not wait for it."""


class ImageTime:
    """The time for the images of one document.

    Attributes:
        quick: whether the images are re-encoded where those that take long are not.
        spent: the seconds of CPU time that they took so far.
    """

    def __init__(self, seconds: float, *, quick: bool) -> None:
        """Start; no image is re-encoded after this many ``seconds``."""
        self.quick = quick
        self.spent = 0.0
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Return how many seconds are left; no more if it is not positive."""
        return self._end - monotonic()


class ImageWorker:
    """Re-encodes images and caches them. It is thread-safe.

    Attributes:
        take_long: the ids of maps whose images took long together, and the names of owners of very
            long ones (``note_long``), for a while.
    """

    def __init__(self, cache: DiskCache) -> None:
        self._cache = cache
        self._any = _Lane()
        self._quick = _Lane()
        self._failures = TaskFailures(TRIED_AGAIN_AFTER)  # by digest
        self._slow_maps = SlowMaps()
        self.take_long = LongTasks()

    def cached(self, request: ImageRequest) -> CachedFile | bytes | None:
        """Return the image from the cache, ``None`` if it is not there; a large one as a file."""
        found = self._cache.find(request.key())
        if found is None or found.size >= LARGE:
            return found
        return self._cache.get(request.key())

    def has_refused(self, request: ImageRequest) -> bool:
        """Return whether the image is known to be unusable."""
        return self._failures.get(request.digest) is not None

    def may_be_shown_later(self, request: ImageRequest, file_id: int) -> bool:
        """Return whether an image that cannot be shown now may be tried again later.

        This is the case if it is refused only for a time, or if its map has spent its time.
        """
        failure = self._failures.get(request.digest)
        if failure is not None:
            return failure.is_temporary
        return self.has_spent_its_time(file_id)

    def has_spent_its_time(self, file_id: int) -> bool:
        """Return whether no images of a map are rendered for now, because others took too long."""
        return self._slow_maps.has_spent_its_time(file_id, monotonic())

    def image(
        self, request: ImageRequest, data: bytes, file_id: int, time: ImageTime
    ) -> CachedFile | bytes | None:
        """Return the image, from the cache or rendered now from ``data``.

        It is ``None`` if it cannot be shown. A failure counts for every width, because decoding
        costs the same. It is also ``None`` if other images of the map took too long
        (``slow_maps``).

        Args:
            request: the image.
            data: its bytes in the file.
            file_id: the map.
            time: the time for the images of the document.

        Raises:
            ImageTakesLong: it takes long, and ``time`` says that it is to be quick.
            Overloaded: other images took longer than there is time.
            StoreUnavailable: this worker has been closed.
        """
        lane = self._quick if time.quick else self._any
        if not lane.turn.acquire(timeout=max(0.0, time.left())):
            raise Overloaded("other pictures take too long")
        try:
            cached = self.cached(request)
            if cached or self.has_refused(request) or self.has_spent_its_time(file_id):
                return cached
            made, seconds = self._rendered(lane.child, request, data, quick=time.quick)
            self._slow_maps.note(file_id, seconds, monotonic())
            time.spent += seconds
            return self.cached(request) or made
        finally:
            lane.turn.release()

    def takes_long(self, owner: str, file_id: int) -> bool:
        """Return whether images of this map probably take long."""
        return owner in self.take_long or file_id in self.take_long

    def note_long(self, owner: str, file_id: int) -> None:
        """Remember for a while that images of this map, and so of this owner, take very long."""
        self.take_long.add(file_id)
        if owner:
            self.take_long.add(owner)

    def close(self) -> None:
        """Kill the children, even if they are working, and reject further calls."""
        self._any.child.close()
        self._quick.child.close()

    def _rendered(
        self, child: ConfinedChild, request: ImageRequest, data: bytes, *, quick: bool
    ) -> tuple[bytes | None, float]:
        """Return the image, if it can be shown, and the seconds of CPU time that it took."""
        began = monotonic()
        arguments = (data, request.width, QUICK_SECONDS if quick else CPU_SECONDS)
        try:
            made, seconds = child.call(_image, arguments, WALL_SECONDS)
        except (*FAILURES, UnreadableFile) as error:
            if quick and is_out_of_time(error):
                raise ImageTakesLong from None
            failure = self._failures.add(request.digest, error)
            log.warning("the picture %s cannot be shown: %s", request.digest[:16], failure.reason)
            # The CPU time of a killed child is unknown.
            return None, min(monotonic() - began, CPU_SECONDS)
        self._cache.put(request.key(), made)
        return made, seconds


class _Lane:
    """A child, and whose turn it is."""

    def __init__(self) -> None:
        self.child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self.turn = Lock()


# --- Code that runs in the child; only the child imports the decoders -----------------------------


def _image(data: bytes, width: int, cpu_seconds: int) -> tuple[bytes, float]:
    """Return the image, and the seconds of CPU time that it took, at most ``cpu_seconds``."""
    began = process_time()
    with processor_time(cpu_seconds):
        return image_in_topic(data, width), process_time() - began


def image_in_topic(data: bytes, width: int) -> bytes:
    """Return an image in a topic as PNG, no wider than ``width`` pixels.

    Raises:
        UnreadableFile: the image cannot be shown.
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
