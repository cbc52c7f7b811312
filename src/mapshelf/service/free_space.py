"""Lets cached files make room when the disk is almost full: the store and snapshots need some.

Caches leave some of the disk free when they add a file. But the store grows, too, and so may the
files of other programs.
"""

import logging
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Final

from mapshelf.disk_cache import DiskCache
from mapshelf.disk_space import Reserve, disk_space
from mapshelf.settings import Settings

LEAST_FREE: Final = Reserve(48 << 20, 0.075)
"""Cached files make room if there is less. All caches leave more when they add a file, or files
would be removed as fast as they are made."""

LEFT_FREE: Final = Reserve(320 << 20, 0.15)
"""Free space after that."""

CHECKED_EVERY: Final = 10.0
"""Seconds between checks of the free space."""

FREED_WITHIN: Final = 40.0
"""Seconds after which removed files no longer count: btrfs frees space up to 30 seconds later."""

LEAST: Final = 1 << 20
"""Bytes of which so many more are free afterwards, at least."""

log = logging.getLogger(__name__)


class FreeSpaceKeeper:
    """Removes cached files when there is less than ``LEAST_FREE``."""

    def __init__(self, settings: Settings) -> None:
        """Watch the disk of an installation."""
        self._settings = settings
        self._next = 0.0
        self._removed = -inf  # when files were last removed, and how much should be free then
        self._expected = 0

    def check_due(self) -> None:
        """Check the free space, if it is time."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + CHECKED_EVERY
        with suppress(OSError):  # the disk has gone
            disk = disk_space(self._settings.data)
            is_freed = disk.free > self._expected or monotonic() > self._removed + FREED_WITHIN
            if LEAST_FREE.missing(disk, 0)[0] and is_freed:
                missing, _ = LEFT_FREE.missing(disk, 0)
                if make_room(self._settings, int(missing)):
                    # Half of it: meanwhile, the store may have grown.
                    self._removed, self._expected = monotonic(), disk.free + int(missing) // 2


def make_room(settings: Settings, more: int) -> bool:
    """Remove cached files, so that the disk has so many more free bytes, or fewer if possible.

    Return whether there were any.
    """
    from mapshelf.api.exports import Exports  # noqa: PLC0415 - rarely needed

    caches: list[DiskCache] = []
    documents = DiskCache(settings.documents, 0, others=caches)
    thumbnails = DiskCache(settings.thumbnails, 0, others=caches)
    caches.append(documents)
    Exports(settings.exports, caches)
    caches.append(thumbnails)
    # A full disk may have no room for a new folder.
    cache = documents if settings.documents.exists() else thumbnails
    with suppress(OSError):  # the disk has gone
        free = disk_space(settings.data).free
        while more >= LEAST:
            with suppress(OSError):  # they are not enough
                cache.make_room(free + more)
                log.info("removed cached files, which are made again when needed")
                return True
            more //= 2
    return False
