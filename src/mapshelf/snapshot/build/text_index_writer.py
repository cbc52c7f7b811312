"""Write the search index while snapshots are being built, and link it into snapshots."""

import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any, Final

import orjson
import tantivy
from tantivy import Query

from mapshelf.snapshot.format.text_fields import schema, translated

MEMORY: Final = 64_000_000
"""Number of bytes that the writer buffers before it writes a segment."""

MEMORY_FOR_NEW: Final = 256_000_000
"""Number of bytes that it buffers at first for a new index, so that there is less to merge. With
1.28 GB, 100,000 maps took as long. A compaction publishes no changes while a buffer is written to
disk, which takes two seconds."""

SHARE_OF_DOCUMENTS: Final = 0.5
"""Size of the documents that fit into a buffer, relative to that. It was 0.37 for 64 MB, 0.51 for
128 MB, and more for larger ones, because most words are in many documents."""

SAMPLE: Final = 500
"""Number of documents from whose average size the size of all segments of a new index follows."""

SEGMENTS_MERGED: Final = 8
"""Number of segments of about the same size that Tantivy merges into one."""

LONGEST_MERGE: Final = 3600.0
"""Seconds after which nobody waits for the merges of a new index any more."""

ALMOST_FULL: Final = 32 << 20
"""Free bytes of a disk below which a merge may have filled it."""

META: Final = "meta.json"
"""The file of Tantivy that lists the segments."""

SEGMENT_NAME: Final = 32
"""Characters of the names of segments, with which the names of their files begin."""

_SEGMENT_FILE: Final = re.compile(rf"[0-9a-f]{{{SEGMENT_NAME}}}\..+")

log = logging.getLogger(__name__)


class Portions:
    """Cuts the documents of a new index into portions, of which each becomes a segment."""

    def __init__(self, expected: int) -> None:
        """Begin an index to which about ``expected`` documents will be added first."""
        self._expected = expected
        self._added, self._bytes = 0, 0
        self._size = max(SAMPLE, expected)

    def end_with(self, document: bytes) -> bool:
        """Count a document that was added; return whether a portion ends with it."""
        self._added += 1
        if self._added > self._expected:
            return False
        self._bytes += len(document)
        if self._added == SAMPLE:
            documents = int(MEMORY_FOR_NEW * SHARE_OF_DOCUMENTS * SAMPLE) // self._bytes
            # A portion has at least an eighth of what it may have, so none has ended before this.
            self._size = portion_of(self._expected, max(SAMPLE * SEGMENTS_MERGED, documents))
        return self._added % self._size == 0


class TextIndexWriter:
    """The index while snapshots are being built, in a folder of its own.

    Segments are immutable files, so an index is published by linking them into a snapshot's folder.

    Raises:
        SnapshotDamaged: the index in ``directory`` is damaged.
    """

    def __init__(self, directory: Path, new: Portions | None = None) -> None:
        """Open the index in the folder ``directory``, or create one there in portions."""
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with translated():
            self._schema = schema()
            self._index = tantivy.Index(self._schema, path=str(directory))
            self._writer = self._index.writer(MEMORY_FOR_NEW if new else MEMORY, num_threads=1)
        self._new = new
        self._committed = new is None
        self._merged_until = 0.0
        self.size = 0
        """Number of documents in the last published index, including deleted ones."""

    def put(self, document: bytes) -> None:
        """Add a map under a slot that was never used before, given its document as JSON."""
        with translated():
            self._writer.add_json(document.decode())
            self._committed = False
            if self._new and self._new.end_with(document):
                self._commit()

    def remove(self, slot: int) -> None:
        """Delete the map under ``slot``."""
        with translated():
            # By query, because deletion by term takes the number as signed and finds nothing.
            self._writer.delete_documents_by_query(Query.term_query(self._schema, "slot", slot))
            self._committed = False

    def publish(self, directory: Path) -> None:
        """Commit, and link the index into the folder of a snapshot."""
        with translated():
            self._commit()
            self._writer.garbage_collect_files()
        link_index(self._directory, directory)
        self.size = sum(_sizes(directory / META))

    def end_first_build(self) -> None:
        """Commit the documents that were expected in a new index.

        If they are in several segments, these are merged in the background (``end_merging``).
        """
        with translated():
            self._commit()
            if self._has_many_segments():
                self._await_merges()
            else:
                self._settle()
            self._new = None

    @property
    def is_merging(self) -> bool:
        """Whether the segments of a new index are being merged in the background."""
        return self._merged_until > 0

    def end_merging(self) -> bool:
        """Stop waiting for merges if one segment has most documents by now; return whether it does.

        Each search visits each segment, so it is worth publishing the index again then.
        """
        if self._has_many_segments() and monotonic() < self._merged_until:
            return False
        with translated():
            self._commit()
            self._settle()
        log.info("the search index is merged")
        return True

    def resume_merging(self) -> None:
        """Go on with the merges of an index that was new when the last builder ended.

        They may be what filled the disk, so there must be room for them.
        """
        size = sum(path.stat().st_size for path in self._directory.iterdir())
        has_room = shutil.disk_usage(self._directory).free > size + ALMOST_FULL
        if has_room and self._has_many_segments():
            with translated():
                self._writer.commit()  # begins merges, even without changes
            self._await_merges()

    def make_room(self) -> None:
        """If the disk is almost full, delete what merges have left that had no room.

        Otherwise that would stay until the next publication, which may have no room either.
        """
        if (
            self._committed
            and shutil.disk_usage(self._directory).free < ALMOST_FULL
            and self._leftovers()
        ):
            with translated():
                self._writer.wait_merging_threads()  # it may be what they are writing
                for path in self._leftovers():
                    path.unlink()  # Tantivy would need some room to delete it
                self._writer = self._index.writer(MEMORY, num_threads=1)
            self._merged_until = 0.0

    def _leftovers(self) -> list[Path]:
        """Return the files of segments that are not part of the committed index."""
        meta = self._directory / META
        names = {segment["segment_id"].replace("-", "") for segment in _segments(meta)}
        files = (path for path in self._directory.iterdir() if _SEGMENT_FILE.fullmatch(path.name))
        return [path for path in files if path.name[:SEGMENT_NAME] not in names]

    def close(self) -> None:
        """Wait for merges in the background, and close the index."""
        with translated():
            self._writer.wait_merging_threads()

    def _has_many_segments(self) -> bool:
        """Return whether no segment has most documents yet, and merges will change that."""
        sizes = _sizes(self._directory / META)
        return len(sizes) >= SEGMENTS_MERGED and 2 * max(sizes) < sum(sizes)

    def _settle(self) -> None:
        """Go on with less memory; merges must have been done, or be small."""
        self._writer.wait_merging_threads()
        self._writer = self._index.writer(MEMORY, num_threads=1)
        self._merged_until = 0.0

    def _await_merges(self) -> None:
        self._merged_until = monotonic() + LONGEST_MERGE
        log.info("merging the search index in the background")

    def _commit(self) -> None:
        """Commit if there are uncommitted changes; without any, a commit would still take 10 ms."""
        if not self._committed:
            self._writer.commit()
            self._committed = True


def portion_of(expected: int, most: int) -> int:
    """Return how many documents, up to ``most``, each segment of ``expected`` documents gets.

    Tantivy merges eight segments into one, and eight of the results again. So if the number of
    equal segments is a power of eight, they end up as a single one. Every search visits each
    segment, so a single one is fastest. It also takes only three quarters of the disk space of ten.
    """
    segments = 1
    while expected > segments * most:
        segments *= SEGMENTS_MERGED
    return -(-expected // segments)


def link_index(source: Path, target: Path) -> None:
    """Create an index in ``target`` that shares the segment files of ``source`` by hard links.

    Raises:
        FileNotFoundError: the index keeps changing in the background, or files are missing.
    """
    for attempt in range(20):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        try:
            for name in (META, ".managed.json"):
                (target / name).write_bytes((source / name).read_bytes())
            for path in _segment_files(source, target / META):
                (target / path.name).hardlink_to(path)
            if (source / META).read_bytes() == (target / META).read_bytes():
                return
        except FileNotFoundError:
            if attempt == 19:
                raise
        # A merge in the background has replaced segments, and may have removed some of their files
        # before they were linked: try again.
    raise FileNotFoundError(source / "meta.json")


def _segment_files(source: Path, meta: Path) -> Iterator[Path]:
    """Yield the files of the segments that ``meta`` lists.

    Raises:
        FileNotFoundError: a segment has no files.
    """
    names = [segment["segment_id"].replace("-", "") for segment in _segments(meta)]
    present = sorted(source.iterdir())
    for name in names:
        own = [path for path in present if path.name.startswith(name)]
        if not own:
            raise FileNotFoundError(name)
        yield from own


def _sizes(meta: Path) -> list[int]:
    """Return the number of documents in each segment that ``meta`` lists."""
    return [segment["max_doc"] for segment in _segments(meta)]


def _segments(meta: Path) -> list[dict[str, Any]]:
    """Return the segments that ``meta``, a file of Tantivy, lists."""
    segments: list[dict[str, Any]] = orjson.loads(meta.read_bytes())["segments"]
    return segments
