"""Search maps in full text and in any sort order, with the search index and the listing.

Pages by relevance come from the search index only. In any other order, the first pages also come
from the index, and the listing breaks ties between equal search keys. For later pages, all matches
are sorted, and the result is cached for the next page. A search without matches is retried with
corrected spelling.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mapshelf.query import SORT_ORDERS, MapQuery
from mapshelf.search.query_parser import QueryTerm, parse_query_text
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.term_dictionary import TermDictionary
from mapshelf.snapshot.read.listing import Listing
from mapshelf.snapshot.read.spelling import Spelling
from mapshelf.snapshot.read.text_index import TextIndex
from mapshelf.text.word_forms import LONGEST_BEGINNING

MOST_ORDERED_SLOTS: Final = 1 << 23
"""Maximum number of slots cached, over all recent searches not sorted by relevance."""

MOST_ORDERED_SEARCHES: Final = 256
"""Maximum number of such searches cached: searches without matches have no slots to count."""

FIRST_PAGES: Final = 200
"""Pages that end at or before this map count as first pages."""

LIGHT_MATCHES: Final = 40_000
"""A search for one word with up to this many matches takes about a millisecond, so the event loop
may run it. A thread would add a tenth to that, with little benefit to other requests."""

LIGHT_MATCHES_IN_ORDER: Final = 4_000
"""The same for first pages in an order in which many search keys may be equal."""

CORRECTIONS: Final = 1024
"""Maximum number of searches without matches whose correction, or lack of one, is cached."""

_SEARCH_KEYS_DIFFER: Final = {row.name for row in SORT_ORDERS if row.search_keys_differ}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of maps.

    Attributes:
        total: the number of all matches.
        slots: the maps of the page.
        terms: the terms of the search, after any correction.
        corrected: whether the spelling was corrected, because nothing matched.
    """

    total: int
    slots: list[int]
    terms: tuple[QueryTerm, ...] = ()
    corrected: bool = False


class SearchEngine:
    """Searches one snapshot. Thread-safe."""

    def __init__(self, listing: Listing, text: TextIndex, dictionary: TermDictionary) -> None:
        self._listing = listing
        self._text = text
        self._spelling = Spelling(text, dictionary)
        self._ordered: OrderedDict[tuple[object, ...], Array] = OrderedDict()
        self._corrections: OrderedDict[tuple[str, bool], tuple[QueryTerm, ...] | None] = (
            OrderedDict()
        )
        self._lock = threading.Lock()

    def select(self, query: MapQuery, *, correct: bool = True) -> SearchResult:
        """Return the page for ``query``.

        If nothing matches and ``correct`` is set, return the page for the corrected search.
        """
        if not query.text:
            selection = self._listing.select(query)
            return SearchResult(selection.total, selection.slots)
        terms = _terms(query)
        found = self._select(terms, query)
        return self._corrected(terms, query) or found if correct and not found.total else found

    def select_quickly(self, query: MapQuery) -> SearchResult | None:
        """Return the page for ``query`` if that takes about a millisecond, otherwise None."""
        terms = _terms(query)
        if not self._is_light(terms, query):
            return None
        if query.order:
            found = self._select(terms, query)
        else:
            page = self._text.best_nearby(terms, query.filters, query.offset, query.limit)
            if page is None:
                return None
            found = SearchResult(page.total, page.slots, terms)
        return found if found.total else None  # finding a correction may take longer

    def all_matching(self, query: MapQuery) -> Array:
        """Return the slots of all maps that match ``query``, unordered."""
        if not query.text:
            return self._listing.all_matching(query)
        found = self.select(replace(query, order=None, limit=0, offset=0))
        return self._text.matching(found.terms, query.filters)

    def titled(self, query: MapQuery, limit: int) -> list[int]:
        """Return slots of maps whose titles match the words typed so far, best first."""
        return self._text.titled(_terms(query), query.filters, limit)

    def _is_light(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> bool:
        """Return whether the search costs little, unless many matches tie."""
        # Several words together may match nothing, and then need correction.
        if len(terms) != 1 or (query.order and query.offset + query.limit > FIRST_PAGES):
            return False
        (term,) = terms
        # Phrases and exclusions cost more than the number of matches suggests. So do prefixes,
        # because every word that starts with one is looked up.
        if not term.is_single_word:
            return False
        if term.prefix and len(term.words[0]) > LONGEST_BEGINNING:
            return False
        exact = query.order is None or query.order in _SEARCH_KEYS_DIFFER
        light = LIGHT_MATCHES if exact else LIGHT_MATCHES_IN_ORDER
        return 0 < self._text.most_matches(term) <= light

    def _select(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> SearchResult:
        if query.order is None:
            found = self._text.best(terms, query.filters, query.offset, query.limit)
            return SearchResult(found.total, found.slots, terms)
        end = query.offset + query.limit
        if end > FIRST_PAGES:
            slots = self._in_order(terms, query.filters, query.order)
            return SearchResult(len(slots), slots[query.offset : end].tolist(), terms)
        first = self._text.first(terms, query.filters, query.order, max(1, end))
        page = first.before
        if first.tied_keys:
            page = self._listing.rank(query.order, np.array(page, "<u4")).tolist()
        page = [*page, *self._listing.rank(query.order, first.tied).tolist()]
        return SearchResult(first.total, page[query.offset : end], terms)

    def _corrected(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> SearchResult | None:
        """Return the page for the correction of a search without matches, if there is one."""
        with self._lock:
            # Keyed by the text, which takes far less memory than hundreds of terms.
            key = (query.text, query.title_only)
            cached = key in self._corrections
            correction = self._corrections.get(key)
        if cached:
            return replace(self._select(correction, query), corrected=True) if correction else None
        found = self._first_correction(terms, query)
        with self._lock:
            self._corrections[key] = found.terms if found else None
            if len(self._corrections) > CORRECTIONS:
                self._corrections.popitem(last=False)
        return found

    def _first_correction(
        self, terms: tuple[QueryTerm, ...], query: MapQuery
    ) -> SearchResult | None:
        """Return the page for the first correction that matches any map."""
        if query.filters and self._text.count(terms, ()):
            return None  # the search has matches, but the filters exclude them
        for candidate in self._spelling.candidates(terms):
            found = replace(self._select(candidate, query), corrected=True)
            if found.total or (query.filters and self._text.count(candidate, ())):
                return found
        return None

    def _in_order(
        self, terms: tuple[QueryTerm, ...], filters: tuple[tuple[str, int], ...], order: str
    ) -> Array:
        """Return the sorted slots of all matches; recent results are cached for paging."""
        key = (terms, filters, order)
        with self._lock:
            slots = self._ordered.pop(key, None)
        if slots is None:
            slots = self._listing.rank(order, self._text.matching(terms, filters))
        with self._lock:
            self._ordered[key] = slots
            while len(self._ordered) > 1 and self._cache_is_full():
                self._ordered.popitem(last=False)
            return slots

    def _cache_is_full(self) -> bool:
        if len(self._ordered) > MOST_ORDERED_SEARCHES:
            return True
        return sum(map(len, self._ordered.values())) > MOST_ORDERED_SLOTS


def _terms(query: MapQuery) -> tuple[QueryTerm, ...]:
    return parse_query_text(query.text, query.title_only)
