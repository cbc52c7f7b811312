"""Lock the data folder, so that only one service uses it, and none during a restore.

Two services would mark the same folder as draining, and compete to build snapshots. Only the
supervisor holds the lock, not its children, which may briefly outlive it. If the supervisor is
killed, the system releases the lock, so the service can be restarted at once.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mapshelf.durable import give_to_owner, make_folder
from mapshelf.errors import CannotWrite, FolderInUse, InvalidSetting
from mapshelf.file_lock import try_lock
from mapshelf.settings import Settings, checked_base_url, lock_file

LOOKED_AT: Final = 0.1
"""Seconds to wait for a process that holds the lock only to check it."""

LONGEST_URL: Final = 2048
"""Most bytes of the lock file to read: it contains the base URL of the service."""


@contextmanager
def lock_data_folder(settings: Settings) -> Iterator[None]:
    """Hold the lock within the context. The folder is created if it does not exist.

    Raises:
        FolderInUse: another service holds the lock.
        CannotWrite: the folder cannot be created or written.
    """
    try:
        make_folder(settings.data)
        lock = os.open(settings.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        give_to_owner(settings.lock, settings.data)
    except OSError as error:
        raise CannotWrite(
            f"the data folder {settings.data} cannot be written: {error.strerror}"
        ) from error
    try:
        _acquire(lock, settings)
        _write(lock, settings.base_url)
        try:
            yield
        finally:
            _write(lock, "")
    finally:
        os.close(lock)


def is_in_use(data: Path) -> bool:
    """Return whether a service is using a data folder.

    The check holds the lock for a moment; a service that is starting waits for that.
    """
    try:
        lock = os.open(lock_file(data), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(lock, shared=True)
    finally:
        os.close(lock)


def base_url_in_use(data: Path) -> str:
    """Return the base URL of the service that is using a data folder, empty if there is none."""
    if not is_in_use(data):
        return ""
    try:
        with lock_file(data).open("rb") as file:
            return checked_base_url(file.read(LONGEST_URL).decode())
    except (OSError, UnicodeDecodeError, InvalidSetting):  # something else holds the lock
        return ""


def _write(lock: int, base_url: str) -> None:
    with suppress(OSError):  # a full disk: commands then use the default
        os.ftruncate(lock, 0)
        os.pwrite(lock, base_url.encode(), 0)


def _acquire(lock: int, settings: Settings) -> None:
    if try_lock(lock):
        return
    time.sleep(LOOKED_AT)
    if not try_lock(lock):
        raise FolderInUse(
            f"another mapshelf serve uses the data folder {settings.data}:"
            " stop it, or give this one a folder of its own (--data)"
        )
