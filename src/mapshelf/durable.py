"""Writes files so that others never see half of one, and syncs folders for power failures.

Syncing a file makes its content durable. Its name is durable only once its folder is synced, and
the same holds for every new folder above.
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident


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


def give_to_owner(path: Path, like: Path) -> None:
    """Give a file that root has made to the owner of another, who could not open it otherwise.

    Where root may not do that (in some containers, on some network file systems), nothing happens.
    """
    if os.geteuid() == 0:
        with suppress(OSError):
            owner = like.stat()
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def open_private(path: str, flags: int) -> int:
    """Open a file like ``os.open``; if this creates it, it can be read by its owner only.

    To be used as ``opener`` of ``open``.
    """
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


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


def replace_file(path: Path, text: str, *, sync: bool = False) -> None:
    """Replace the content of a small file, so that others see the old content or the new one.

    It can be read by its owner only. If root writes it, it belongs to the owner of its folder.
    Several threads and processes may do this at the same time; the last one wins.

    Args:
        path: the file, which need not exist.
        text: the new content.
        sync: whether to sync it to disk; otherwise, a power failure may leave the file damaged.

    Raises:
        OSError: it cannot be written; the old content stays.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}")
    try:
        with open(beside, "w", encoding="utf-8", opener=open_private) as file:
            give_to_owner(beside, path.parent)
            file.write(text)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
