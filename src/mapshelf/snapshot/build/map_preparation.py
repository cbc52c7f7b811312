"""Prepare maps for a snapshot: compute all that depends on one map alone.

This is most of the work of a build: to decode the outline, to find its words and their other forms,
and to encode the record. In a full build of a large catalogue, helper processes do it, so that the
build uses more than one processor. What they return is the same as without them.
"""

import gc
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

from mapshelf.errors import StoreDamaged, StoreUnavailable, TooLarge
from mapshelf.formats.outline_codec import Passages
from mapshelf.model import ListedMap, Map, Origin
from mapshelf.sandbox.failures import cause_of
from mapshelf.sandbox.pool import FAILURES, ConfinedPool
from mapshelf.search.listed_maps import listed_map, passages_of
from mapshelf.snapshot.build.documents import Document, Indexed, SearchDocuments
from mapshelf.snapshot.format.keys import Keys, keys_of
from mapshelf.snapshot.format.records import encode_details, encode_record

AHEAD: Final = 12
"""Groups of maps per helper that are computed before they are needed. While the index is written to
disk, for more than a second at a time, nothing takes them."""

MOST_RETURNED: Final = 8_000_000
"""Size of search documents, in bytes, with which a helper returns, though its group has more maps:
many groups may be waiting. A hundred maps of people have two million."""

HELPER_SECONDS: Final = 600.0
"""Seconds after which a helper that has not finished a group is killed."""

HELPER_MEMORY: Final = 1 << 30
"""Bytes that a helper may allocate. A group that needs more is prepared by the builder itself."""

HELPER_DESCRIPTORS: Final = 64

MOST_AT_ONCE: Final = 1 << 20
"""Size of outlines, uncompressed and in bytes, from which fewer maps of a group are prepared at
once. Their encoded size says little: texts that repeat themselves are a thousand times as large."""

PIECES_IN_LARGE_BUILDS: Final = 1 << 17
"""Pieces of text that are cached in builds of many maps (see ``WordForms``). They take up to 140 MB
per helper, and make such builds a sixth faster than half as many."""

GC_THRESHOLDS: Final = (50_000, 20, 20)
"""Thresholds of the garbage collector. A build makes many objects, hardly any of them in cycles.
With the defaults, looking for cycles takes an eighth of its time."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MapToPrepare:
    """A map of the change feed.

    Attributes:
        slot: its slot in the snapshot.
        map: the map.
        outline: its topics, encoded (``Change.outline``).
        origin: the origin of its file.
    """

    slot: int
    map: Map
    outline: bytes | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class PreparedMap:
    """What a snapshot stores of a map.

    Attributes:
        listed: the map.
        keys: its keys.
        document: its search document.
        record: its record, encoded.
        details: its details, encoded.
        fault: why its topics could not be read, empty if they could.
    """

    listed: ListedMap
    keys: Keys
    document: Document
    record: bytes
    details: bytes
    fault: str


Group = Sequence[MapToPrepare]
"""Maps that are prepared together, which takes less time."""


class MapPreparation:
    """Prepares maps, in this process or in helpers, with a cache of word forms in each."""

    def __init__(self, helpers: int = 0) -> None:
        """Begin with empty caches.

        Args:
            helpers: number of processes in ``for_large_build``; 0 for none.
        """
        self._helpers = helpers
        self._documents = SearchDocuments()
        self._pool: ConfinedPool | None = None

    @contextmanager
    def for_large_build(self) -> Iterator[None]:
        """Use helper processes within this context, or a larger cache if there are none.

        Other changes do without, because the interpreter does not return all of the memory of a
        cache that was large.
        """
        if self._helpers:
            self._pool = ConfinedPool(self._helpers, HELPER_MEMORY, HELPER_DESCRIPTORS)
        else:
            self._documents = SearchDocuments(PIECES_IN_LARGE_BUILDS // 2)
        try:
            yield
        finally:
            self._documents = SearchDocuments()
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def prepared(self, groups: Iterable[Group]) -> Iterator[PreparedMap]:
        """Yield the prepared maps of all groups, in order."""
        if self._pool is None:
            for group in groups:
                yield from prepare(self._documents, group)
        else:
            yield from self._prepared_by(self._pool, groups)

    def _prepared_by(self, pool: ConfinedPool, groups: Iterable[Group]) -> Iterator[PreparedMap]:
        begun: deque[tuple[Group, Future[list[PreparedMap]]]] = deque()
        for group in groups:
            begun.append((group, _submitted(pool, group)))
            if len(begun) == AHEAD * self._helpers:
                yield from self._finished(pool, *begun.popleft())
        for each in begun:
            yield from self._finished(pool, *each)

    def _finished(
        self, pool: ConfinedPool, group: Group, future: "Future[list[PreparedMap]]"
    ) -> Iterator[PreparedMap]:
        try:
            made = pool.result(future)
        except FAILURES as error:
            log.warning("a helper of the builder failed: %s", cause_of(error))
            yield from prepare(self._documents, group)
            return
        yield from made
        if rest := group[len(made) :]:
            yield from self._finished(pool, rest, _submitted(pool, rest))


def prepare(documents: SearchDocuments, group: Group) -> Iterator[PreparedMap]:
    """Yield what a snapshot stores of these maps, reading only some of them in advance."""
    read: list[tuple[Indexed, str]] = []
    room = MOST_AT_ONCE
    for one in map(_read, group):
        size = one[0].passages.size
        if size > room:
            yield from _prepared(documents, read)
            read, room = [], MOST_AT_ONCE
        read.append(one)
        room -= size
    yield from _prepared(documents, read)


def _prepared(
    documents: SearchDocuments, read: Sequence[tuple[Indexed, str]]
) -> Iterator[PreparedMap]:
    made = documents.of([indexed for indexed, _ in read])
    for (indexed, fault), document in zip(read, made, strict=True):
        record, details = encode_record(indexed.listed.map), encode_details(indexed.listed)
        yield PreparedMap(indexed.listed, indexed.keys, document, record, details, fault)


def _read(one: MapToPrepare) -> tuple[Indexed, str]:
    passages, fault = _passages_of(one)
    listed = listed_map(one.map, one.origin, passages)
    return Indexed(one.slot, listed, keys_of(listed), passages), fault


def _passages_of(one: MapToPrepare) -> tuple[Passages, str]:
    try:
        return passages_of(one.map, one.outline), ""
    except (StoreDamaged, TooLarge) as error:
        # One damaged outline must not prevent the publication of all other maps. Nor must one that
        # an earlier version stored without a limit: this process has none for its memory.
        return Passages(), str(error)


def _submitted(pool: ConfinedPool, group: Group) -> "Future[list[PreparedMap]]":
    """Let a helper prepare a group; the future fails if no helper can be started."""
    try:
        return pool.submit(_prepare_in_helper, (group,), HELPER_SECONDS)
    except StoreUnavailable as error:
        failed: Future[list[PreparedMap]] = Future()
        failed.set_exception(BrokenProcessPool(str(error)))
        return failed


def _prepare_in_helper(group: Group) -> list[PreparedMap]:
    """Return the prepared maps of a group, or the first of them (``MOST_RETURNED``)."""
    made: list[PreparedMap] = []
    room = MOST_RETURNED
    for one in prepare(_documents_of_this_helper(), group):
        made.append(one)
        room -= len(one.document.encoded)
        if room <= 0:
            break
    return made


@cache
def _documents_of_this_helper() -> SearchDocuments:
    """Return the cache of word forms, which lasts as long as this helper."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    return SearchDocuments(PIECES_IN_LARGE_BUILDS)
