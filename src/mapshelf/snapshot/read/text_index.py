"""The search index of one snapshot, for reading."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import tantivy
from tantivy import DocAddress, Order, Query

from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.text_fields import (
    PRECEDENCE,
    order_field,
    schema,
    slot_of,
    translated,
)
from mapshelf.snapshot.read.text_queries import Queries

BLOCK: Final = 64
"""Hits that are put in order together: near ties go to the more popular map inside a block."""

NEAR: Final = 0.05
"""Scores that differ by less than this share of themselves are a near tie."""

Filters = tuple[tuple[str, int], ...]

_Hit = tuple[float, DocAddress]


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a search: how many maps match in all, and the slots of these."""

    total: int
    slots: list[int]


@dataclass(frozen=True, slots=True)
class First:
    """What is known of the first maps of a search in an order of its own.

    Attributes:
        total: how many maps match in all.
        before: slots of those that come before all ``tied`` ones.
        alike: whether the listing decides about the order of those; else they are in order.
        tied: slots of those among which the listing decides, in no order.
    """

    total: int
    before: list[int]
    alike: bool
    tied: Array


class TextIndex:
    """The index of one snapshot, for reading.

    Raises:
        SnapshotDamaged: the folder holds no index, or a broken one.
    """

    def __init__(self, directory: Path) -> None:
        with translated():
            index = tantivy.Index.open(str(directory))
            self._searcher = index.searcher()
            self._queries = Queries(schema(), self._searcher)

    def __len__(self) -> int:
        return self._searcher.num_docs

    def frequency(self, word: str) -> int:
        """Return about how many maps hold ``word``, by itself or as a piece of another."""
        return self._searcher.doc_freq("forms", word)

    def holding(self, word: str) -> int:
        """Return how many maps hold ``word``, by itself or as a piece of another."""
        return _count(self._searcher.search(self._queries.holding(word), limit=1))

    def most_matches(self, term: QueryTerm) -> int:
        """Return how many maps match ``term``, a single word, at most."""
        return self._queries.most_matches(term)

    @property
    def languages(self) -> list[str]:
        """The codes of the languages that maps are in, as far as they have stems."""
        return self._queries.languages

    def titled(self, terms: Sequence[QueryTerm], filters: Filters, limit: int) -> list[int]:
        """Return slots of maps whose titles match, the best first; ``limit`` is at least 1."""
        query = self._queries.in_title(terms, filters)
        hits = self._searcher.search(query, limit, count=False).hits
        return [slot_of(precedence) for precedence in self._precedences(hits)]

    def count(self, terms: Sequence[QueryTerm], filters: Filters) -> int:
        """Return how many maps match."""
        return _count(self._searcher.search(self._queries.matching(terms, filters), limit=1))

    def best(self, terms: Sequence[QueryTerm], filters: Filters, offset: int, limit: int) -> Found:
        """Return a page of the maps that match, the most relevant first.

        The engine ranks by score alone. Hits are taken in blocks, always the same ones whatever
        the page, and inside a block near ties go to the more popular map, then to the newer
        (see ``text_fields.precedence``).
        """
        if limit == 0 or offset >= len(self):
            return Found(self.count(terms, filters), [])
        first = offset // BLOCK * BLOCK
        last = -(-(offset + limit) // BLOCK) * BLOCK
        query = self._queries.of(terms, filters)
        result = self._searcher.search(query, limit=min(last, len(self)) - first, offset=first)
        start = offset - first
        return Found(_count(result), self._ranked(result.hits, start, start + limit))

    def first(self, terms: Sequence[QueryTerm], filters: Filters, order: str, count: int) -> First:
        """Return at least the first ``count`` of the maps that match, as far as keys tell."""
        query, field = self._queries.matching(terms, filters), order_field(order)
        direction = Order.Asc if order == "alpha" else Order.Desc
        result = self._searcher.search(
            query, limit=count + 1, order_by_field=field, order=direction
        )
        hits, tied = result.hits[:count], np.zeros(0, "<u4")
        if len(result.hits) > count and result.hits[count][0] == hits[-1][0]:
            # More maps have the last key than are here: the listing decides among all of them.
            key = int(hits[-1][0])
            hits = [hit for hit in hits if hit[0] != key]
            tied = self._all_slots(self._queries.with_key(query, field, key))
        alike = len({key for key, _ in hits}) < len(hits)
        before = list(map(slot_of, self._precedences(hits)))
        return First(_count(result), before, alike, tied)

    def matching(self, terms: Sequence[QueryTerm], filters: Filters) -> Array:
        """Return the slots of all maps that match, in no order."""
        return self._all_slots(self._queries.matching(terms, filters))

    def _all_slots(self, query: Query) -> Array:
        total = _count(self._searcher.search(query, limit=1))
        if total == 0:
            return np.zeros(0, "<u4")
        # Ordering by the precedence makes the precedences themselves the keys of the hits.
        hits = self._searcher.search(
            query, limit=total, count=False, order_by_field=PRECEDENCE
        ).hits
        return np.fromiter((slot_of(key) for key, _ in hits), "<u4", len(hits))

    def _ranked(self, hits: list[_Hit], start: int, end: int) -> list[int]:
        """Return the slots of some of the hits, which come with falling scores in whole blocks."""
        ties = _near_ties([score for score, _ in hits], end)
        ranked = sorted(zip(ties, self._precedences(hits[: len(ties)]), strict=True), reverse=True)
        return [slot_of(precedence) for _, precedence in ranked[start:end]]

    def _precedences(self, hits: list[_Hit]) -> list[int]:
        addresses = [address for _, address in hits]
        return self._searcher.fast_field_values(PRECEDENCE, addresses)  # type: ignore[return-value]  # every map has one


def _near_ties(scores: Sequence[float], end: int) -> list[int]:
    """Return, for falling scores, a falling number for the near tie that each belongs to.

    Ties end where blocks do. Scores after the tie that holds the last one before ``end`` are left
    out.
    """
    ties: list[int] = []
    tie, least = 0, 0.0
    for i, score in enumerate(scores):
        if score < least or i % BLOCK == 0:
            if i >= end:
                break
            tie, least = -i, score * (1 - NEAR)
        ties.append(tie)
    return ties


def _count(result: tantivy.SearchResult) -> int:
    count: int = result.count  # type: ignore[attr-defined]  # missing from Tantivy's stubs
    return count
