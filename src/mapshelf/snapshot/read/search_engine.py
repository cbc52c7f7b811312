"""Selecting maps by a text, in any order: the search index and the listing put together.

By relevance a page comes from the search index alone. In an order of its own, first pages come from
the index too, as far as its coarse keys tell; further pages rank all matches, and what was ranked
is kept for the next page. A search that matches nothing is tried again as it may have been meant.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mapshelf.query import MapQuery
from mapshelf.search.query_parser import QueryTerm, parse_query_text
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.term_dictionary import Lexicon
from mapshelf.snapshot.format.text_fields import DISTINCT_KEYS, LONGEST_BEGINNING
from mapshelf.snapshot.read.listing import Listing
from mapshelf.snapshot.read.spelling import Spelling
from mapshelf.snapshot.read.text_index import TextIndex

ORDERED_SEARCHES: Final = 1 << 23
"""Maps, over all recent searches in an order of their own, whose slots are kept at hand."""

ORDERED_SEARCHES_COUNT: Final = 256
"""Most such searches to keep: those that find nothing have no slots to count."""

FIRST_PAGES: Final = 200
"""Maps up to which a search in an order of its own is cut short."""

LIGHT: Final = 40_000
"""Matches up to which a search for one word takes about a millisecond. Handing it to a thread and
back would take a tenth of that, and let what waits in the loop wait hardly less."""

LIGHT_IN_ORDER: Final = 4_000
"""The same for first pages in an order in which all may be alike as far as keys tell."""

CORRECTIONS: Final = 1024
"""Searches that match nothing whose correction is kept at hand."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A page of maps.

    Attributes:
        total: how many match in all.
        slots: those of the page.
        terms: what was searched for in the end.
        corrected: whether that is not what was asked, because nothing matches it.
    """

    total: int
    slots: list[int]
    terms: tuple[QueryTerm, ...] = ()
    corrected: bool = False


class Searching:
    """The searches of one snapshot; they may run in several threads."""

    def __init__(self, listing: Listing, text: TextIndex, lexicon: Lexicon) -> None:
        self._listing = listing
        self._text = text
        self._spelling = Spelling(text, lexicon)
        self._ordered: OrderedDict[tuple[object, ...], Array] = OrderedDict()
        self._corrections: OrderedDict[str, tuple[QueryTerm, ...] | None] = OrderedDict()
        self._lock = threading.Lock()

    def is_light(self, query: MapQuery) -> bool:
        """Tell whether ``query`` is answered nearly as fast as a list without a text."""
        terms = parse_query_text(query.text)
        # Several words that no map has together may have to be corrected, as what is unknown.
        if len(terms) != 1 or (query.order and query.offset + query.limit > FIRST_PAGES):
            return False
        (term,) = terms
        # Rows of words and what is left out cost more than the number of matches tells, and so do
        # long beginnings: the words that begin so are looked up.
        if len(term.words) > 1 or term.subwords or term.excluded:
            return False
        if term.prefix and len(term.words[0]) > LONGEST_BEGINNING:
            return False
        tells = query.order is None or query.order in DISTINCT_KEYS
        return 0 < self._text.most_matches(term) <= (LIGHT if tells else LIGHT_IN_ORDER)

    def select(self, query: MapQuery, *, correct: bool = True) -> Selected:
        """Return the page that ``query`` asks for, as it may be meant if it is to be corrected."""
        if not query.text:
            selection = self._listing.select(query)
            return Selected(selection.total, selection.slots)
        terms = parse_query_text(query.text)
        found = self._select(terms, query)
        return self._corrected(terms, query) or found if correct and not found.total else found

    def all_matching(self, query: MapQuery) -> Array:
        """Return the slots of all maps that ``query`` is about, in no order."""
        if not query.text:
            return self._listing.all_matching(query)
        found = self.select(replace(query, order=None, limit=0, offset=0))
        return self._text.matching(found.terms, query.filters)

    def titled(self, query: MapQuery, limit: int) -> list[int]:
        """Return slots of maps whose titles hold what has been typed so far, the best first."""
        return self._text.titled(parse_query_text(query.text), query.filters, limit)

    def _select(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> Selected:
        if query.order is None:
            found = self._text.best(terms, query.filters, query.offset, query.limit)
            return Selected(found.total, found.slots, terms)
        end = query.offset + query.limit
        if end > FIRST_PAGES:
            slots = self._in_order(terms, query.filters, query.order)
            return Selected(len(slots), slots[query.offset : end].tolist(), terms)
        first = self._text.first(terms, query.filters, query.order, max(1, end))
        page = first.before
        if first.alike:
            page = self._listing.rank(query.order, np.array(page, "<u4")).tolist()
        page = [*page, *self._listing.rank(query.order, first.tied).tolist()]
        return Selected(first.total, page[query.offset : end], terms)

    def _corrected(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> Selected | None:
        """Return the page for what a search that matches nothing was meant to say, if anything."""
        with self._lock:
            # By its text, which takes far less memory than terms by the hundred.
            known = query.text in self._corrections
            meant = self._corrections.get(query.text)
        if known:
            return replace(self._select(meant, query), corrected=True) if meant else None
        found = self._meant(terms, query)
        with self._lock:
            self._corrections[query.text] = found.terms if found else None
            if len(self._corrections) > CORRECTIONS:
                self._corrections.popitem(last=False)
        return found

    def _meant(self, terms: tuple[QueryTerm, ...], query: MapQuery) -> Selected | None:
        """Return the page for the first correction that any map matches."""
        if query.filters and self._text.count(terms, ()):
            return None  # it matches, and only does not pass the filters
        for candidate in self._spelling.candidates(terms):
            found = replace(self._select(candidate, query), corrected=True)
            if found.total or (query.filters and self._text.count(candidate, ())):
                return found
        return None

    def _in_order(
        self, terms: tuple[QueryTerm, ...], filters: tuple[tuple[str, int], ...], order: str
    ) -> Array:
        """Return the slots of all maps that match, in order; recent ones are kept for paging."""
        key = (terms, filters, order)
        with self._lock:
            slots = self._ordered.pop(key, None)
        if slots is None:
            slots = self._listing.rank(order, self._text.matching(terms, filters))
        with self._lock:
            self._ordered[key] = slots
            while len(self._ordered) > 1 and self._keeps_too_much():
                self._ordered.popitem(last=False)
            return slots

    def _keeps_too_much(self) -> bool:
        if len(self._ordered) > ORDERED_SEARCHES_COUNT:
            return True
        return sum(map(len, self._ordered.values())) > ORDERED_SEARCHES
