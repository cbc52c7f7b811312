"""Keeps zips on disk while they are sent: account exports, and maps selected in a list.

They may contain private maps, so none stays on disk for longer than ten minutes, or than an hour if
it is being sent. The worker that made one may have ended by then; therefore every worker deletes
all that are too old, as soon as it starts.

Visitors who are not signed in can request zips of selected maps, in any combination. So these have
a folder and a maximum size of their own, and leave some of the disk free for account exports. No
zip uses the last free space of the disk, which the store needs. If there is not enough for a new
zip or a document, the zips that were used least recently are deleted earlier.
"""

import asyncio
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from mapshelf.accounts.data_export import MOST_BYTES
from mapshelf.cached_file import CachedFile
from mapshelf.disk_cache import DiskCache, DiskCacheOfDownloads, DiskCacheOfFew
from mapshelf.disk_space import Reserve

ROOM: Final = 4 * MOST_BYTES
"""Maximum total size of account exports on disk, in bytes."""

ROOM_OF_SELECTIONS: Final = 1 << 30
"""Maximum total size of zips of selected maps on disk, in bytes."""

LEFT_FREE: Final = Reserve(1 << 29, 0.05)
"""What account exports leave free on the disk, for the store."""

LEFT_FREE_BY_SELECTIONS: Final = Reserve(1 << 30, 0.1)
"""What zips of selected maps leave free, for the store and for account exports."""

SELECTIONS: Final = "selections"
"""The folder of the zips of selected maps."""

CHECKED_EVERY: Final = 30.0
"""Seconds between checks for exports that are too old."""

KEPT_FOR: Final = 600.0 - CHECKED_EVERY
"""Seconds after which an export is deleted at the next check: the time for starting to send it. An
account export stays while it is sent, for an hour at most."""


BEGUN_WITHIN: Final = 5.0
"""Seconds in which a client surely begins to receive an account export. Until then, the next one of
the same user does not replace it."""


class Exports:
    """The exports in a folder, which the workers of a node share."""

    def __init__(self, folder: Path, caches: list[DiskCache]) -> None:
        """Keep exports in ``folder``, and add their caches to ``caches``.

        On an almost full disk, results of all ``caches`` make room.
        """
        self._folder = folder
        self._accounts = DiskCacheOfDownloads(
            folder, ROOM, folders=1, left_free=LEFT_FREE, others=caches
        )
        self._selections = DiskCacheOfFew(
            folder / SELECTIONS,
            ROOM_OF_SELECTIONS,
            folders=1,
            left_free=LEFT_FREE_BY_SELECTIONS,
            others=caches,
        )
        caches += self._selections, self._accounts

    def account(self, user_id: int, pieces: Iterable[bytes], size: int) -> CachedFile | None:
        """Return a new account export of a user, which replaces an earlier one.

        It is ``None`` if it cannot be written.

        Args:
            user_id: the user.
            pieces: produces its pieces.
            size: see ``DiskCache.put_pieces``.
        """
        whose = f"{user_id:020x}"
        self._accounts.remove_beginning_with(whose, sparing=BEGUN_WITHIN)
        key = whose + secrets.token_hex(6)
        found = self._file(self._accounts, key, pieces, size)
        # Those of other sessions, meanwhile.
        self._accounts.remove_beginning_with(whose, but=key, sparing=BEGUN_WITHIN)
        return found

    def selection(self, key: str, pieces: Iterable[bytes], size: int) -> CachedFile | None:
        """Return the zip of selected maps under ``key``, written now unless it is there.

        It is ``None`` if it cannot be written. The other arguments are those of ``account``.
        """
        return self._file(self._selections, key, pieces, size)

    def _file(
        self, files: DiskCache, key: str, pieces: Iterable[bytes], size: int
    ) -> CachedFile | None:
        with suppress(OSError):  # a full or read-only disk: writing fails, too
            # Before the cache makes it as a parent, which gets the usual mode.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = files.find(key)
        if found is None and files.put_pieces(key, pieces, size):
            found = files.find(key)
        return found

    async def follow(self) -> None:
        """Delete exports that are too old, until cancelled."""
        while True:
            for files in (self._accounts, self._selections):
                with suppress(OSError):  # a disk with errors: look again later
                    await asyncio.to_thread(files.remove_older_than, KEPT_FOR)
            await asyncio.sleep(CHECKED_EVERY)
