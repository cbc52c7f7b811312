"""Documents that are slow to make: pages, exports and drawings of large maps, and large files.

A map may have a hundred thousand topics; rendering its page takes seconds of pure Python. In a
thread of a worker, that would slow down every other request, so a child process with limits does it
(``sandbox.pool``). The result is stored on disk and sent from there, so it is made once, and slow
clients do not hold it in memory.

Pages and exports of small maps are made directly, in a thread, unless an export embeds pictures.
Drawings of small maps are made by a child of their own (``Context.small_drawings``), so that they
do not wait for large documents.
"""

import logging
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from math import ceil
from pathlib import Path
from time import process_time
from typing import Final, NamedTuple

import xxhash

from mapshelf.api.compression import compress, with_compressed
from mapshelf.api.feedback_queue import TakesLong, WouldTakeLong, must_be_quick
from mapshelf.api.http import Headers, Response
from mapshelf.api.work_queue import WorkQueue
from mapshelf.cached_file import CachedFile
from mapshelf.disk_cache import DiskCache, Turn
from mapshelf.errors import NotFound, Overloaded
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import KeptFile, Outline, damaged_file
from mapshelf.sandbox.failures import TaskFailure, TaskFailures, cause_of
from mapshelf.sandbox.long_tasks import LongTasks
from mapshelf.sandbox.pool import (
    FAILURES,
    ConfinedChild,
    is_out_of_time,
    is_temporary,
    processor_time,
)

LARGE_FILE: Final = 262_144
"""Bytes from which a map file is sent from disk."""

FILE_PIECE: Final = 1 << 20
"""Bytes of a file to read or decompress at a time: a whole file would block the event loop for tens
of milliseconds."""

_COPYING: Final = "copying"
"""The name of the lock for copying a large file out of the store."""

MEMORY: Final = 1 << 30
"""Maximum memory of the child, in bytes."""

QUICK_SECONDS: Final = 1
"""Seconds of processor time after which a document takes long: it is made again in a child of its
own, so that others do not wait for it (``feedback_queue``). Of those of the largest maps in our
corpus, only a third of the PNGs take longer, and everything else at most 0.6 s."""

OWNER_SECONDS: Final = 5
"""Seconds of processor time from which a document speaks for its owner: others of the same kind
from this owner count as long for a while. After quicker ones, only the same document does, because
an ordinary gallery has some of them."""

LARGEST: Final = 128 << 20
"""Maximum size of a document in bytes. A comparison of two maps of 2 MB could have 400 MB."""

MOST_IN_MEMORY: Final = 8 << 20
"""Maximum size in bytes of a document or file to be sent from memory, when the disk is full. A
worker may send dozens at the same time."""

CPU_SECONDS: Final = 20
WALL_SECONDS: Final = 60.0
"""Maximum processor time and elapsed time for a document."""

TOO_LARGE: Final = "This map is too large to be shown so; its file can be downloaded."
"""What the client is told about a document that exceeds the limits."""

_DESCRIPTORS: Final = 64
_DISK_FULL: Final = "The disk of the service is full, so this cannot be sent now."
_BUSY: Final = "The drawing or file could not be made in time."
_TRIED_AGAIN_AFTER: Final = 120.0
"""Seconds after which a document is tried again if it failed because of the machine
(``sandbox.pool.is_temporary``). All other reasons are those of the map, and last."""

Make = Callable[..., bytes]
"""Makes a document from an outline and further facts. It is sent to the child, so it must be a
module-level function."""

Made = tuple[bytes, bytes, float]
"""A document and its compressed form, empty if they were stored or there is none, and the seconds
of processor time that they took."""

Content = Callable[[int, int], bytes]
"""Reads the compressed content of a file, given an offset and a number of bytes."""

Body = CachedFile | bytes
"""A body on disk, or in memory if it cannot be stored."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document.

    Attributes:
        media_type: its media type.
        headers: its headers, without type and length. If there is no ETag, one is added.
        compress: whether a compressed form is made too.
    """

    media_type: bytes
    headers: Headers
    compress: bool = False


class MapOutline(NamedTuple):
    """What a document is made from.

    Attributes:
        encoded: the encoded outline.
        owner: whose map it is, empty if nobody owns it: after a document that took very long,
            others of the same kind and owner count as long, too.
    """

    encoded: bytes
    owner: str


@dataclass(frozen=True, slots=True)
class _Task:
    """The input that the child needs to make a document."""

    key: str
    make: Make
    outline: bytes
    facts: tuple[object, ...]
    compress: bool
    cpu_seconds: int


class Documents:
    """Makes large documents and stores them. It is thread-safe."""

    def __init__(
        self,
        cache: DiskCache,
        queue: WorkQueue,
        turn: Turn = nullcontext,
        long_turn: Turn = nullcontext,
    ) -> None:
        """Prepare to make documents.

        Args:
            cache: where they are stored.
            queue: where requests wait for the child, which makes one document at a time.
            turn: entered while a document is made. If only one worker of a node can enter it at a
                time, the others find the document in the cache instead of making it again.
            long_turn: entered instead if this need not be quick.
        """
        self.queue = queue
        self._cache = cache
        self._turn, self._long_turn = turn, long_turn
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS, MEMORY)
        self._quick_child = ConfinedChild(MEMORY, _DESCRIPTORS, MEMORY)
        self._failures = TaskFailures(_TRIED_AGAIN_AFTER)
        self._take_long = LongTasks()

    def of_outline(
        self, make: Make, outline: MapOutline, facts: tuple[object, ...], kind: Kind
    ) -> Response:
        """Return the document that ``make`` creates from an outline and ``facts``.

        Args:
            make: called with the ``Outline`` and the facts.
            outline: the outline.
            facts: equal facts must have equal ``repr``.
            kind: the kind of document.

        Raises:
            NotFound: it is too large to be made, or ``make`` raised this error.
            Overloaded: the machine was too busy to make it, it was evicted from the cache
                immediately, or it is too large to be sent while the disk is full.
            TakesLong: it takes long, as far as is known, and this thread must be quick.
            StoreUnavailable: the service is shutting down.
            StoreDamaged: the outline cannot be decoded.
        """
        quick = must_be_quick()
        name = f"{make.__module__}.{make.__qualname__}"
        digest = xxhash.xxh3_128(repr((version_of_code(), name, facts)).encode())
        digest.update(outline.encoded)
        seconds = QUICK_SECONDS if quick else CPU_SECONDS
        task = _Task(digest.hexdigest(), make, outline.encoded, facts, kind.compress, seconds)
        found = self._found(task.key, kind)
        if found is not None:
            return found
        what = (name, kind.media_type)
        same = (*what, xxhash.xxh3_128(outline.encoded).digest())
        of_owner = (*what, outline.owner) if outline.owner else same
        if quick and (same in self._take_long or of_owner in self._take_long):
            raise WouldTakeLong
        with self._turn() if quick else self._long_turn():
            return self._found(task.key, kind) or self._made_by_child(task, kind, same, of_owner)

    def of_file(self, file: KeptFile, content: Content, kind: Kind) -> Response:
        """Return a map file, unchanged. Its content is only read if it is not cached on disk.

        Raises:
            Overloaded: it was replaced meanwhile, or it is too large to be sent while the disk is
                full.
            StoreDamaged: it cannot be decompressed.
        """
        key = xxhash.xxh3_128_hexdigest(b"file" + file.digest)
        found = self._found(key, kind)
        if found is not None:
            return found
        # It is not parsed, so no child is needed.
        pieces = _unpacked(file, content)
        beginning = b""
        for piece in pieces:
            beginning += piece
            if len(beginning) >= LARGE_FILE:
                break
        else:
            return document_response(kind, beginning, b"")
        with self._cache.turn(_COPYING):
            found = self._found(key, kind)
            if found is None:
                # Only the compressed size is known. Unpacking twice takes less than writing.
                size = sum(map(len, _unpacked(file, content)))
                if self._cache.put_pieces(key, chain((beginning,), pieces), size):
                    found = self._found(key, kind)
        return found or document_response(kind, _in_memory(_unpacked(file, content)), b"")

    def prepare(self) -> None:
        """Compute the version of the code, which reads many files."""
        version_of_code()

    def close(self) -> None:
        """Kill the children, even if they are making documents."""
        self._quick_child.close()
        self._child.close()

    def _found(self, key: str, kind: Kind) -> Response | None:
        found = self._cache.find(key)
        compressed = self._cache.find(_compressed_key(key)) if kind.compress else None
        if found is None or (kind.compress and compressed is None):
            return None
        return document_response(kind, found, compressed or b"")

    def _made_by_child(
        self, task: _Task, kind: Kind, same: Hashable, of_owner: Hashable
    ) -> Response:
        failure = self._failures.get(task.key)
        if failure is not None:
            raise _refusal(failure)
        quick = must_be_quick()
        child = self._quick_child if quick else self._child
        try:
            whole, compressed, spent = child.call(_make, (task, self._cache), WALL_SECONDS)
        except NotFound as error:
            self._failures.add(task.key, error)
            raise
        except FAILURES as error:
            if is_out_of_time(error):
                self._take_long.add(same if quick else of_owner)
                if quick:
                    raise TakesLong from None
            log.warning("a document cannot be made (%s): %s", _described(kind), cause_of(error))
            reason = error if is_temporary(error) else NotFound(TOO_LARGE)
            raise _refusal(self._failures.add(task.key, reason)) from error
        if spent >= OWNER_SECONDS:
            self._take_long.add(of_owner)
        if whole:
            self._cache.put(task.key, whole)  # retried, because only this process can log why
            return document_response(kind, whole, compressed)
        found = self._found(task.key, kind)
        if found is None:
            raise Overloaded("the document has been removed")
        return found


def _refusal(failure: TaskFailure) -> NotFound | Overloaded:
    if failure.is_temporary:
        return Overloaded(_BUSY, ceil(failure.retry_after))
    return NotFound(failure.reason)


@cache
def version_of_code() -> str:
    """Return a digest that identifies this version of the code that makes documents.

    It identifies the running code, even if the files change later.
    """
    digest = xxhash.xxh3_64()
    package = Path(str(files("mapshelf")))
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".html"):
            status = path.stat()
            name = path.relative_to(package)
            digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _make(task: _Task, cache: DiskCache) -> Made:
    """Make a document in the child, and store it; return it only if it cannot be stored.

    Passing many megabytes to a worker would delay all its other requests.
    """
    began = process_time()
    with processor_time(task.cpu_seconds):
        decoded: Outline = decode_outline(task.outline)
        body = task.make(decoded, *task.facts)
        if len(body) > LARGEST:
            raise NotFound(TOO_LARGE)
        compressed = compress(body) if task.compress else b""
    spent = process_time() - began
    if cache.put(task.key, body) and (
        not compressed or cache.put(_compressed_key(task.key), compressed)
    ):
        return b"", b"", spent
    _check_fits_in_memory(len(body))
    return body, compressed, spent


def _in_memory(pieces: Iterator[bytes]) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        _check_fits_in_memory(len(body))
    return bytes(body)


def _check_fits_in_memory(size: int) -> None:
    if size > MOST_IN_MEMORY:
        raise Overloaded(_DISK_FULL)


def _unpacked(file: KeptFile, content: Content) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    try:
        for start in range(0, file.size, FILE_PIECE):
            packed = content(start, FILE_PIECE)
            if not packed:
                raise Overloaded("the file was replaced while it was read")
            while packed and not unpacking.eof:
                yield unpacking.decompress(packed, FILE_PIECE)
                packed = unpacking.unconsumed_tail
        yield unpacking.flush()
    except zlib.error as error:
        raise damaged_file() from error
    if not unpacking.eof:
        raise damaged_file()


def _compressed_key(key: str) -> str:
    """Return the key of the compressed form of a document."""
    return f"{key}-gzip"


def document_response(kind: Kind, whole: Body, compressed: Body = b"") -> Response:
    """Return the response of this kind with a body and its compressed form, if there is one."""
    response = _with_body(whole)
    headers = (
        (b"content-type", kind.media_type),
        (b"content-length", str(response.size).encode()),
        *kind.headers,
    )
    if not any(name == b"etag" for name, _ in headers):
        digest = whole.digest if isinstance(whole, CachedFile) else xxhash.xxh3_128_hexdigest(whole)
        headers += ((b"etag", f'"{digest}"'.encode()),)
    response = replace(response, headers=headers)
    return with_compressed(response, _with_body(compressed)) if kind.compress else response


def _with_body(body: Body) -> Response:
    if isinstance(body, CachedFile):
        return Response(200, (), file=body)
    return Response(200, (), body)


def _described(kind: Kind) -> str:
    """Return the description of a document for the log."""
    name = next((value for name, value in kind.headers if name == b"content-disposition"), b"page")
    return name.decode("ascii", "replace")
