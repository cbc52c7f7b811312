"""Creates folders and syncs directories so that they survive a power failure.

Syncing a file makes its content durable. Its name is durable only once its folder is synced, and
the same holds for every new folder above.
"""

import os
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, accessible only by the owner, unless it exists.

    Raises:
        OSError: it cannot be created.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in new:
        with suppress(OSError):  # a folder with permission to enter but not to read
            sync_folder(one.parent)


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk.

    Raises:
        OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems do not support it
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
