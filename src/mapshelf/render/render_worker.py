"""Render thumbnails and other images in a sandboxed child process, and cache them.

``api/thumbnails.py`` asks for pictures; ``thumbnail.py`` has the code that draws them in the child.

Drawing takes ten to a hundred milliseconds of Python and Rust. In a thread of a server process it
would delay requests that take microseconds. The child is sandboxed, because the maps it draws are
untrusted. A map that exceeds a limit gets the card of a map without topics (``card``), and so does
one that the code of the child does not handle. This process does not try to draw it again, unless
it exceeded only the wall-clock limit, because then the machine may have been busy. The same child
decodes previews from map files.

A few pictures take seconds. They are drawn again in a child of their own, so that others wait for
them only for ``QUICK_SECONDS``, and for the next ones of the same owner not at all.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

import xxhash

from mapshelf.disk_cache import DiskCache, Turn
from mapshelf.errors import (
    MapshelfError,
    PreviewChanged,
    StoreDamaged,
    StoreUnavailable,
    UnreadableFile,
)
from mapshelf.formats.outline_size import is_large
from mapshelf.model import OriginalFile
from mapshelf.render.render_request import (
    CollageRequest,
    Pictures,
    PreviewRequest,
    RenderRequest,
    height,
)
from mapshelf.sandbox.failures import TaskFailures, cause_of
from mapshelf.sandbox.long_tasks import LongTasks
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, is_out_of_time, processor_time

MEMORY: Final = 768 << 20
"""Maximum memory for one picture, in bytes: mapped fonts count, and Chinese fonts are large."""

CPU_SECONDS: Final = 10  # of CPU time for one picture
QUICK_SECONDS: Final = 1  # of CPU time, after which a picture takes long

OPENING_SECONDS: Final = 2
"""Further seconds for the first picture of a child, which opens fonts: on a small machine, that may
take longer than the picture."""

WALL_SECONDS: Final = 30.0  # of wall-clock time

TRIED_AGAIN_AFTER: Final = 120.0
"""Seconds after which a picture that exceeded only the wall-clock limit is tried again: a small
machine may be overloaded while a new library is imported and browsed."""

MOST_PICTURES: Final = 40
"""Maximum number of images in a thumbnail: frames replace the others."""

PicturesOf = Callable[[Sequence[str]], Pictures]
"""Returns the images with these digests that can be shown, as PNGs that we encoded."""

_DESCRIPTORS: Final = 64

_FAILURES: Final = (*FAILURES, StoreDamaged)
"""Exceptions if drawing fails: the child exceeds a limit or dies, or its input is damaged."""

log = logging.getLogger(__name__)


class DrawingTakesLong(Exception):
    """A picture takes long, and is to be drawn where others do not wait for it."""


class Picture(NamedTuple):
    """A picture, and the key of its request.

    An incomplete picture lacks images in topics that there was no time to render, or is the card of
    a map that there was no time to draw. It is provisional: it is not kept, so that a later request
    gets a better one.
    """

    key: str
    body: bytes
    complete: bool = True


class _Lane(NamedTuple):
    """Where pictures of one kind are drawn, one after the other.

    Attributes:
        child: draws them.
        lock: held meanwhile.
        turn: entered meanwhile.
        seconds: maximum CPU time for one picture.
    """

    child: ConfinedChild
    lock: Lock
    turn: Turn
    seconds: int


class RenderWorker:
    """Draws pictures and caches them. It is thread-safe."""

    def __init__(
        self,
        cache: DiskCache,
        turn: Turn = nullcontext,
        long_turn: Turn = nullcontext,
        now: Callable[[], float] = monotonic,
    ) -> None:
        """Prepare to draw; the children start with the first picture.

        Args:
            cache: the cache for the pictures.
            turn: entered while a large map is drawn, which takes seconds. Other maps do not wait
                for that, because large ones have a child of their own.
            long_turn: entered while a picture is drawn that takes long.
            now: returns the time in seconds.
        """
        self._cache = cache
        self._small = _lane(nullcontext, QUICK_SECONDS)
        self._large = _lane(turn, QUICK_SECONDS)
        self._long = _lane(long_turn, CPU_SECONDS)
        self._failures = TaskFailures(TRIED_AGAIN_AFTER, now)
        self._take_long = LongTasks(now)

    def cached(self, request: RenderRequest) -> Picture | None:
        """Return the picture from the cache, ``None`` if it is not there.

        For a map that could not be drawn before, it is the card.
        """
        failure = self._failures.get(request.key())
        found = self._cached((replace(request, outline=None) if failure else request).key())
        return found and found._replace(complete=failure is None or not failure.is_temporary)

    def takes_long(self, request: RenderRequest) -> bool:
        """Return whether the picture would probably take long, as others of the owner did."""
        return request.outline is not None and _group(request) in self._take_long

    def picture(
        self, request: RenderRequest, pictures_of: PicturesOf | None = None, *, quick: bool = False
    ) -> Picture:
        """Return the picture, from the cache or drawn now; if a map cannot be drawn, its card.

        Calls wait for each other, so no picture is drawn twice. Large maps, others, and pictures
        that take long have separate queues.

        Args:
            request: what to draw; with ``pictures_of``, its ``pictures`` are replaced.
            pictures_of: returns the images in topics that the thumbnail shows; ``None`` if the map
                has no images.
            quick: whether the caller must not wait for one that takes long.

        Raises:
            DrawingTakesLong: it takes long, as far as is known, and ``quick`` was given.
            StoreUnavailable: this worker has been closed, or even the card took too long.
        """
        cached = self.cached(request)
        if cached is not None:
            return cached
        lane = self._long
        if quick:
            lane = self._large if _is_large(request) else self._small
        with lane.lock, lane.turn():
            if quick and self.takes_long(request):  # others did, while this waited
                raise DrawingTakesLong
            return self.cached(request) or self._drawn(request, lane, pictures_of)

    def has_refused(self, request: PreviewRequest) -> bool:
        """Return whether this preview is known to be unusable."""
        return self._failures.get(request.key()) is not None

    def cached_preview(self, request: PreviewRequest) -> Picture | None:
        """Return the preview from the cache, ``None`` if it is not there."""
        return self._cached(request.key())

    def preview(self, request: PreviewRequest, file: OriginalFile) -> Picture | None:
        """Return the preview in a map file, from the cache or decoded now.

        It is ``None`` if the file has no usable preview, or if decoding it took too long recently.

        Raises:
            StoreUnavailable: this worker has been closed, or the file has been replaced.
        """
        key = request.key()
        with self._small.lock:
            cached = self._cached(key)
            if cached or self.has_refused(request):
                return cached
            try:
                body = self._small.child.call(_preview, (request, file), WALL_SECONDS)
                picture = Picture(key, body)
            except PreviewChanged as error:
                raise StoreUnavailable("the map is being replaced") from error
            except (*_FAILURES, UnreadableFile) as error:
                failure = self._failures.add(key, error)
                log.warning("the picture in %r cannot be shown: %s", file.name, failure.reason)
                return None
            self._cache.put(picture.key, picture.body)
            return picture

    def collage(self, request: CollageRequest, *, complete: bool) -> Picture:
        """Return pictures of maps side by side, from the cache or composed now.

        Args:
            request: the pictures.
            complete: whether each picture is complete; otherwise the result is not cached.

        Raises:
            StoreUnavailable: this worker has been closed, or the child died or exceeded a limit.
        """
        key = request.key()
        with self._small.lock:
            cached = self._cached(key)
            if cached:
                return cached
            try:
                body = self._small.child.call(_collage, (request,), WALL_SECONDS)
            except _FAILURES as error:
                log.warning("a picture of several maps cannot be made: %s", cause_of(error))
                raise StoreUnavailable("the picture cannot be made now") from error
            if complete:
                self._cache.put(key, body)
            return Picture(key, body, complete)

    def close(self) -> None:
        """Kill the children without finishing their work, and reject further calls."""
        for lane in (self._small, self._large, self._long):
            lane.child.close()

    def _cached(self, key: str) -> Picture | None:
        body = self._cache.get(key)
        return None if body is None else Picture(key, body)

    def _drawn(
        self, asked: RenderRequest, lane: _Lane, pictures_of: PicturesOf | None = None
    ) -> Picture:
        before, complete = self._failures.get(asked.key()), True
        request = replace(asked, outline=None) if before else asked
        try:
            if pictures_of and request.outline is not None:
                shown: list[str] = lane.child.call(_shown, (request, lane.seconds), WALL_SECONDS)
                pictures = pictures_of(shown[:MOST_PICTURES])
                complete = pictures.complete
                request = replace(request, pictures=tuple(pictures.items()))
            seconds = CPU_SECONDS if request.outline is None else lane.seconds
            body = lane.child.call(draw, (request, seconds, OPENING_SECONDS), WALL_SECONDS)
        except Exception as error:
            if request.outline is None and isinstance(error, _FAILURES):
                log.warning("a thumbnail cannot be drawn: %s", cause_of(error))
                raise StoreUnavailable("the picture cannot be drawn now") from error
            if request.outline is None or not _is_of_map(error):
                raise
            if is_out_of_time(error) and lane is not self._long:
                self._take_long.add(_group(asked))
                raise DrawingTakesLong from None
            failure = self._failures.add(asked.key(), error)
            bug = None if isinstance(error, _FAILURES) else error
            log.log(
                logging.ERROR if bug else logging.WARNING,
                "the map %r cannot be drawn: %s",
                request.title[:80],
                failure.reason,
                exc_info=bug,
            )
            card = self._drawn(replace(request, outline=None), lane)
            return card._replace(complete=not failure.is_temporary)
        if complete:
            self._cache.put(request.key(), body)
        return Picture(request.key(), body, complete and not (before and before.is_temporary))


def _lane(turn: Turn, seconds: int) -> _Lane:
    return _Lane(ConfinedChild(MEMORY, _DESCRIPTORS), Lock(), turn, seconds)


def _group(request: RenderRequest) -> str:
    """Return what is the same for maps of one owner, or for pictures of one map without owner."""
    return request.owner or xxhash.xxh3_128_hexdigest(request.outline or b"")


def _is_large(request: RenderRequest) -> bool:
    try:
        return request.outline is not None and is_large(request.outline)
    except StoreDamaged:
        return False  # the child will raise it, too


def _is_of_map(error: Exception) -> bool:
    """Return whether drawing the same map would probably fail again.

    An unexpected error is a bug that only this map may show. Its list or collection must not fail
    because of it. Errors of the system are those of starting a child.
    """
    return isinstance(error, _FAILURES) or not isinstance(
        error, MapshelfError | OSError | DrawingTakesLong
    )


# --- Code that runs in the child; only the child imports the drawing code -------------------------


def _shown(request: RenderRequest, seconds: int) -> list[str]:
    from mapshelf.render.thumbnail import shown_pictures  # noqa: PLC0415

    with processor_time(seconds):
        return shown_pictures(request)


def draw(request: RenderRequest, seconds: int = CPU_SECONDS, opening: int = 0) -> bytes:
    """Return the thumbnail of a map as PNG; the child does this.

    Args:
        request: what to draw.
        seconds: maximum CPU time.
        opening: further seconds if this is the first picture of the child.
    """
    from mapshelf.render.font_fallback import system_fonts  # noqa: PLC0415
    from mapshelf.render.thumbnail import thumbnail  # noqa: PLC0415

    is_first = not system_fonts.cache_info().currsize
    with processor_time(seconds + opening * is_first):
        return thumbnail(request, system_fonts())


def _collage(request: CollageRequest) -> bytes:
    from mapshelf.render.png import side_by_side  # noqa: PLC0415
    from mapshelf.render.themes import THEMES  # noqa: PLC0415

    theme = THEMES[request.theme]
    with processor_time(CPU_SECONDS):
        size = (request.width, height(request.width))
        return side_by_side(request.pictures, size, theme.ground, theme.quiet)


def _preview(request: PreviewRequest, file: OriginalFile) -> bytes:
    """Return the preview in a file as PNG."""
    from mapshelf.readers import Limits, preview_png  # noqa: PLC0415

    with processor_time(CPU_SECONDS):
        box = (request.width, height(request.width))
        return preview_png(file.decompressed(), request.digest, Limits(), box, name=file.name)
