"""Pictures that have been made, on disk, so that each is made once.

Every picture lies in a file of its own under a key made from all that went into it: a map that
changes gets another key, and nothing has to be invalidated. Files are spread over 256 folders by
their key; each folder is kept below its share of the limit by removing what has not been used for
longest, which looks at a few hundred files and needs no word from other processes.

Several processes may work on the same folders. A file is written under a name of its own and
renamed, so that none is seen half written; and since nothing is synced to disk, each begins with a
checksum, without which it does not count.
"""

import logging
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import xxhash

SIZE: Final = 1 << 30
"""Bytes of all pictures, at most: some hundred thousand thumbnails of 320 pixels."""

_FOLDERS: Final = 256
_DIGEST: Final = 16
_USED_NOTED_EVERY: Final = 86_400.0
"""Seconds; noting each use would be a write for each read."""

_ABANDONED_AFTER: Final = 3600.0
"""Seconds after which a file under another name is what a process left that died."""

log = logging.getLogger(__name__)


class PictureCache:
    """A folder of pictures, bounded in size."""

    def __init__(self, folder: Path, size: int = SIZE) -> None:
        """Use ``folder``, which is made with the first picture.

        Args:
            folder: nothing else may lie in it.
            size: bytes of all pictures together, at most.
        """
        self._folder = folder
        self._share = size // _FOLDERS
        self._told = False

    def get(self, key: str) -> bytes | None:
        """Return the picture under ``key``, ``None`` if it is not there or not sound."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > _USED_NOTED_EVERY:
                os.utime(path)
        except OSError:
            return None
        picture = data[_DIGEST:]
        return picture if data[:_DIGEST] == xxhash.xxh3_128_digest(picture) else None

    def put(self, key: str, picture: bytes) -> None:
        """Keep ``picture``. What cannot be kept is told of in the log, once, and does no harm."""
        path = self._path(key)
        part = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(xxhash.xxh3_128_digest(picture) + picture)
            part.replace(path)
            self._make_room(path.parent)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            if not self._told:
                log.warning("pictures cannot be kept in %s: %s", self._folder, error.strerror)
            self._told = True

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]

    def _make_room(self, folder: Path) -> None:
        """Remove the pictures of a folder that were not used for longest, if it is too large."""
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process is at it, too
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        now = time.time()
        for used, size, path in sorted(found):
            abandoned = "." in os.path.basename(path) and now - used > _ABANDONED_AFTER
            if total > self._share or abandoned:
                with suppress(FileNotFoundError):
                    os.unlink(path)
                total -= size
