"""Read map files in sandboxed child processes.

Our own code enforces ``readers.parsing.limits``. The operating system handles what those miss, such
as a parser that loops, crashes or exhausts memory: each file is parsed in a child process that has
limits on CPU time, memory and wall-clock time and cannot write files. A file that exceeds a limit
is refused; other files are not affected.

* The children come from ``mapshelf.sandbox.pool``. If the pool breaks (a child died before it
  reported which file it had), a new one is started, and each unfinished file is tried once more.
* Results are flat: the outline is sent encoded, because deeply nested objects overflow pickle.
* Results come in the order of the files, so an import gives the same result each time. Only a few
  files are in progress at a time, so memory does not grow with the folder.
"""

import hashlib
import logging
import os
import signal
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final, Self

from pebble import ProcessExpired

from mapshelf.errors import BrokenFile, ReadingEnded, TooLarge, TooSlow, UnreadableFile
from mapshelf.formats.map_links import map_links
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapLink, Outline
from mapshelf.readers import READERS, Reader, read_content, summary
from mapshelf.readers.linked_images import linked_files
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from mapshelf.readers.read_task import FileAgain, PendingRead, ReadTask
from mapshelf.readers.regular_files import open_regular
from mapshelf.readers.zip_import import Member, close_archive, list_members, read_member, split_path
from mapshelf.sandbox.pool import ConfinedPool, processor_time

_LOG: Final = logging.getLogger(__name__)

DELAY: Final = 0.5
"""Seconds after which a result is late, so that a caller can do something else meanwhile."""

_LOOK_AHEAD: Final = 8
"""Files in progress for each child: enough to keep it busy while another child has a slow file."""

_DESCRIPTORS: Final = 32
_MOST_BYTES: Final = 64 << 20
"""Bytes of files in progress after which no more are begun than there are children. Results are
kept in memory until it is their turn."""

_PAUSES: Final = (0.0, 1.0, 4.0)
"""Seconds before a file is tried again whose child was lost, perhaps with another file."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A map file that was read.

    Attributes:
        path: as it was given.
        size: bytes of the file.
        modified_ns: modification time in nanoseconds since 1970-01-01 UTC.
        digest: SHA-256 of the content.
        outline: the topic tree, as ``mapshelf.formats.outline_codec.encode_outline`` writes it.
        title: one line, never empty; see ``mapshelf.readers.summary.title``.
        description: see ``mapshelf.readers.summary.description``.
        software: name of the program that wrote it, empty if unknown.
        template: whether the format marks it as a template.
        content: the file itself, zlib-compressed.
        images: the original bytes of its embedded and linked images, by hexadecimal SHA-256
            (``Image.digest``).
        links: its links to files that may be maps.
        tags: its tags; see ``mapshelf.readers.summary.tags``.
        dated: creation time from the file, or else the time of the last edit, in milliseconds since
            1970-01-01 UTC; ``None`` if the file has neither.
    """

    path: str
    size: int
    modified_ns: int
    digest: bytes
    outline: bytes
    title: str
    description: str
    software: str
    template: bool
    content: bytes
    images: dict[str, bytes]
    links: tuple[MapLink, ...]
    tags: tuple[str, ...] = ()
    dated: int | None = None

    def in_memory(self) -> int:
        """Return about how many bytes this takes in memory."""
        return len(self.content) + sum(map(len, self.images.values()))


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that was refused, with a one-line reason.

    Attributes:
        path: as it was given.
        reason: reason, addressed to the person who imports the file.
        kind: kind of refusal.
    """

    path: str
    reason: str
    kind: type[UnreadableFile] = field(default=UnreadableFile, compare=False)

    def in_memory(self) -> int:
        """Return 0: this takes no memory worth mentioning."""
        return 0


Result = ReadFile | RefusedFile


FolderOf = Callable[[str], str]
"""Returns the imported folder (or archive) of a path, empty for a single file."""


def read_file(
    path: str,
    limits: Limits,
    readers: tuple[Reader, ...] = READERS,
    folder: str = "",
    content: bytes | None = None,
) -> Result:
    """Read the file at ``path`` in this process, with the limits that need no child process.

    Each child calls this. It never raises. It does not follow symbolic links below the imported
    ``folder``, and refuses pipes and devices without blocking. Linked images are read only from
    that folder. If ``content`` (zlib-compressed) is given, it is parsed instead of the file.
    """
    try:
        kept = None if content is None else _unpacked(content, limits)
        data, modified_ns = _load(path, limits, folder) if kept is None else (kept, 0)
        outline, images = _read_map(data, path, limits, readers, folder)
        return ReadFile(
            path=path,
            size=len(data),
            modified_ns=modified_ns,
            digest=hashlib.sha256(data).digest(),
            outline=encode_outline(outline, limits.texts),
            title=summary.title(outline, path),
            description=summary.description(outline),
            software=outline.software,
            template=outline.template,
            content=_packed(data),
            images=images,
            links=map_links(outline),
            tags=summary.tags(outline),
            dated=outline.modified if outline.created is None else outline.created,
        )
    except UnreadableFile as error:
        return RefusedFile(path, str(error), type(error))
    except OSError as error:
        reason = f"it cannot be opened: {error.strerror or 'input/output error'}"
        return RefusedFile(path, reason, ReadingEnded)
    except ValueError:
        return RefusedFile(path, "it cannot be opened: its name holds a NUL character")
    except MemoryError:
        return RefusedFile(path, "reading it takes more memory than is allowed")


class SandboxedReader:
    """Parses map files in sandboxed child processes.

    Use it in a ``with`` statement. The children start on the first file and end with the block.
    """

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits | None = None,
        readers: Callable[[], tuple[Reader, ...]] | None = None,
    ) -> None:
        """Prepare ``workers`` child processes (default: one for each processor).

        Args:
            workers: number of children, at least 1.
            limits: resource limits per file; default: those of ``Limits``.
            readers: a module-level function that returns the table of readers; called in the child,
                since the table may not be picklable. Default: ``READERS``.
        """
        self._workers = workers or os.cpu_count() or 1
        self._limits = limits or Limits()
        self._readers = readers
        self._pool = ConfinedPool(self._workers, self._limits.memory, _DESCRIPTORS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the children; files in progress are refused."""
        self._pool.close()

    def expect(self, files: int) -> None:
        """Limit the children to this number of files, unless they have already started.

        Starting a child takes longer than parsing a hundred maps.
        """
        self._pool.expect(files)

    def read(
        self,
        paths: Iterable[str],
        folder_of: FolderOf = lambda _: "",
        on_delay: Callable[[], None] = lambda: None,
    ) -> Iterator[Result]:
        """Yield a result for each of ``paths``, in order, as soon as it is ready.

        ``paths`` may be infinite: it is consumed only a few files ahead of the results. Linked
        images are read from the imported folder that ``folder_of`` returns for a file. ``on_delay``
        is called when a result is not ready after ``DELAY`` seconds.
        """
        return self._read((ReadTask(path, folder_of(path)) for path in paths), on_delay)

    def read_again(self, files: Iterable[FileAgain]) -> Iterator[Result]:
        """Yield a result for each stored file, as ``read`` does."""
        tasks = (ReadTask(file.path, file.folder, file.content) for file in files)
        return self._read(tasks, lambda: None)

    def _read(self, tasks: Iterable[ReadTask], on_delay: Callable[[], None]) -> Iterator[Result]:
        pending: deque[PendingRead] = deque()
        for task in tasks:
            pending.append(PendingRead(task, self._submit(task), task.size()))
            while self._are_enough(pending):
                yield self._next(pending, on_delay)
        while pending:
            yield self._next(pending, on_delay)

    def _are_enough(self, pending: "deque[PendingRead]") -> bool:
        if len(pending) >= _LOOK_AHEAD * self._workers:
            return True
        return (
            len(pending) > self._workers and sum(one.in_memory() for one in pending) > _MOST_BYTES
        )

    def _next(self, pending: "deque[PendingRead]", on_delay: Callable[[], None]) -> Result:
        task, future, _ = pending.popleft()
        if not wait((future,), DELAY).done:
            on_delay()
        return self._result(task, future)

    def members(self, path: str) -> list[Member]:
        """Return the files in the zip archive at ``path`` (see ``mapshelf.readers.zip_import``).

        Raises:
            UnreadableFile: it is not a zip archive, or exceeds a limit.
        """
        try:
            arguments = (path, self._limits)
            return self._pool.result(
                self._pool.submit(_list_limited, arguments, self._limits.wall_seconds)
            )
        except (TimeoutError, ProcessExpired, MemoryError, BrokenProcessPool) as error:
            raise TooLarge("listing what it holds takes more than is allowed") from error
        except OSError as error:
            raise UnreadableFile(f"it cannot be opened: {error.strerror}") from error

    def _submit(self, task: "ReadTask") -> "Future[Result]":
        arguments = (task, self._limits, self._readers)
        return self._pool.submit(_read_limited, arguments, self._limits.wall_seconds)

    def _result(self, task: "ReadTask", future: "Future[Result]") -> Result:
        for pause in _PAUSES:
            try:
                return self._answer(task.path, future)
            except BrokenProcessPool:
                if self._pool.closed:
                    break
                time.sleep(pause)
                future = self._submit(task)
        try:
            return self._answer(task.path, future)
        except BrokenProcessPool:
            if not self._pool.closed:
                self._pool.require_children()  # or all following files would be refused, too
            return RefusedFile(task.path, "the process reading it crashed", ReadingEnded)

    def _answer(self, path: str, future: "Future[Result]") -> Result:
        """Return the child's result or a refusal; raises only if the pool is broken."""
        try:
            return self._pool.result(future)
        except TimeoutError:
            reason = f"reading it took longer than {self._limits.wall_seconds:g} seconds"
            return RefusedFile(path, reason, ReadingEnded)
        except ProcessExpired as error:
            return RefusedFile(path, *self._cause_of_death(error.exitcode))
        except MemoryError:
            return RefusedFile(path, "reading it takes more memory than is allowed")
        except BrokenProcessPool:
            raise
        except Exception as error:  # a bug in our code, which must not abort an import
            _LOG.exception("reading %r failed", path)
            return RefusedFile(path, f"the reader failed ({type(error).__name__}), please report")

    def _cause_of_death(self, exit_code: int | None) -> tuple[str, type[UnreadableFile]]:
        if exit_code == -signal.SIGPROF:
            seconds = self._limits.cpu_seconds
            return f"reading it took more than {seconds} s of processor time", TooSlow
        if exit_code == -signal.SIGKILL:
            return "the process reading it was killed, perhaps for lack of memory", ReadingEnded
        return "the process reading it crashed", UnreadableFile


def _read_map(
    data: bytes, path: str, limits: Limits, readers: tuple[Reader, ...], folder: str
) -> tuple[Outline, dict[str, bytes]]:
    """Return the validated outline of the file at ``path``, and its images."""
    with linked_files(path, folder, limits) as beside:
        content = Content(data, limits, os.path.basename(path), beside)
        outline = read_content(content, readers)
    assign_topic_ids(outline)
    outline = replace(sound_sheets(outline), language=summary.language(outline))
    return outline, _shown(outline, content.images.found)


def _shown(outline: Outline, found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the images in ``found`` that topics still refer to after limits were applied."""
    if not found:
        return found
    digests = {image.digest for _, topic in outline.topics() for image in topic.images}
    return {digest: data for digest, data in found.items() if digest in digests}


def _load(path: str, limits: Limits, folder: str) -> tuple[bytes, int]:
    """Return the content of a file, and its modification time in nanoseconds."""
    # A file from a folder is never in an archive, unless an archive has replaced the folder.
    within = folder if os.path.isdir(folder) else ""
    in_archive = None if within else split_path(path)
    if in_archive:
        data, status = read_member(*in_archive, limits)
        return data, status.st_mtime_ns
    close_archive()
    with open_regular(path, within) as (file, status):
        if status.st_size > limits.file:
            raise _too_large(limits)
        data = file.read(limits.file + 1)  # one extra byte detects a file that has grown
    if len(data) > limits.file:
        raise _too_large(limits)
    return data, status.st_mtime_ns


def _unpacked(content: bytes, limits: Limits) -> bytes:
    try:
        data = zlib.decompressobj().decompress(content, limits.file + 1)
    except zlib.error as error:
        raise BrokenFile("it cannot be unpacked") from error
    if len(data) > limits.file:
        raise _too_large(limits)
    return data


def _packed(data: bytes) -> bytes:
    # Archives are already compressed: compressing them again only takes time.
    return zlib.compress(data, 0 if data.startswith(b"PK\x03\x04") else zlib.Z_DEFAULT_COMPRESSION)


def _too_large(limits: Limits) -> TooLarge:
    return TooLarge(f"the file is larger than {limits.file / MIB:g} MiB")


# --- In the child ------------------------------------------------------------------------------


def _read_limited(
    task: ReadTask, limits: Limits, readers: Callable[[], tuple[Reader, ...]] | None
) -> Result:
    table = READERS if readers is None else readers()
    with processor_time(limits.cpu_seconds):
        return read_file(task.path, limits, table, task.folder, task.content)


def _list_limited(path: str, limits: Limits) -> list[Member]:
    with processor_time(limits.cpu_seconds):
        return list_members(path)
