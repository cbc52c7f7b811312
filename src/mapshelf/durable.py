"""Folders that are there after a power cut.

What is written into a file is safe once the file was synced. Under which name it is found is safe
only once its folder was, and so on upwards, as far as folders are new.
"""

import os
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a folder with those above it, for its owner only, unless it is there.

    Raises:
        OSError: it cannot be made.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in new:
        with suppress(OSError):  # a folder that may be entered, and not read
            sync_folder(one.parent)


def sync_folder(folder: Path) -> None:
    """Write to the disk what names stand in a folder.

    Raises:
        OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems of networks have nothing to sync
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
