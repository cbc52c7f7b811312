"""Keeps some of the disk free of cached files, for the store.

Caches leave that much free when they add a file. But the store grows, too, and so may others' files
on the same disk.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from mapshelf.disk_cache import DiskCache

log = logging.getLogger(__name__)

CHECKED_EVERY: Final = 10.0
"""Seconds between checks of the free space."""


async def keep_reserves(caches: Sequence[DiskCache]) -> None:
    """Remove cached files when the disk gets too full, until cancelled."""
    while True:
        await asyncio.sleep(CHECKED_EVERY)
        for cache in caches:
            with suppress(OSError):  # a disk with errors: look again later
                if await asyncio.to_thread(cache.restore_reserve):
                    log.info("removed cached files, because the disk is almost full")
