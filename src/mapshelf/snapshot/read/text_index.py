"""Search the index of one snapshot, and return matches as slots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import tantivy
from tantivy import DocAddress, Order, Query

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
from mapshelf.snapshot.read.text_queries import QueryBuilder

BLOCK: Final = 64
"""Number of hits that are sorted together. Among near ties within a block, more popular maps come
first. A block is longer where its end would divide equal scores."""

LONGEST_BLOCK: Final = 1024
"""Number of hits at whose multiples a block ends in any case. So the blocks do not depend on the
page, and a page far from the first reads no more hits."""

NEAR: Final = 0.05
"""Scores are near ties if they differ by at most this share."""

_ASCENDING: Final = {row.name for row in SORT_ORDERS if row.ascending}

Filters = tuple[tuple[str, int], ...]

_Hit = tuple[float, DocAddress]


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

        Tantivy ranks only by score. Hits are read in blocks that do not depend on the page. Among
        near ties within a block, the more popular map comes first, then the newer one (see
        ``text_fields.precedence``).
        """
        if limit == 0 or offset >= len(self):
            return Found(self.count(terms, filters), [])
        query = self._query_builder.scored(terms, filters)
        first, last = _aligned(offset, offset + limit, BLOCK)
        # One more hit on each side shows whether equal scores continue there.
        before = min(first % LONGEST_BLOCK, 1)
        total, hits = self._hits(query, first - before, last + 1)
        if _is_divided(hits, before) or _is_divided(hits, last - first + before):
            first, last = _aligned(offset, offset + limit, LONGEST_BLOCK)
            before = 0
            total, hits = self._hits(query, first, last)
        complete = hits[before : last - first + before]
        return Found(total, self._ranked(complete, first, offset, offset + limit))

    def _hits(self, query: Query, first: int, last: int) -> tuple[int, list[_Hit]]:
        """Return the number of all hits, and those from index ``first`` to ``last``."""
        result = self._searcher.search(query, limit=min(last, len(self)) - first, offset=first)
        return _count(result), result.hits

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

    def _ranked(self, hits: list[_Hit], first: int, start: int, end: int) -> list[int]:
        """Return the slots of the hits from ``start`` to ``end``, near ties sorted by precedence.

        The hits are complete blocks with descending scores; the first of them has index ``first``.
        """
        ties = _near_ties([score for score, _ in hits], first, end)
        ranked = sorted(zip(ties, self._precedences(hits[: len(ties)]), strict=True), reverse=True)
        return [slot_of(precedence) for _, precedence in ranked[start - first : end - first]]

    def _precedences(self, hits: list[_Hit]) -> list[int]:
        addresses = [address for _, address in hits]
        return self._searcher.fast_field_values(PRECEDENCE, addresses)  # type: ignore[return-value]  # every map has one


def _aligned(start: int, end: int, size: int) -> tuple[int, int]:
    """Return the multiples of ``size`` before and after a range."""
    return start // size * size, -(-end // size) * size


def _is_divided(hits: Sequence[_Hit], place: int) -> bool:
    """Return whether the hits before and after ``place`` have equal scores."""
    return 0 < place < len(hits) and hits[place - 1][0] == hits[place][0]


def _near_ties(scores: Sequence[float], first: int, end: int) -> list[int]:
    """Group descending scores into near ties; return the number of the group for each score.

    The numbers are descending. A group never extends beyond its block. Groups that start at or
    after index ``end`` are left out.

    Args:
        scores: the scores of complete blocks.
        first: index of the first score among all hits.
        end: index after the last hit that is wanted.
    """
    ties: list[int] = []
    tie, least, previous = 0, 0.0, 0.0
    block_is_full = False
    for i, score in enumerate(scores, first):
        block_is_full = block_is_full or i % BLOCK == 0
        begins_block = (block_is_full and score != previous) or i % LONGEST_BLOCK == 0
        if score < least or begins_block:
            if i >= end:
                break
            tie, least = -i, score * (1 - NEAR)
        if begins_block:
            block_is_full = False
        ties.append(tie)
        previous = score
    return ties


def _count(result: tantivy.SearchResult) -> int:
    count: int = result.count  # type: ignore[attr-defined]  # missing from Tantivy's stubs
    return count
