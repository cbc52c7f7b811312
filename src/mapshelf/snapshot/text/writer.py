"""The search index while snapshots are being built, and how one becomes part of a snapshot."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import tantivy
from tantivy import Query

from mapshelf.snapshot.text.documents import Fields
from mapshelf.snapshot.text.fields import schema, translated

MEMORY: Final = 64_000_000
"""Bytes the writer may fill before it writes a segment."""

MEMORY_ANEW: Final = 256_000_000
"""The same where a whole index is written: fewer and larger segments are searched faster."""


class TextIndexWriter:
    """The index while snapshots are being built, in a folder of its own.

    Segments are immutable files: publishing an index is linking them into a snapshot's folder.

    Raises:
        SnapshotDamaged: the index that ``directory`` holds is broken.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with translated():
            self._schema = schema()
            self._index = tantivy.Index(self._schema, path=str(directory))
            memory = MEMORY if self._index.searcher().num_docs else MEMORY_ANEW
            self._writer = self._index.writer(memory, num_threads=1)
        self.size = 0
        """Documents in what was published last, with those that were replaced or removed."""

    def put(self, fields: Fields, *, replace: bool) -> None:
        """Index a map, in place of what was under its slot before if ``replace``."""
        with translated():
            if replace:
                self._delete(fields["slot"])
            self._writer.add_document(tantivy.Document.from_dict(fields, self._schema))

    def remove(self, slot: int) -> None:
        """Take the map under ``slot`` out of the index."""
        with translated():
            self._delete(slot)

    def _delete(self, slot: int | str) -> None:
        # By query, because deleting by term takes every number for a signed one and finds none.
        self._writer.delete_documents_by_query(Query.term_query(self._schema, "slot", slot))

    def publish(self, directory: Path) -> None:
        """Commit, and put the index as it is now into the folder of a snapshot."""
        with translated():
            self._writer.commit()
            self._writer.garbage_collect_files()
        link_index(self._directory, directory)
        self.size = sum(segment["max_doc"] for segment in _segments(directory / "meta.json"))

    def close(self) -> None:
        """Finish merging in the background and let go of the folder."""
        with translated():
            self._writer.wait_merging_threads()


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
