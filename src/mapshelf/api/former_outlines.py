"""Outlines of former versions of maps, for comparisons.

The store keeps the files of former versions, but not their outlines, so a file has to be parsed
again. That may take seconds, and counts against no quota. But a version never changes: its file is
parsed once on a node, in queues and by children of its own, for which no upload waits. As with
uploads, files that take long wait only for each other. The outline is kept on disk. That a file can
no longer be parsed is remembered too.

What is kept has no permissions. Whoever asks for it must have found the version for the client.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Final

import xxhash

from mapshelf.api.documents import version_of_code
from mapshelf.api.feedback_queue import OwnerFeedbackQueue, must_be_quick
from mapshelf.api.http import Request
from mapshelf.api.upload_reader import PatientReader
from mapshelf.disk_cache import DiskCache
from mapshelf.errors import Overloaded, UnreadableFile
from mapshelf.lru_cache import LRUCache
from mapshelf.model import Version

ReadVersion = Callable[[], tuple[str, bytes]]
"""Returns name and content of the file of a version."""

MOST_REFUSALS: Final = 1000
"""Maximum files to remember that could not be parsed."""

TRIED_AGAIN_AFTER: Final = 600.0
"""Seconds after which such a file is parsed again: perhaps only the machine was too busy."""

_TURN: Final = "versions"
_LONG_TURN: Final = "long versions"
"""The names of the locks for parsing: the other workers find the outline on disk afterwards."""


@dataclass(frozen=True, slots=True)
class FormerOutline:
    """The outline of a version: on disk, or in memory if it cannot be stored there.

    Outlines are large, so those on disk are not held in memory while a request waits.
    """

    cache: DiskCache
    key: str
    content: bytes = b""

    def encoded(self) -> bytes:
        """Return the encoded outline.

        Raises:
            Overloaded: it was evicted from the cache meanwhile.
        """
        found = self.content or self.cache.get(self.key)
        if found is None:
            raise Overloaded("the outline has been removed")
        return found


class FormerOutlines:
    """Parses the files of former versions, and keeps their outlines. It is thread-safe.

    Attributes:
        reader: parses the files.
    """

    def __init__(self, cache: DiskCache, queue: OwnerFeedbackQueue) -> None:
        """Prepare to parse files.

        Args:
            cache: where the outlines are stored.
            queue: where requests wait for a child.
        """
        self._cache = cache
        self._queue = queue
        self.reader = PatientReader()
        self._refusals: LRUCache[str, tuple[UnreadableFile, float]] = LRUCache(MOST_REFUSALS)

    def kept(self, version: Version) -> FormerOutline | None:
        """Return the outline of a version, ``None`` if its file has to be parsed first.

        Raises:
            UnreadableFile: the file was refused.
        """
        return self._kept(_key(version))

    async def parsed(self, version: Version, read: ReadVersion, request: Request) -> FormerOutline:
        """Return the outline of a version, whose file is parsed unless that was done meanwhile.

        Equal files are parsed once for all requests that wait.

        Args:
            version: the version.
            read: reads its file, in a thread.
            request: the request that needs it.

        Raises:
            UnreadableFile: the file is refused.
            Overloaded: the queue is full.
            ClientDisconnected: the client disconnected while it waited.
        """
        key = _key(version)
        parse = partial(self._parsed_once, key, read)
        return await self._queue.result(key, parse, request.disconnection, owner=request.owner)

    def close(self) -> None:
        """Kill the children, even if they are parsing files."""
        self.reader.close()

    def _kept(self, key: str) -> FormerOutline | None:
        refusal, until = self._refusals.get(key) or (None, 0.0)
        if refusal is not None and monotonic() < until:
            raise type(refusal)(*refusal.args)
        return None if self._cache.find(key) is None else FormerOutline(self._cache, key)

    def _parsed_once(self, key: str, read: ReadVersion) -> FormerOutline:
        with self._cache.turn(_TURN if must_be_quick() else _LONG_TURN):
            return self._kept(key) or self._parsed(key, *read())

    def _parsed(self, key: str, name: str, content: bytes) -> FormerOutline:
        try:
            outline = self.reader.read(name, content).outline
        except UnreadableFile as error:
            # Without its traceback, which would hold the file in memory.
            refusal = type(error)(*error.args)
            self._refusals.put(key, (refusal, monotonic() + TRIED_AGAIN_AFTER))
            raise
        # On a full disk nothing can be stored.
        stored = self._cache.put(key, outline)
        return FormerOutline(self._cache, key, b"" if stored else outline)


def _key(version: Version) -> str:
    """Return the key of everything that an outline depends on: file, name and readers."""
    facts = "former version", version_of_code(), version.name, version.digest
    return xxhash.xxh3_128_hexdigest(repr(facts).encode())
