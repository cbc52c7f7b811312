"""Search the index of one snapshot, and return matches as slots."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import tantivy
from tantivy import DocAddress, Order, Query

from mapshelf.lru_cache import LRUCache
from mapshelf.query import SORT_ORDERS
from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.text_fields import (
    FINGERPRINT,
    PRECEDENCE,
    order_field,
    schema,
    slot_of,
    translated,
)
from mapshelf.snapshot.read.relevance_order import BLOCK, RankedWindow, descending, window_around
from mapshelf.snapshot.read.text_queries import QueryBuilder

FEW: Final = 16
"""Number of hits read at first around the blocks of a page to find where its ties start and end:
mostly enough, and cheaper than a second search now and then."""

TIED_SHARE: Final = 512
"""If they are not enough, one in so many of all maps is read, because ties grow with the catalogue
(at least a block). At a million maps, reading 2,000 more hits takes a fraction of the time of a
second search."""

MORE: Final = 32
"""If that is not enough, so many times as many are read, and at last all. Words with at least so
many times as many matches get the second margin at once: a search for them costs more than that."""

RANGES_IN_MEMORY: Final = 2
"""Number of ranges with many ties that are cached for paging, with 16 bytes per hit."""

_ASCENDING: Final = {row.name for row in SORT_ORDERS if row.ascending}

Filters = tuple[tuple[str, int], ...]

_Hit = tuple[float, DocAddress]

_Search = tuple[tuple[QueryTerm, ...], Filters]


@dataclass(frozen=True, slots=True)
class Found:
    """A page by relevance: the number of all matches, and the slots of the page."""

    total: int
    slots: list[int]


@dataclass(frozen=True, slots=True)
class First:
    """The first matches in an order other than relevance, sorted by search key only.

    Attributes:
        total: the number of all matches.
        before: slots of the matches before all ``tied`` ones.
        tied_keys: whether some of ``before`` have equal search keys, so that the listing must
            sort them; otherwise they are in their final order.
        tied: slots of all matches with the last search key, unordered. The listing must sort them.
            Empty if there are no further matches with that key.
    """

    total: int
    before: list[int]
    tied_keys: bool
    tied: Array


@dataclass(frozen=True, slots=True)
class _Range:
    """Consecutive hits of a ranking by score, from position ``first`` on."""

    total: int
    first: int
    precedences: "array[int]"
    window: RankedWindow

    def page(self, offset: int, limit: int) -> Found | None:
        """Return a page with sorted ties; ``None`` if it needs hits outside the range."""
        if offset >= self.total:
            return Found(self.total, [])
        ties = self.window.near_ties(offset, offset + limit)
        if ties is None:
            return None
        ranked: list[int] = []
        for start, end in ties:
            ranked += descending(self.precedences[start - self.first : end - self.first])
        skipped = offset - ties[0][0]
        return Found(self.total, [slot_of(one) for one in ranked[skipped : skipped + limit]])


class TextIndex:
    """The search index of one snapshot.

    Raises:
        SnapshotDamaged: the folder holds no index, or a damaged one.
    """

    def __init__(self, directory: Path) -> None:
        with translated():
            index = tantivy.Index.open(str(directory))
            self._searcher = index.searcher()
            self._query_builder = QueryBuilder(schema(), self._searcher)
        self._ranges: LRUCache[_Search, _Range] = LRUCache(RANGES_IN_MEMORY)
        self._least = max(BLOCK, len(self) // TIED_SHARE)

    def __len__(self) -> int:
        return self._searcher.num_docs

    def frequency(self, word: str) -> int:
        """Return approximately how many maps have ``word``, alone or as a part of another word."""
        return self._searcher.doc_freq("forms", word)

    def holding(self, word: str) -> int:
        """Return exactly how many maps have ``word``, alone or as a part of another word."""
        return _count(self._searcher.search(self._query_builder.holding(word), limit=1))

    def most_matches(self, term: QueryTerm) -> int:
        """Return an upper bound for the number of maps that match ``term``, a single word."""
        return self._query_builder.most_matches(term)

    def alike(self, term: str) -> int:
        """Return approximately how many maps have a fingerprint term (``fingerprints.py``)."""
        return self._searcher.doc_freq(FINGERPRINT, term)

    def having_any(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return slots of maps with any of these fingerprint terms; those with most come first."""
        return self._alike(self._query_builder.having_any(terms), limit)

    def about(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return slots of maps with any of these fingerprint terms.

        Maps with more terms, and with rarer ones, come first.
        """
        return self._alike(self._query_builder.about(terms), limit)

    def _alike(self, query: Query, limit: int) -> list[int]:
        with translated():
            hits = self._searcher.search(query, limit, count=False).hits
            return [slot_of(precedence) for precedence in self._precedences(hits)]

    @property
    def languages(self) -> list[str]:
        """The codes of the languages that maps are written in and that have stemming."""
        return self._query_builder.languages

    def titled(self, terms: Sequence[QueryTerm], filters: Filters, limit: int) -> list[int]:
        """Return slots of maps whose titles match, best first; ``limit`` is at least 1."""
        query = self._query_builder.in_title(terms, filters)
        hits = self._searcher.search(query, limit, count=False).hits
        return [slot_of(precedence) for precedence in self._precedences(hits)]

    def count(self, terms: Sequence[QueryTerm], filters: Filters) -> int:
        """Return the number of maps that match all terms and filters."""
        return _count(self._searcher.search(self._query_builder.matching(terms, filters), limit=1))

    def best(self, terms: Sequence[QueryTerm], filters: Filters, offset: int, limit: int) -> Found:
        """Return a page of the maps that match, the most relevant first.

        Tantivy ranks only by score. Among near ties within a block (``relevance_order.py``), the
        more popular map comes first, then the newer one (see ``text_fields.precedence``). Pages
        and the places of maps in the index do not change the order.
        """
        if limit == 0 or offset >= len(self):
            return Found(self.count(terms, filters), [])
        if all(term.excluded for term in terms):
            return self._all_tied(self._query_builder.matching(terms, filters), offset, limit)
        search = (tuple(terms), filters)
        found = self._nearby(search, offset, limit)
        for margin in (self._least * MORE, len(self)):
            if found:
                break
            read = self._read(search, offset, limit, margin)
            found = read.page(offset, limit)
            if found:
                self._ranges.put(search, read)
        assert found, "all hits are enough"
        return found

    def best_nearby(
        self, terms: Sequence[QueryTerm], filters: Filters, offset: int, limit: int
    ) -> Found | None:
        """Return the page that ``best`` returns; None if many hits must be read to sort ties.

        Not all terms may be excluded. Return None for empty pages, too.
        """
        if limit == 0 or offset >= len(self):
            return None
        return self._nearby((tuple(terms), filters), offset, limit)

    def _nearby(self, search: _Search, offset: int, limit: int) -> Found | None:
        """Return a page from a cached range, or from hits close to the page; None if too few."""
        known = self._ranges.get(search)
        found = known.page(offset, limit) if known else None
        for margin in self._margins(search[0]):
            if found:
                break
            found = self._read(search, offset, limit, margin).page(offset, limit)
        return found

    def _margins(self, terms: tuple[QueryTerm, ...]) -> tuple[int, ...]:
        """Return how many hits around the blocks of a page to read, at first and at second."""
        term, *others = terms
        single = not others and term.is_single_word
        # In a small catalogue, a second search takes less than a look at the word's frequency.
        common = self._least > BLOCK and single and self.most_matches(term) >= self._least * MORE
        return (self._least,) if common else (FEW, self._least)

    def _read(self, search: _Search, offset: int, limit: int, margin: int) -> _Range:
        first, last = window_around(offset, offset + limit, margin)
        query = self._query_builder.scored(*search)
        result = self._searcher.search(query, limit=min(last, len(self)) - first, offset=first)
        total, hits = _count(result), result.hits
        window = RankedWindow([score for score, _ in hits], first, total)
        return _Range(total, first, array("Q", self._precedences(hits)), window)

    def _all_tied(self, query: Query, offset: int, limit: int) -> Found:
        """Return a page of the matches for ``query`` if all have the same score."""
        result = self._searcher.search(
            query, limit=min(limit, len(self)), offset=offset, order_by_field=PRECEDENCE
        )
        return Found(_count(result), [slot_of(key) for key, _ in result.hits])

    def first(self, terms: Sequence[QueryTerm], filters: Filters, order: str, count: int) -> First:
        """Return at least the first ``count`` matches, sorted by search key only."""
        query, field = self._query_builder.matching(terms, filters), order_field(order)
        direction = Order.Asc if order in _ASCENDING else Order.Desc
        result = self._searcher.search(
            query, limit=count + 1, order_by_field=field, order=direction
        )
        hits, tied = result.hits[:count], np.zeros(0, "<u4")
        if len(result.hits) > count and result.hits[count][0] == hits[-1][0]:
            # Further matches may have the last key, too: the listing must sort all of them.
            key = int(hits[-1][0])
            hits = [hit for hit in hits if hit[0] != key]
            tied = self._all_slots(self._query_builder.with_key(query, field, key))
        tied_keys = len({key for key, _ in hits}) < len(hits)
        before = list(map(slot_of, self._precedences(hits)))
        return First(_count(result), before, tied_keys, tied)

    def matching(self, terms: Sequence[QueryTerm], filters: Filters) -> Array:
        """Return the slots of all matches, unordered."""
        return self._all_slots(self._query_builder.matching(terms, filters))

    def _all_slots(self, query: Query) -> Array:
        total = _count(self._searcher.search(query, limit=1))
        if total == 0:
            return np.zeros(0, "<u4")
        # When hits are ordered by a field, their keys are its values: here the precedences.
        hits = self._searcher.search(
            query, limit=total, count=False, order_by_field=PRECEDENCE
        ).hits
        return np.fromiter((slot_of(key) for key, _ in hits), "<u4", len(hits))

    def _precedences(self, hits: list[_Hit]) -> list[int]:
        addresses = [address for _, address in hits]
        return self._searcher.fast_field_values(PRECEDENCE, addresses)  # type: ignore[return-value]  # every map has one


def _count(result: tantivy.SearchResult) -> int:
    count: int = result.count  # type: ignore[attr-defined]  # missing from Tantivy's stubs
    return count
