"""The search index while snapshots are being built, and how one becomes part of a snapshot."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import tantivy
from tantivy import Query

from mapshelf.snapshot.build.documents import Fields
from mapshelf.snapshot.format.text_fields import schema, translated

MEMORY: Final = 64_000_000
"""Bytes the writer may fill before it writes a segment."""

MEMORY_ANEW: Final = 512_000_000
"""The same where a whole index is written, portion by portion."""

PORTION: Final = 20_000
"""Documents of a segment at most where a whole index is written, if they fit into that memory."""

MERGED: Final = 8
"""Segments of a size that the engine merges into one as soon as there are so many."""


log = logging.getLogger(__name__)


class TextIndexWriter:
    """The index while snapshots are being built, in a folder of its own.

    Segments are immutable files: publishing an index is linking them into a snapshot's folder.

    Raises:
        SnapshotDamaged: the index that ``directory`` holds is broken.
    """

    def __init__(self, directory: Path, expected: int = 0) -> None:
        """Go on with the index in ``directory``, or begin one.

        Args:
            directory: where its files are.
            expected: about how many documents come at first if it is begun.
        """
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with translated():
            self._schema = schema()
            self._index = tantivy.Index(self._schema, path=str(directory))
            self._writer = self._index.writer(MEMORY_ANEW if expected else MEMORY, num_threads=1)
        self._expected, self._put = expected, 0
        self._portion = portion_of(expected)
        self.size = 0
        """Documents in what was published last, with those that were replaced or removed."""

    def put(self, fields: Fields) -> None:
        """Index a map under a slot that was never used before."""
        with translated():
            self._writer.add_document(tantivy.Document.from_dict(fields, self._schema))
            self._put += 1
            if self._put <= self._expected and self._put % self._portion == 0:
                self._writer.commit()

    def remove(self, slot: int) -> None:
        """Take the map under ``slot`` out of the index."""
        with translated():
            # By query: deleting by term takes every number for a signed one and finds none.
            self._writer.delete_documents_by_query(Query.term_query(self._schema, "slot", slot))

    def publish(self, directory: Path) -> None:
        """Commit, and put the index as it is now into the folder of a snapshot."""
        with translated():
            self._writer.commit()
            self._writer.garbage_collect_files()
        link_index(self._directory, directory)
        self.size = sum(segment["max_doc"] for segment in _segments(directory / "meta.json"))

    def settle(self) -> None:
        """Wait until all is merged that is going to be: a whole index becomes one segment."""
        if self._portion < self._expected:
            log.info("putting the search index together")
        with translated():
            self._writer.commit()
            self._writer.wait_merging_threads()
            self._writer = self._index.writer(MEMORY, num_threads=1)

    def close(self) -> None:
        """Finish merging in the background and let go of the folder."""
        with translated():
            self._writer.wait_merging_threads()


def portion_of(expected: int) -> int:
    """Return how many documents a segment is to get where ``expected`` are put into an index.

    Segments are merged by the eight, and those in turn: with a power of eight of them, all of one
    size, one is left in the end. Every search goes through each segment, so one is searched
    fastest, and it takes three quarters of the disk that ten do.
    """
    segments = 1
    while expected > segments * PORTION:
        segments *= MERGED
    return -(-expected // segments)


def link_index(source: Path, target: Path) -> None:
    """Make ``target`` an index of its own that shares the files of ``source``."""
    for attempt in range(20):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        try:
            for name in ("meta.json", ".managed.json"):
                (target / name).write_bytes((source / name).read_bytes())
            for path in _segment_files(source, target / "meta.json"):
                (target / path.name).hardlink_to(path)
            if (source / "meta.json").read_bytes() == (target / "meta.json").read_bytes():
                return
        except FileNotFoundError:
            if attempt == 19:
                raise
        # A merge in the background replaced segments in between, and may have removed some of
        # their files before they were linked: look again.
    raise FileNotFoundError(source / "meta.json")


def _segment_files(source: Path, meta: Path) -> Iterator[Path]:
    """Yield the files of the segments that ``meta`` names."""
    names = [segment["segment_id"].replace("-", "") for segment in _segments(meta)]
    present = sorted(source.iterdir())
    for name in names:
        own = [path for path in present if path.name.startswith(name)]
        if not own:
            raise FileNotFoundError(name)
        yield from own


def _segments(meta: Path) -> list[dict[str, Any]]:
    """Return what ``meta`` tells of each segment."""
    segments: list[dict[str, Any]] = orjson.loads(meta.read_bytes())["segments"]
    return segments
