"""Restore a backup into a data folder that no service is using.

The revisions of a restored store may also exist in the old one, with different changes. So all
snapshots of the old store must be deleted before the new one is in place. Pictures and pages cached
on disk can stay, because their names are derived from their content.
"""

import shutil
from contextlib import suppress
from pathlib import Path

from mapshelf.durable import sync_folder
from mapshelf.errors import FolderInUse
from mapshelf.import_status import StatusFile
from mapshelf.service.data_folder_lock import lock_data_folder
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store.backup_file import verify_backup
from mapshelf.store.restoring import Restored, restore_database
from mapshelf.store.sqlite.copies import Progress


def restore(data: Path, database: Path, file: Path, progress: Progress) -> Restored:
    """Restore the backup ``file`` as the SQLite database of the catalogue in ``data``.

    Raises:
        UnusableBackup: the file is not a backup, is damaged, or is from a newer Mapshelf.
        FolderInUse: a service is using the data folder.
        StoreUnavailable: another command is using the database.
        CannotWrite: the data folder is not writable, or is full.
    """
    facts = verify_backup(file, progress)
    settings = Settings(data=data, database="", base_url="")
    try:
        with lock_data_folder(settings):
            return restore_database(
                file, facts, database, lambda: _forget_derived(settings), progress
            )
    except FolderInUse as error:
        raise FolderInUse(
            f"mapshelf serve uses the data folder {data}: stop it first, then restore"
        ) from error


def _forget_derived(settings: Settings) -> None:
    """Delete the data derived from the old store, which would be mistaken for the new store's.

    Raises:
        OSError: it cannot be deleted.
    """
    settings.tokens_version.unlink(missing_ok=True)
    settings.last_withdrawal.unlink(missing_ok=True)
    StatusFile(settings.data).clear()
    folder = settings.snapshots
    if not folder.exists():
        return
    SnapshotDirectory(folder).forget()
    sync_folder(folder)  # before the new store has its name
    for entry in folder.iterdir():  # the folder itself may be a link to another disk
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.unlink()
