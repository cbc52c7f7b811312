"""A disk cache for results that are expensive to compute: pictures and large documents.

Each result has its own file, under a key derived from all its inputs: a changed map has another
key, so nothing has to be invalidated. Files are distributed over folders by key. Each folder is
limited to its share of the total size by removing the least recently used files. This only reads
one folder, and needs no communication with other processes.

Several processes may share the folders. A file is written under a temporary name and renamed, so
that no process sees an incomplete one. A file whose checksum is wrong is ignored
(``cached_file.py``).
"""

import errno
import fcntl
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Final

from mapshelf.cached_file import (
    PIECE,
    CachedFile,
    Piece,
    StoredFile,
    is_open,
    is_part,
    is_young,
    least_recently_used,
    remove_file,
    verified_content,
    verified_file,
    write_file,
)
from mapshelf.disk_space import RemovableSpace, Reserve, disk_space

_TURN: Final = "turn"
"""The lock file in the folder of results."""

LEAST_SIZE: Final = 8192
"""For how many bytes a file counts at least. File systems need a few kilobytes even for a tiny one,
and have room for a limited number of files (``disk_space.py``)."""

_STEP: Final = 1 << 24
"""Bytes for which room is made at a time if a result is larger than expected, if possible: it may
be necessary to look at all files."""

_MOST_FOR_INODES: Final = 64
"""Most files to remove for one result if the disk has too few inodes. A few are enough for the
result, and some file systems do not tell how many there are."""

_NEVER_FULLER: Final = 2
"""A result is given up if the disk has less than this fraction of the space to leave free. It may
have less than all of that while several processes write, or while the system still frees what they
have removed: btrfs takes up to 30 seconds."""

_REMOVABLE: Final = "removable"
"""The note in the folder of results (``RemovableSpace``)."""

_REMEMBERED: Final = 1000
"""Most files to remember as verified."""

_USED_NOTED_EVERY: Final = 86_400.0
"""Seconds between updates of a file's last use: recording each one would turn reads into writes."""

Turn = Callable[[], AbstractContextManager[None]]
"""Returns a context manager that only one of several processes can be in at a time, as
``DiskCache.turn`` does."""

_State = tuple[int, int, int]
"""Identifies a version of a file: its inode, the time of its last change, and its size."""

log = logging.getLogger(__name__)

NOTHING: Final = Reserve(0, 0)


class DiskCache:
    """A folder of results with a limited size."""

    _least_size: ClassVar[int] = LEAST_SIZE
    """For how many bytes each file counts at least towards that."""

    _kept_open: ClassVar[float] = 0.0
    """Seconds for which a file stays while a process has it open."""

    _kept_new: ClassVar[float] = 0.0
    """Seconds for which a file stays even if no process has opened it yet."""

    def __init__(
        self,
        folder: Path,
        size: int,
        folders: int = 256,
        *,
        left_free: Reserve = NOTHING,
        others: "Sequence[DiskCache]" = (),
    ) -> None:
        """Use ``folder``, which is created with the first result.

        Args:
            folder: a folder that contains nothing else.
            size: maximum total size of all results in bytes.
            folders: the number of folders (a power of two, at most 256) over which files are
                distributed. Each has an equal share of ``size``, which must be far larger than any
                result.
            left_free: free space that results leave on the disk: for a new result, others are
                removed. Files that are sent to slow clients occupy the disk even after that.
            others: caches on the same disk whose results are removed if those of this one are not
                enough.
        """
        self._folder = folder
        self._left_free = left_free
        self._least_free = Reserve(left_free.size // _NEVER_FULLER, left_free.share / _NEVER_FULLER)
        self._others = others
        self._folders = folders
        self._share = size // folders
        self._verified: dict[Path, tuple[_State, CachedFile]] = {}
        self._removable = RemovableSpace(folder / _REMOVABLE)
        self._told = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a child process needs: it logs nothing, as its parent does."""
        return {**vars(self), "_verified": {}, "_told": True}

    def get(self, key: str) -> bytes | None:
        """Return the result under ``key``, ``None`` if it is missing or damaged."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            _note_use(path)
        except OSError:
            return None
        return verified_content(data)

    def find(self, key: str) -> CachedFile | None:
        """Return the file with the result under ``key``, ``None`` if it is missing or damaged.

        The whole file is read to verify it, unless this process has verified it before.
        """
        path = self._path(key)
        try:
            state = _state_of(path.stat())
            known, found = self._verified.get(path, (None, None))
            if known != state:
                found = verified_file(path)
            _note_use(path)
        except OSError:
            return None
        if found is not None and known != state:
            self._remember(state, found)
        return found

    def put(self, key: str, content: bytes) -> bool:
        """Store a result, and return whether that worked; only the first failure is logged."""
        view = memoryview(content)
        pieces = (view[at : at + PIECE] for at in range(0, len(view), PIECE))
        return self.put_pieces(key, pieces, len(view))

    def put_pieces(self, key: str, pieces: Iterable[Piece], size: int) -> bool:
        """Store a result that is produced in pieces, which are never all in memory.

        If producing a piece raises an exception, nothing is stored.

        Args:
            key: the key of the result.
            pieces: produces its pieces.
            size: its size in bytes, as far as known: if the disk is almost full, room is made for
                so much, and nothing removed if that is impossible.
        """
        path = self._path(key)
        part = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        try:
            self.make_room(size, path.parent)
            path.parent.mkdir(exist_ok=True)
            written = write_file(part, self._while_there_is_room(pieces, path.parent, size))
            self._remember(_state_of(part.stat()), replace(written, path=path))
            part.replace(path)
            self._shrink_folder(path)
            return True
        except OSError as error:
            if not self._told:
                log.warning("cannot keep results in %s: %s", self._folder, error.strerror)
            self._told = True
            return False
        finally:
            with suppress(OSError):  # missing if it was renamed
                part.unlink()

    def remove_unused_folders(self) -> None:
        """Remove folders that this cache does not use: an earlier version used more of them."""
        for number in range(self._folders, 256):
            shutil.rmtree(self._folder / f"{number:02x}", ignore_errors=True)

    def remove_beginning_with(
        self, beginning: str, *, but: str = "", sparing: float = -inf
    ) -> None:
        """Remove results whose keys have this beginning, of at least two digits.

        Args:
            beginning: the beginning.
            but: the key of a result that stays.
            sparing: the newest of the others stays, too, if it is younger than this, in seconds.
        """
        first = self._path(beginning)
        others = [
            file
            for file in least_recently_used(first.parent)
            if file.name.startswith(first.name) and file.name != but[2:] and not is_part(file.path)
        ]
        if others and time.time() - others[-1].used < sparing:
            others.pop()
        for file in others:
            with suppress(OSError):
                os.unlink(file.path)

    def remove_older_than(self, seconds: float) -> None:
        """Remove results that were last stored or used more than ``seconds`` ago.

        If the clock was set back, some are from the future: nobody knows how old these are.
        """
        for number in range(self._folders):
            for file in least_recently_used(self._folder / f"{number:02x}"):
                if abs(time.time() - file.used) > seconds and not self._is_read(file):
                    with suppress(OSError):
                        os.unlink(file.path)

    @contextmanager
    def turn(self, name: str = _TURN) -> Iterator[None]:
        """Hold a lock across processes, so that an expensive result is computed only once.

        Each ``name`` is a separate lock, so a slow result does not block others. If the lock file
        cannot be opened (a full or read-only disk), this does not wait.
        """
        with ExitStack() as opened:
            with suppress(OSError):
                self._make_folder()
                lock = opened.enter_context((self._folder / name).open("ab"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _while_there_is_room(
        self, pieces: Iterable[Piece], folder: Path, room: int
    ) -> Iterator[Piece]:
        """Yield ``pieces`` as long as the disk has enough free space, or results can make it free.

        Args:
            pieces: the pieces of a result.
            folder: where it will be.
            room: for how many bytes of it there is room.

        Raises:
            OSError: the disk has not enough.
        """
        for piece in pieces:
            if room < len(piece):
                room += self._more_room(folder, len(piece))
            room -= len(piece)
            if self._least_free.missing(disk_space(self._folder), len(piece))[0]:
                raise _disk_full()
            yield piece

    def _more_room(self, folder: Path, least: int) -> int:
        """Make room for at least so many bytes of a result; return for how many."""
        try:
            self.make_room(max(_STEP, least), folder)
            return max(_STEP, least)
        except OSError:
            self.make_room(least, folder)
            return least

    def make_room(self, size: int, folder: Path | None = None) -> None:
        """If the disk has no room for a new file, remove the least recently used ones.

        Args:
            size: its size in bytes.
            folder: if the results in this folder are enough, only these are removed.

        Raises:
            OSError: there are not enough, and nothing is removed; or others read the removed ones.
        """
        self._make_folder()
        missing, missing_files = self._left_free.missing(disk_space(self._folder), size)
        if not missing and not missing_files:
            return
        if missing > self._removable.noted():
            raise _disk_full()
        missing_files = min(missing_files, _MOST_FOR_INODES)
        found = self._finished(folder) if folder else []
        for file in self._enough_files(found, missing, missing_files):
            if remove_file(file):
                missing -= file.size
                missing_files -= 1
            if missing <= 0 and missing_files <= 0:
                return
        raise _disk_full()

    def _enough_files(
        self, found: list[StoredFile], missing: float, files: float
    ) -> list[StoredFile]:
        """Return ``found`` or all files, if that frees ``missing`` bytes and they are so many.

        Raises:
            OSError: there are not enough.
        """

        def are_enough(found: list[StoredFile]) -> bool:
            return _total(found) >= missing and len(found) >= files

        if not are_enough(found):
            found = self._all_finished()
        for other in self._others:
            if other is not self and not are_enough(found):
                found += other._all_finished()
        if not are_enough(found):
            self._removable.note(_total(found))
            raise _disk_full()
        return found

    def _remember(self, state: _State, verified: CachedFile) -> None:
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[verified.path] = (state, verified)

    def _make_folder(self) -> None:
        """Create the folder, readable only by the owner: it contains results of private maps."""
        with suppress(FileExistsError):  # if it is not a folder, the next step fails
            self._folder.mkdir(mode=0o700, parents=True)

    def _all_finished(self) -> list[StoredFile]:
        folders = [self._folder / f"{number:02x}" for number in range(self._folders)]
        return sorted(chain.from_iterable(map(self._finished, folders)))

    def _finished(self, folder: Path) -> list[StoredFile]:
        """Return the files of a folder that may be removed: nobody writes them, or keeps them."""
        return [
            file
            for file in least_recently_used(folder)
            if not (is_part(file.path) and is_young(file)) and not self._is_kept(file)
        ]

    def _is_kept(self, file: StoredFile) -> bool:
        return 0 <= time.time() - file.used < self._kept_new or self._is_read(file)

    def _is_read(self, file: StoredFile) -> bool:
        return time.time() - file.used < self._kept_open and is_open(file.path)

    def _path(self, key: str) -> Path:
        return self._folder / f"{int(key[:2], 16) % self._folders:02x}" / key[2:]

    def _shrink_folder(self, fresh: Path) -> None:
        """If the folder is too large, remove the least recently used files, except ``fresh``."""
        found = least_recently_used(fresh.parent)
        total = sum(max(file.size, self._least_size) for file in found)
        for file in found:
            abandoned = is_part(file.path) and not is_young(file)
            if (total > self._share and file.path != str(fresh)) or abandoned:
                if self._is_kept(file):
                    continue
                with suppress(FileNotFoundError):
                    os.unlink(file.path)
                total -= max(file.size, self._least_size)


class DiskCacheOfFew(DiskCache):
    """A disk cache for few results, which may be in one folder: it is listed for each new one."""

    _least_size = 1 << 20


class DiskCacheOfDownloads(DiskCache):
    """A disk cache whose files stay for a minute, and while a process has them open for an hour."""

    _kept_open = 3600.0
    _kept_new = 60.0


def _total(files: Iterable[StoredFile]) -> int:
    return sum(file.size for file in files)


def _state_of(status: os.stat_result) -> _State:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _disk_full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _note_use(path: Path) -> None:
    if time.time() - path.stat().st_mtime > _USED_NOTED_EVERY:
        with suppress(OSError):  # a read-only or full disk
            os.utime(path)
