"""Keeps zips on disk while they are sent: account exports, and maps selected in a list.

They may contain private maps, so none stays on disk for longer than ten minutes. The worker that
made one may have ended by then; therefore every worker deletes all that are too old, as soon as it
starts.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from mapshelf.accounts.data_export import MOST_BYTES
from mapshelf.disk_cache import CachedFile, DiskCache

ROOM: Final = 4 * MOST_BYTES
"""Maximum total size of exports on disk, in bytes."""

CHECKED_EVERY: Final = 30.0
"""Seconds between checks for exports that are too old."""

KEPT_FOR: Final = 600.0 - CHECKED_EVERY
"""Seconds after which an export is deleted at the next check: the time for starting to send it."""


class Exports:
    """The exports in a folder, which the workers of a node share."""

    def __init__(self, folder: Path) -> None:
        self._files = DiskCache(folder, ROOM, folders=1)

    def file(self, key: str, pieces: Iterable[bytes]) -> CachedFile | None:
        """Return the export under ``key``, written now from ``pieces`` unless it is there.

        It is ``None`` if it cannot be written.
        """
        found = self._files.find(key)
        if found is None and self._files.put_pieces(key, pieces):
            found = self._files.find(key)
        return found

    async def follow(self) -> None:
        """Delete exports that are too old, until cancelled."""
        while True:
            with suppress(OSError):  # a disk with errors: look again later
                await asyncio.to_thread(self._files.remove_older_than, KEPT_FOR)
            await asyncio.sleep(CHECKED_EVERY)
