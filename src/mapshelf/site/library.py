"""A list of maps as people browse it: cards, what they divide into, orders, pages.

The parameters are those of ``GET /maps``, so an address of a page can be turned into one of the
API by hand. How many maps a page shows is not the reader's to choose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.query import ORDERS, MapQuery
from mapshelf.search.highlight import Marker
from mapshelf.search.snippets import Branch, best_branches
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, card
from mapshelf.site.messages import say
from mapshelf.snapshot.read import Facets, Record, Snapshot
from mapshelf.store.contract import Maps

PAGE_SIZE: Final = 24
"""Maps on a page: fills two, three, four or six columns."""

BRANCHES: Final = 3
"""Topics shown of each map that a search finds."""

LARGE: Final = 1 << 16
"""Bytes of an encoded outline that takes too long to look into while somebody waits for a page."""

LOOKED_THROUGH: Final = 1000
"""Topics that are looked through of each map."""

AT_ONCE: Final = 8
"""Values of a facet that are shown; the others are folded away."""

FACETS: Final = ("category", "software", "owner")
"""Filters that lists are divided by.

``GET /facets`` counts by licence and year as well. Those are left out here: no parameter of lists
selects by them, and a count among links that leads nowhere is a riddle to whoever clicks on it.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: a value of a facet, an order. ``count`` is -1 where nothing counts."""

    name: str
    address: str
    count: int = -1
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """What a list divides into by one filter, the frequent values first."""

    name: str
    title: str
    first: list[Choice]
    more: list[Choice]


@dataclass(frozen=True, slots=True)
class Library:
    """A page of a list.

    Attributes:
        title: what the list is.
        text: what is searched for.
        total: maps in the list.
        asked: what was searched for in vain, if ``corrected`` is shown instead.
        corrected: see there.
        cards: the maps of this page.
        facets: what the list divides into.
        removals: the filters, each with the address of the list without it.
        orders: the orders, each with its address.
        hidden: parameters that a search in this list keeps.
        address: of this page.
        feed: of the list's feed.
        page: number of this page, from 1.
        pages: how many there are.
        previous: address of the page before, empty if there is none.
        following: address of the page after, likewise.
    """

    title: str
    text: str
    total: int
    corrected: str
    cards: list[Card]
    facets: list[Facet]
    removals: list[Choice]
    orders: list[Choice]
    hidden: dict[str, str]
    address: str
    feed: str
    page: int
    pages: int
    previous: str
    following: str


class Librarian:
    """Makes pages of the library from one snapshot."""

    def __init__(self, snapshot: Snapshot, store: Maps, addresses: Addresses) -> None:
        self._snapshot = snapshot
        self._store = store
        self._addresses = addresses

    def library(self, query: MapQuery) -> Library:
        """Return the page that ``query`` asks for.

        Raises:
            StoreUnavailable: the store cannot be reached.
            StoreDamaged: an outline cannot be read.
        """
        query = replace(query, limit=PAGE_SIZE, offset=query.offset // PAGE_SIZE * PAGE_SIZE)
        given = dict(query.given)
        hits = self._snapshot.search(query, b"")
        facets = self._facets(query, given)
        removals = self._removals(given, facets)
        pages = max(1, -(-hits.total // PAGE_SIZE))
        page = query.offset // PAGE_SIZE + 1
        return Library(
            title=self._title(query, removals),
            text=query.text,
            total=hits.total,
            corrected=hits.corrected,
            cards=[self._card(record, hits.marker) for record in hits.records],
            facets=facets,
            removals=removals,
            orders=self._orders(query, given),
            hidden={name: value for name, value in given.items() if name != "query"},
            address=self._addresses.library(given, query.offset),
            feed=self._addresses.feed(given),
            page=page,
            pages=pages,
            previous=self._addresses.library(given, (min(page, pages + 1) - 2) * PAGE_SIZE)
            if page > 1
            else "",
            following=self._addresses.library(given, page * PAGE_SIZE) if page < pages else "",
        )

    def _card(self, record: Record, marker: Marker) -> Card:
        return card(record, self._addresses, self._branches(record, marker))

    def _branches(self, record: Record, marker: Marker) -> list[Branch]:
        outline = self._store.outline(record.file_id) if len(marker) else None
        if outline is None or len(outline) > LARGE:
            return []
        return best_branches(
            decode_outline(outline), marker, record.title, BRANCHES, LOOKED_THROUGH
        )

    def _facets(self, query: MapQuery, given: Mapping[str, str]) -> list[Facet]:
        found = self._snapshot.facets(query)
        made = []
        for name in FACETS:
            # What else there is beside the value that is chosen is counted without it.
            others = tuple(row for row in query.filters if row[0] != name)
            facets = (
                found if others == query.filters else self._snapshot.facets(_with(query, others))
            )
            choices = self._choices(name, self._values(name, facets), given)
            # A value that all maps have divides nothing.
            if len(choices) > 1 or any(one.chosen or one.count < found.total for one in choices):
                title = say(f"facet.{name}")
                made.append(Facet(name, title, choices[:AT_ONCE], choices[AT_ONCE:]))
        return made

    def _values(self, name: str, facets: Facets) -> list[tuple[str, str, int]]:
        """Return the values of a facet: what asks for each, its name, how many maps have it."""
        if name == "owner":
            return [(owner, owner, count) for owner, count in facets.owner]
        tables = {
            "category": (facets.category, self._store.categories),
            "software": (facets.software, self._store.software),
        }
        counts, rows = tables[name]
        names = {row.id: row.name for row in rows()}
        return [(str(one), names.get(one, str(one)), count) for one, count in counts]

    def _choices(
        self, name: str, values: list[tuple[str, str, int]], given: Mapping[str, str]
    ) -> list[Choice]:
        choices = []
        for key, label, count in values:
            chosen = given.get(name, "").casefold() == key.casefold()
            address = self._addresses.library({**given, name: key})
            choices.append(Choice(label, address, count, chosen))
        # What is chosen must be seen, however many are more frequent.
        return sorted(choices, key=lambda choice: not choice.chosen)

    def _removals(self, given: Mapping[str, str], facets: list[Facet]) -> list[Choice]:
        names = {
            facet.name: choice.name
            for facet in facets
            for choice in (*facet.first, *facet.more)
            if choice.chosen
        }
        shown = {**{name: given[name] for name in FACETS if name in given}, **names}
        if given.get("only_templates", "").lower() in ("1", "true"):
            shown["only_templates"] = say("templates")
        return [
            Choice(label, self._addresses.library(_without(given, name)))
            for name, label in shown.items()
        ]

    def _orders(self, query: MapQuery, given: Mapping[str, str]) -> list[Choice]:
        usual = None if query.text else "date"
        offered: tuple[str | None, ...] = (None,) if query.text else ()
        offered += ("date", *(order for order in ORDERS if order != "date"))
        choices = []
        for order in offered:
            rest = _without(given, "order_by")
            if order is not None and order != usual:
                rest["order_by"] = order
            name = say(f"order.{order or 'relevance'}")
            choices.append(Choice(name, self._addresses.library(rest), chosen=order == query.order))
        return choices

    @staticmethod
    def _title(query: MapQuery, removals: list[Choice]) -> str:
        if query.text:
            return say("maps.for", text=query.text)
        if len(removals) == 1 and len(query.filters) == 1:
            kind = "maps.of" if query.filters[0][0] == "owner" else "maps.in"
            return say(kind, name=removals[0].name)
        return say("maps.all")


def _with(query: MapQuery, filters: tuple[tuple[str, int], ...]) -> MapQuery:
    return replace(query, filters=filters)


def _without(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in given.items() if key != name}
