"""Read map files in sandboxed child processes.

Our own code enforces ``readers.parsing.limits``. The operating system covers what we did not think
of, such as a parser that loops, crashes or takes all memory: each file is read by a child process
with limits on processor time, memory and clock time, which cannot write files. A file that exceeds
a limit is refused; the others are not affected.

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
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final, NamedTuple, Self

from pebble import ProcessExpired

from mapshelf.errors import BrokenFile, TooLarge, UnreadableFile
from mapshelf.formats.map_links import map_links
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapLink, Outline
from mapshelf.readers import READERS, Reader, read_content, summary
from mapshelf.readers.linked_images import linked_files
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from mapshelf.readers.regular_files import open_regular
from mapshelf.readers.zip_import import Member, list_members, read_member, split_path
from mapshelf.sandbox.pool import ConfinedPool, processor_time

_LOG: Final = logging.getLogger(__name__)

_LOOK_AHEAD: Final = 8
"""Files in progress for each child: enough to keep it busy while another has a slow one."""

_DESCRIPTORS: Final = 32
_TRIES: Final = 2


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
        template: whether its format says it is a template.
        content: the file itself, zlib-compressed.
        images: the pictures in its topics, as they are in the file or beside it, by the SHA-256 of
            their bytes in hexadecimal digits (``Image.digest``).
        links: its links to files that may be maps.
        tags: what it is filed under; see ``mapshelf.readers.summary.tags``.
        dated: when it was made, as the file says, or else when it was edited last; milliseconds
            since 1970-01-01 UTC, ``None`` if it does not say.
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


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that was not read, and one line that says why.

    Attributes:
        path: as it was given.
        reason: for the person who wants the file in the catalogue.
        kind: what kind of refusal it is.
    """

    path: str
    reason: str
    kind: type[UnreadableFile] = field(default=UnreadableFile, compare=False)


Result = ReadFile | RefusedFile


FolderOf = Callable[[str], str]
"""Returns the imported folder (or archive) that a path is in, empty if it was named alone."""


def read_file(
    path: str,
    limits: Limits,
    readers: tuple[Reader, ...] = READERS,
    folder: str = "",
    content: bytes | None = None,
) -> Result:
    """Read the file at ``path`` in this process, under the limits that need no child process.

    Each child calls this. It never raises, whatever the file is: it follows symbolic links, but
    none below the imported ``folder``, and refuses pipes and devices without waiting for them.
    Pictures beside the file are read only if they are in that folder. With ``content``,
    zlib-compressed, that is read instead of the file.
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
            outline=encode_outline(outline),
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
        return RefusedFile(path, f"it cannot be opened: {error.strerror or 'input/output error'}")
    except ValueError:
        return RefusedFile(path, "it cannot be opened: its name holds a NUL character")
    except MemoryError:
        return RefusedFile(path, "reading it takes more memory than is allowed")


class FileAgain(NamedTuple):
    """A map file as the store keeps it.

    Attributes:
        content: zlib-compressed.
        path: where it was, or just its name. It is not read, but pictures beside it are.
        folder: the imported folder that ``path`` is in, empty if pictures are not to be read.
    """

    content: bytes
    path: str
    folder: str


class _Task(NamedTuple):
    """A file to be read.

    Attributes:
        path: where it is.
        folder: the imported folder it is in, empty if it was named alone.
        content: what to read instead, zlib-compressed.
    """

    path: str
    folder: str
    content: bytes | None = None


class SandboxedReader:
    """Reads map files in limited child processes.

    Use it in a ``with`` statement; the children end with it. They start with the first file.
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
            limits: what a file may cost; the defaults of ``Limits`` if not given.
            readers: a function of a module that returns the table of readers; called in the
                child, since functions of a table may not travel. Default: ``READERS``.
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
        """End the children; files that they are reading are refused."""
        self._pool.close()

    def expect(self, files: int) -> None:
        """Start no more children than this number of files, unless they have been started.

        Starting a child takes more time than reading a hundred maps.
        """
        self._pool.expect(files)

    def read(self, paths: Iterable[str], folder_of: FolderOf = lambda _: "") -> Iterator[Result]:
        """Return a result for each of ``paths``, in their order, as soon as it is ready.

        ``paths`` may be endless: it is consumed only a few files ahead of the results. Pictures
        beside a file are read if they are in its imported folder, which ``folder_of`` returns.
        """
        return self._read(_Task(path, folder_of(path)) for path in paths)

    def read_again(self, files: Iterable[FileAgain]) -> Iterator[Result]:
        """Return a result for each file that the store keeps, as ``read`` does."""
        return self._read(_Task(file.path, file.folder, file.content) for file in files)

    def _read(self, tasks: Iterable[_Task]) -> Iterator[Result]:
        pending: deque[tuple[_Task, Future[Result]]] = deque()
        for task in tasks:
            pending.append((task, self._submit(task)))
            if len(pending) >= _LOOK_AHEAD * self._workers:
                yield self._result(*pending.popleft())
        while pending:
            yield self._result(*pending.popleft())

    def members(self, path: str) -> list[Member]:
        """Return the files in the zip archive at ``path`` (see ``mapshelf.readers.zip_import``).

        Raises:
            UnreadableFile: it is no zip archive, or exceeds a limit.
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

    def _submit(self, task: "_Task") -> "Future[Result]":
        arguments = (task, self._limits, self._readers)
        return self._pool.submit(_read_limited, arguments, self._limits.wall_seconds)

    def _result(self, task: "_Task", future: "Future[Result]") -> Result:
        for _ in range(_TRIES - 1):
            try:
                return self._answer(task.path, future)
            except BrokenProcessPool:
                future = self._submit(task)
        try:
            return self._answer(task.path, future)
        except BrokenProcessPool:
            return RefusedFile(task.path, "the process reading it crashed")

    def _answer(self, path: str, future: "Future[Result]") -> Result:
        """Return the child's result, or why there is none; raises only if the pool is broken."""
        try:
            return self._pool.result(future)
        except TimeoutError:
            return RefusedFile(
                path, f"reading it took longer than {self._limits.wall_seconds:g} seconds"
            )
        except ProcessExpired as error:
            return RefusedFile(path, self._cause_of_death(error.exitcode))
        except MemoryError:
            return RefusedFile(path, "reading it takes more memory than is allowed")
        except BrokenProcessPool:
            raise
        except Exception as error:  # a mistake of ours, which must not end an import
            _LOG.exception("reading %r failed", path)
            return RefusedFile(path, f"the reader failed ({type(error).__name__}), please report")

    def _cause_of_death(self, exit_code: int | None) -> str:
        if exit_code == -signal.SIGPROF:
            return f"reading it took more than {self._limits.cpu_seconds} s of processor time"
        if exit_code == -signal.SIGKILL:
            return "the process reading it was killed, perhaps for lack of memory"
        return "the process reading it crashed"


def _read_map(
    data: bytes, path: str, limits: Limits, readers: tuple[Reader, ...], folder: str
) -> tuple[Outline, dict[str, bytes]]:
    """Return the outline of the file at ``path``, whole and sound, and the pictures in it."""
    with linked_files(path, folder, limits) as beside:
        content = Content(data, limits, os.path.basename(path), beside)
        outline = read_content(content, readers)
    assign_topic_ids(outline)
    outline = replace(sound_sheets(outline), language=summary.language(outline))
    return outline, _shown(outline, content.images.found)


def _shown(outline: Outline, found: dict[str, bytes]) -> dict[str, bytes]:
    """Return those of the pictures ``found`` that topics have: some may have been too many."""
    if not found:
        return found
    digests = {image.digest for _, topic in outline.topics() for image in topic.images}
    return {digest: data for digest, data in found.items() if digest in digests}


def _load(path: str, limits: Limits, folder: str) -> tuple[bytes, int]:
    """Return the content of a file, and its modification time in nanoseconds."""
    # What was in a folder is in no archive, unless somebody has put one in its place.
    within = folder if os.path.isdir(folder) else ""
    in_archive = None if within else split_path(path)
    if in_archive:
        data, status = read_member(*in_archive, limits)
        return data, status.st_mtime_ns
    with open_regular(path, within) as (file, status):
        if status.st_size > limits.file:
            raise _too_large(limits)
        data = file.read(limits.file + 1)  # it may grow meanwhile; one byte more tells
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
    # Archives are packed already: trying again takes time and gains nothing.
    return zlib.compress(data, 0 if data.startswith(b"PK\x03\x04") else zlib.Z_DEFAULT_COMPRESSION)


def _too_large(limits: Limits) -> TooLarge:
    return TooLarge(f"the file is larger than {limits.file / MIB:g} MiB")


# --- In the child ------------------------------------------------------------------------------


def _read_limited(
    task: _Task, limits: Limits, readers: Callable[[], tuple[Reader, ...]] | None
) -> Result:
    table = READERS if readers is None else readers()
    with processor_time(limits.cpu_seconds):
        return read_file(task.path, limits, table, task.folder, task.content)


def _list_limited(path: str, limits: Limits) -> list[Member]:
    with processor_time(limits.cpu_seconds):
        return list_members(path)
