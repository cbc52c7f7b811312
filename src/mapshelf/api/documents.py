"""Documents that take long to make: pages, exports and drawings of large maps, and large files.

A map may have a hundred thousand topics; its page takes seconds of pure Python. In a thread of a
worker, that would slow down every other request, so a child process with limits does it
(``sandbox.pool``). The result is stored on disk and sent from there, so it is made once, and slow
clients do not hold it in memory.

Documents of small maps are made directly, in a thread.
"""

import logging
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Final

import xxhash

from mapshelf.api.compression import compressed, with_smaller
from mapshelf.api.http import Headers, Response
from mapshelf.api.work_queue import WorkQueue
from mapshelf.disk_cache import CachedFile, DiskCache
from mapshelf.errors import NotFound, StoreDamaged
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import OriginalFile, Outline
from mapshelf.sandbox.pool import FAILURES, ConfinedChild, processor_time

LARGE: Final = 32_768
"""Bytes of an unpacked outline from which the child works on it: about 300 topics, whose drawing
takes ten milliseconds."""

LARGE_FILE: Final = 262_144
"""Bytes from which a map file is sent from disk."""

MEMORY: Final = 1 << 30
"""Maximum memory of the child, in bytes."""

CPU_SECONDS: Final = 20
WALL_SECONDS: Final = 60.0
"""Maximum processor time and elapsed time for a document."""

_DESCRIPTORS: Final = 64
_REFUSED: Final = 1000
"""Maximum of remembered documents that could not be made."""

Make = Callable[..., bytes]
"""Makes a document of an outline and further facts. It is sent to the child, so it must be a
function of a module."""

Bodies = tuple[bytes, bytes]
"""A document, and its compressed form, empty if there is none."""

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


class Documents:
    """Makes large documents and stores them. It may be used from several threads."""

    def __init__(self, cache: DiskCache, queue: WorkQueue) -> None:
        """Prepare to make documents.

        Args:
            cache: where they are stored.
            queue: where they wait for the child, which makes one at a time.
        """
        self.queue = queue
        self._cache = cache
        self._child = ConfinedChild(MEMORY, _DESCRIPTORS)
        self._refused: set[str] = set()

    def of_outline(
        self, make: Make, outline: bytes, facts: tuple[object, ...], kind: Kind
    ) -> Response:
        """Return the document that ``make`` makes of an outline and of ``facts``.

        Args:
            make: called with the ``Outline`` and the facts.
            outline: as stored, encoded.
            facts: equal facts have the same ``repr``.
            kind: the kind of document.

        Raises:
            NotFound: the map is too large.
            StoreUnavailable: the service is shutting down.
            StoreDamaged: the outline cannot be read.
        """
        name = f"{make.__module__}.{make.__qualname__}"
        digest = xxhash.xxh3_128(repr((self._code, name, facts)).encode())
        digest.update(outline)
        arguments = (make, outline, facts, kind.compress)
        key = digest.hexdigest()
        return self._response(key, kind, lambda: self._made_by_child(key, arguments))

    def of_file(self, file: OriginalFile, kind: Kind) -> Response:
        """Return a map file, unchanged.

        Raises:
            StoreDamaged: it cannot be unpacked.
        """
        # It is not parsed, so no child is needed.
        body = _unpacked(file.content)
        if len(body) < LARGE_FILE:
            return _response(kind, body, b"")
        key = xxhash.xxh3_128_hexdigest(b"file" + file.digest)
        return self._response(key, kind, lambda: (body, b""))

    def close(self) -> None:
        """End the child, even if it is making a document."""
        self._child.close()

    def _response(self, key: str, kind: Kind, make: Callable[[], Bodies]) -> Response:
        found = self._cache.find(key)
        packed = self._cache.find(_packed(key)) if kind.compress else None
        if found and (packed or not kind.compress):
            return _response(kind, found, packed or b"")
        whole, smaller = make()
        self._cache.put(key, whole)
        if smaller:
            self._cache.put(_packed(key), smaller)
        # If they cannot be stored (a full disk), they are sent from memory.
        found = self._cache.find(key)
        packed = self._cache.find(_packed(key)) if smaller else None
        return _response(kind, found or whole, packed or smaller)

    def _made_by_child(self, key: str, arguments: tuple[object, ...]) -> Bodies:
        if key in self._refused:
            raise _too_large()
        try:
            return self._child.call(_make, arguments, WALL_SECONDS)
        except FAILURES as error:
            log.warning("a document cannot be made: %s", str(error) or type(error).__name__)
            if len(self._refused) >= _REFUSED:
                self._refused.clear()
            self._refused.add(key)
            raise _too_large() from error

    @cached_property
    def _code(self) -> str:
        """A digest that identifies this version of the code that makes documents."""
        digest = xxhash.xxh3_64()
        package = Path(str(files("mapshelf")))
        for path in sorted(package.rglob("*")):
            if path.suffix in (".py", ".html"):
                status = path.stat()
                name = path.relative_to(package)
                digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
        return digest.hexdigest()


def is_large(outline: bytes) -> bool:
    """Return whether documents of an encoded outline take long to make.

    Raises:
        StoreDamaged: it cannot be read.
    """
    try:
        unpacking = zlib.decompressobj()
        unpacking.decompress(outline, LARGE)
        return bool(unpacking.unconsumed_tail)
    except zlib.error as error:
        raise StoreDamaged("an outline in the store cannot be read") from error


def _make(make: Make, outline: bytes, facts: tuple[object, ...], compress: bool) -> Bodies:
    """Make a document, in the child."""
    with processor_time(CPU_SECONDS):
        decoded: Outline = decode_outline(outline)
        body = make(decoded, *facts)
        return body, compressed(body) if compress else b""


def _unpacked(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error as error:
        raise StoreDamaged("a file in the store cannot be unpacked") from error


def _packed(key: str) -> str:
    """Return the key of the compressed form of a document."""
    return f"{key}-gzip"


def _response(kind: Kind, whole: Body, smaller: Body) -> Response:
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
    return with_smaller(response, _with_body(smaller)) if kind.compress else response


def _with_body(body: Body) -> Response:
    if isinstance(body, CachedFile):
        return Response(200, (), file=body)
    return Response(200, (), body)


def _too_large() -> NotFound:
    return NotFound("This map is too large to be shown so; its file can be downloaded.")
