"""Search: which maps hold the words asked for, best first. Tantivy does it; only this module knows.

Words are made by ``folding``, for maps and queries alike, and handed to Tantivy ready made. What
a query may contain is small on purpose, and there is no way to write one wrongly: words, phrases
in quotes, ``-`` before what must not occur. The words must all occur, in any order and in any
field; the last one may be the beginning of a word.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
import tantivy
from tantivy import Occur, Query

from mapshelf.errors import SnapshotDamaged
from mapshelf.folding import index_words, is_lone_character, query_words
from mapshelf.model import Map
from mapshelf.query import FILTERS
from mapshelf.snapshot.arrays import Array

WEIGHTS: Final = {
    "title": 8.0,
    "description": 3.0,
    "owner": 1.5,
    "category": 1.5,
    "source": 1.0,
    "topics": 1.0,
}
"""What a word found in each field counts for."""

PREFIX_WEIGHT: Final = 0.1
"""What the beginning of a word counts for, next to a whole one."""

SHORT_BEGINNING: Final = 3
"""Beginnings with fewer letters are not followed inside a phrase: too many words have them."""

WRITER_MEMORY: Final = 64_000_000
"""Bytes the writer may fill before it writes a segment."""

_PARTS: Final = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<chunk>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what a client searches for: words that must follow each other."""

    words: tuple[str, ...]
    excluded: bool = False
    prefix: bool = False


def parse_text(text: str) -> list[Part]:
    """Return the parts of a search text, none if it holds no word at all."""
    parts: list[Part] = []
    for match in _PARTS.finditer(text):
        quoted = match["chunk"] is None
        words = tuple(query_words(match["phrase"] if quoted else match["chunk"]))
        if words:
            excluded = match["minus"] == "-"
            last = not quoted and match.end() == len(text)
            # A lone character of an unspaced script begins some pair wherever it occurs.
            lone = len(words) == 1 and is_lone_character(words[0])
            parts.append(Part(words, excluded, prefix=lone or (last and not excluded)))
    # Said twice means no more than said once, and costs the same again.
    return list(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a search: how many maps match in all, and the slots of these."""

    total: int
    slots: list[int]


class TextIndex:
    """The index of one snapshot, for reading.

    Raises:
        SnapshotDamaged: the folder holds no index, or a broken one.
    """

    def __init__(self, directory: Path) -> None:
        with _translated():
            self._schema = _schema()
            self._index = tantivy.Index.open(str(directory))
            self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return self._searcher.num_docs

    def best(
        self, text: str, filters: tuple[tuple[str, int], ...], offset: int, limit: int
    ) -> Found:
        """Return a page of the maps that match, the most relevant first.

        Maps of equal relevance come newest first. Tantivy leaves their order open, so all those
        that tie with the ends of the page are fetched and ordered here.
        """
        query = self._query(text, filters)
        if limit == 0 or offset >= len(self):
            return Found(self._count(query), [])
        return self._window(query, offset, offset + limit)

    def matching(self, text: str, filters: tuple[tuple[str, int], ...]) -> Array:
        """Return the slots of all maps that match, in no order."""
        query = self._query(text, filters)
        total = self._count(query)
        if total == 0:
            return np.zeros(0, "<u4")
        # Ordering by the slot makes the slots themselves the keys of the hits.
        hits = self._searcher.search(query, limit=total, count=False, order_by_field="slot").hits
        return np.fromiter((key for key, _ in hits), "<u4", len(hits))

    def _window(self, query: Query, start: int, end: int) -> Found:
        """Return the maps ranked ``start`` to ``end`` when ties go to the newest map."""
        low, high, reach = start, end, end - start
        while True:
            # One hit more on either side tells whether a tie goes on beyond the window.
            first = max(0, low - 1)
            result = self._searcher.search(query, limit=high + 1 - first, offset=first)
            scores = [score for score, _ in result.hits]
            tied_low = first < low and _equal(scores, start - first, 0)
            tied_high = len(scores) > high - first and _equal(scores, end - 1 - first, -1)
            if not (tied_low or tied_high):
                break
            reach *= 8
            low = max(0, start - reach) if tied_low else low
            high = end + reach if tied_high else high
        addresses = [address for _, address in result.hits]
        file_ids = self._numbers("file_id", addresses)
        slots = self._numbers("slot", addresses)
        ranked = sorted(
            zip(scores, file_ids, slots, strict=True), key=lambda hit: (-hit[0], -hit[1])
        )
        return Found(_count(result), [hit[2] for hit in ranked[start - first : end - first]])

    def _count(self, query: Query) -> int:
        return _count(self._searcher.search(query, limit=1))

    def _numbers(self, name: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self._searcher.fast_field_values(name, addresses)]

    def _query(self, text: str, filters: tuple[tuple[str, int], ...]) -> Query:
        parts = parse_text(text)
        if not parts:
            return Query.empty_query()
        clauses = [(_occur(part), self._part(part)) for part in parts]
        if all(part.excluded for part in parts):
            clauses.append((Occur.Must, Query.all_query()))
        for name, key in filters:
            term = Query.term_query(self._schema, f"filter_{name}", key)
            clauses.append((Occur.Must, Query.const_score_query(term, 0.0)))
        return Query.boolean_query(clauses)

    def _part(self, part: Part) -> Query:
        fields = [(Occur.Should, self._in_field(part, name)) for name in WEIGHTS]
        if part.prefix:
            fields += [(Occur.Should, self._beginning(part, name)) for name in WEIGHTS]
        return Query.boolean_query(fields)

    def _in_field(self, part: Part, name: str) -> Query:
        return Query.boost_query(self._row(name, part.words), WEIGHTS[name])

    def _row(self, name: str, words: Sequence[str]) -> Query:
        if len(words) == 1:
            return Query.term_query(self._schema, name, words[0])
        return Query.phrase_query(self._schema, name, list(words))

    def _beginning(self, part: Part, name: str) -> Query:
        *whole, last = part.words
        # Words hold letters and digits alone: there is nothing to escape.
        if whole:
            found = self._phrase_beginning(name, whole, last)
        else:
            found = Query.regex_query(self._schema, name, f"{last}.*")
        return Query.const_score_query(found, WEIGHTS[name] * PREFIX_WEIGHT)

    def _phrase_beginning(self, name: str, whole: list[str], last: str) -> Query:
        """Return the query for words in a row of which the last is a beginning.

        Tantivy is slow with one that many words begin with, and gives up on one that has
        thousands. The others must then occur in a row, and it anywhere in the same field.
        """
        loose = Query.boolean_query(
            [
                (Occur.Must, self._row(name, whole)),
                (Occur.Must, Query.regex_query(self._schema, name, f"{last}.*")),
            ]
        )
        if last.isascii() and len(last) < SHORT_BEGINNING:
            return loose
        found = Query.regex_phrase_query(self._schema, name, [*whole, f"{last}.*"])
        try:
            self._count(found)
        except ValueError:
            return loose
        return found


class TextIndexWriter:
    """The index while snapshots are being built, in a folder of its own.

    Segments are immutable files: publishing an index is linking them into a snapshot's folder.

    Raises:
        SnapshotDamaged: the index that ``directory`` holds is broken.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with _translated():
            self._schema = _schema()
            self._index = tantivy.Index(self._schema, path=str(directory))
            self._writer = self._index.writer(WRITER_MEMORY, num_threads=1)

    def put(self, slot: int, found: Map, source: str, topics: str, *, replace: bool) -> None:
        """Index a map under ``slot``, in place of what was there if ``replace``.

        Args:
            slot: its place in the snapshot.
            found: the map.
            source: name of the file it was read from.
            topics: texts of its topics.
            replace: whether ``slot`` was indexed before.
        """
        with _translated():
            if replace:
                self._delete(slot)
            document = {
                "slot": slot,
                "file_id": found.file_id,
                "title": index_words(found.title),
                "description": index_words(found.description),
                "owner": index_words(found.owner),
                "category": index_words(found.category),
                "source": index_words(source),
                "topics": index_words(topics),
                **{f"filter_{row.name}": row.key(found) for row in FILTERS},
            }
            self._writer.add_document(tantivy.Document.from_dict(document, self._schema))

    def remove(self, slot: int) -> None:
        """Take the map under ``slot`` out of the index."""
        with _translated():
            self._delete(slot)

    def _delete(self, slot: int) -> None:
        # By query, because deleting by term takes every number for a signed one and finds none.
        self._writer.delete_documents_by_query(Query.term_query(self._schema, "slot", slot))

    def publish(self, directory: Path) -> None:
        """Commit, and put the index as it is now into the folder of a snapshot."""
        with _translated():
            self._writer.commit()
            self._writer.garbage_collect_files()
        link_index(self._directory, directory)

    def close(self) -> None:
        """Finish merging in the background and let go of the folder."""
        with _translated():
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
    segments = orjson.loads(meta.read_bytes())["segments"]
    names = [segment["segment_id"].replace("-", "") for segment in segments]
    present = sorted(source.iterdir())
    for name in names:
        own = [path for path in present if path.name.startswith(name)]
        if not own:
            raise FileNotFoundError(name)
        yield from own


def _count(result: tantivy.SearchResult) -> int:
    count: int = result.count  # type: ignore[attr-defined]  # missing from Tantivy's stubs
    return count


def _equal(scores: Sequence[float], one: int, other: int) -> bool:
    return one < len(scores) and scores[one] == scores[other]


def _occur(part: Part) -> Occur:
    return Occur.MustNot if part.excluded else Occur.Must


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in WEIGHTS:
        builder.add_text_field(name, tokenizer_name="whitespace")
    for name in ("slot", "file_id"):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    for row in FILTERS:
        builder.add_unsigned_field(f"filter_{row.name}", indexed=True)
    return builder.build()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what Tantivy raises into our own errors."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise SnapshotDamaged(f"the search index cannot be used: {error}") from error
