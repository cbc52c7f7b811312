"""Where pictures are made while the service goes on: in a child process, each of them once.

Drawing takes ten to a hundred milliseconds of pure Python and Rust; in a thread of a worker it
would hold up the requests that take microseconds. The child is confined, because what it draws
came from strangers: a map that takes too long or too much gets the card of a map without topics
(``card``), and is not tried again by this process. Copies of pictures that files carry are made
there, too.
"""

import logging
import zlib
from dataclasses import replace
from threading import Lock
from typing import Final, NamedTuple

from mapshelf.disk_cache import DiskCache
from mapshelf.errors import StoreDamaged, UnreadableFile
from mapshelf.model import OriginalFile
from mapshelf.render.render_request import Copy, Order, height
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

MEMORY: Final = 768 << 20
"""Bytes a picture may take: mapped fonts count, and those for Chinese are large."""

CPU_SECONDS: Final = 10
WALL_SECONDS: Final = 30.0
"""What a picture may take of the processor, and by the clock."""

_DESCRIPTORS: Final = 64
_REFUSED: Final = 1000
"""Most orders to remember that could not be drawn."""

_FAILURES: Final = (*FAILURES, StoreDamaged)
"""What becomes of the child, or of what it is given."""

log = logging.getLogger(__name__)


class Picture(NamedTuple):
    """A picture, and the key of the order that it fulfils."""

    key: str
    body: bytes


class Studio:
    """Makes pictures and keeps them. It may be used from several threads."""

    def __init__(self, cache: DiskCache) -> None:
        self._cache = cache
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self._drawing = Lock()
        self._refused: set[str] = set()

    def kept(self, order: Order) -> Picture | None:
        """Return the picture if it has been made."""
        key = self._possible(order).key()
        body = self._cache.get(key)
        return None if body is None else Picture(key, body)

    def picture(self, order: Order) -> Picture:
        """Return the picture, made now if need be; whoever asks meanwhile waits for the same.

        A map that cannot be drawn gets its card.

        Raises:
            StoreUnavailable: the studio has been closed.
        """
        with self._drawing:
            return self.kept(order) or self._made(self._possible(order))

    def has_refused(self, copy: Copy) -> bool:
        """Tell whether it is known that the picture cannot be shown."""
        return copy.key() in self._refused

    def kept_copy(self, copy: Copy) -> Picture | None:
        """Return the copy if it has been made."""
        key = copy.key()
        body = self._cache.get(key)
        return None if body is None else Picture(key, body)

    def copy(self, copy: Copy, file: OriginalFile) -> Picture | None:
        """Return a copy of the picture in a map file, made now if need be.

        It is ``None`` if the file carries no picture that can be shown.

        Raises:
            StoreUnavailable: the studio has been closed.
            FileReplaced: the map has another file now.
        """
        key = copy.key()
        with self._drawing:
            kept = self.kept_copy(copy)
            if kept or self.has_refused(copy):
                return kept
            try:
                arguments = (copy, file.content, file.name)
                picture = Picture(key, self._child.call(_copy, arguments, WALL_SECONDS))
            except (*_FAILURES, UnreadableFile) as error:
                log.warning("the picture in %r cannot be shown: %s", file.name, _cause(error))
                self._refuse(key)
                return None
            self._cache.put(*picture)
            return picture

    def close(self) -> None:
        """End the child; what it was drawing is not made, and nothing more is."""
        self._child.close()

    def _possible(self, order: Order) -> Order:
        """Return ``order``, or that for a card if the map could not be drawn before."""
        return replace(order, outline=None) if order.key() in self._refused else order

    def _made(self, order: Order) -> Picture:
        try:
            picture = Picture(order.key(), self._child.call(_draw, (order,), WALL_SECONDS))
        except _FAILURES as error:
            if order.outline is None:
                raise
            log.warning("the map %r cannot be drawn: %s", order.title[:80], _cause(error))
            self._refuse(order.key())
            return self._made(replace(order, outline=None))
        self._cache.put(*picture)
        return picture

    def _refuse(self, key: str) -> None:
        if len(self._refused) >= _REFUSED:
            self._refused.clear()
        self._refused.add(key)


def _cause(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _draw(order: Order) -> bytes:
    """Make a picture, in the child, which alone loads what that takes."""
    from mapshelf.render.font_fallback import system_fonts  # noqa: PLC0415
    from mapshelf.render.thumbnail import thumbnail  # noqa: PLC0415

    with processor_time(CPU_SECONDS):
        return thumbnail(order, system_fonts())


def _copy(copy: Copy, content: bytes, name: str) -> bytes:
    """Make a copy of the picture in a file, likewise; ``content`` is zlib-compressed."""
    from mapshelf.readers import Limits, carried_picture  # noqa: PLC0415

    with processor_time(CPU_SECONDS):
        try:
            data = zlib.decompress(content)
        except zlib.error as error:
            raise StoreDamaged("a file in the store cannot be unpacked") from error
        box = (copy.width, height(copy.width))
        return carried_picture(data, copy.digest, Limits(), box, name=name)
