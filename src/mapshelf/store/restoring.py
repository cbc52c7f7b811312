"""Replace the SQLite database with a backup, keeping the old database aside.

The replacement is atomic: the new database is prepared next to the old one and renamed into place.
No write-ahead log of the old one may remain, because SQLite would apply it to the new one.

The database may be a symbolic link to another disk. Then everything happens beside the file behind
the link, where SQLite has its log, too; the link stays.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from mapshelf.durable import give_to_owner, sync_folder
from mapshelf.errors import CannotWrite
from mapshelf.store.backup_file import (
    BackupFacts,
    check_line,
    opened_backup,
    pieces_of_copy,
    require_room,
)
from mapshelf.store.sqlite.copies import (
    Compared,
    Progress,
    Replaced,
    closed_to_others,
    make_successor,
)
from mapshelf.store.sqlite.database_file import make_folder

READY: Final = ".restoring"
"""The suffix of the new database while it is being prepared."""

ASIDE: Final = "before-restore-"
"""How the names of the folders begin that keep the replaced databases."""

KEPT: Final = "catalogue.db"
"""The name of a database in such a folder, which is a data folder."""

_BESIDE: Final = ("-shm", "-wal", "-journal")
"""The suffixes of the files that SQLite creates next to a database; ``-shm`` without ``-wal`` means
that somebody has moved the latter away (``database_file.require_log``)."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore.

    Attributes:
        facts: the facts of the backup.
        aside: the data folder that now holds the old catalogue, ``None`` if there was none.
        compared: who has more access than in the old catalogue, and whether all is known that ended
            or was made private.
    """

    facts: BackupFacts
    aside: Path | None
    compared: Compared


def restore_database(
    file: Path,
    facts: BackupFacts,
    database: Path,
    forget_derived: Callable[[], None],
    progress: Progress,
) -> Restored:
    """Replace the database at ``database`` with a verified backup.

    Args:
        file: the backup.
        facts: the facts of the backup, from ``verify_backup``.
        database: the path of the database, which need not exist.
        forget_derived: called just before the replacement, to delete data derived from the old one.
        progress: see ``Progress``.

    Raises:
        UnusableBackup: the file has changed since it was verified.
        CannotWrite: the new catalogue does not fit on the disk, or the old one cannot be preserved.
        StoreUnavailable: another process is using the old one.
    """
    database = _behind_links(database)
    make_folder(database.parent)
    ready = database.with_name(database.name + READY)
    try:
        with closed_to_others(database) as replaced:
            _remove(ready)
            require_room(database.parent, facts.size)
            _unpack(file, ready, progress)
            compared = make_successor(ready, replaced, _kept_aside(database))
            give_to_owner(ready, database if database.exists() else database.parent)
            forget_derived()
            aside = _keep_aside(database, replaced)
            ready.replace(database)
            sync_folder(database.parent)
    except OSError as error:
        raise CannotWrite(f"{database} cannot be replaced: {error.strerror}") from error
    finally:
        with suppress(OSError):
            _remove(ready)
    return Restored(facts, aside, compared)


def _behind_links(database: Path) -> Path:
    """Return the file that a link stands for, which need not exist, and the path of a plain file.

    Raises:
        CannotWrite: there is no folder where the link points to, such as that of a missing disk.
    """
    if not database.is_symlink():
        return database
    real = Path(os.path.realpath(database))
    if not real.parent.is_dir():
        raise CannotWrite(
            f"{database} cannot be replaced: it is a link to {real}, which is missing"
        )
    return real


def _unpack(file: Path, target: Path, progress: Progress) -> None:
    digest = sha256()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with opened_backup(file) as (source, size), open(descriptor, "wb") as copy:
        for piece in pieces_of_copy(source, size, progress):
            digest.update(piece)
            copy.write(piece)
        check_line(source, digest.hexdigest(), file)
        copy.flush()
        os.fsync(copy.fileno())


def _kept_aside(database: Path) -> Iterator[Path]:
    """Yield the whole databases that former restores have kept, of those that nobody uses."""
    for kept in sorted(database.parent.glob(f"{ASIDE}*/{KEPT}")):
        # A restore that was killed may have kept the one that is still in use. To close a file of
        # this process would unlock it.
        in_use = database.exists() and kept.exists() and kept.samefile(database)
        beside = (kept.with_name(KEPT + suffix) for suffix in _BESIDE)
        if not in_use and not any(os.path.lexists(log) for log in beside):
            yield kept


def _keep_aside(database: Path, replaced: Replaced) -> Path | None:
    """Hard-link or copy the old database into a new folder; return the folder.

    The original name remains until the new database replaces it, so there is always a database.
    """
    beside = [database.with_name(database.name + suffix) for suffix in _BESIDE]
    parts = [part for part in (database, *beside) if os.path.lexists(part)]
    if not parts:
        return None
    aside = _new_folder(database.parent)
    for part in [database] if replaced.whole else parts:
        kept = aside / part.name.replace(database.name, KEPT, 1)
        try:
            os.link(part, kept, follow_symlinks=False)
        except OSError:  # the file system has no hard links
            shutil.copy2(part, kept, follow_symlinks=False)
            give_to_owner(kept, part)
    give_to_owner(aside, database if database.exists() else database.parent)
    sync_folder(aside)
    sync_folder(database.parent)
    for part in beside:
        part.unlink(missing_ok=True)
    return aside


def _new_folder(parent: Path) -> Path:
    name = ASIDE + time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
    for number in range(1, 1000):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder
    raise CannotWrite(f"{parent} has too many folders called {name}")


def _remove(database: Path) -> None:
    for suffix in ("", *_BESIDE):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
