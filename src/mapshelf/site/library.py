"""The library page: a list of maps as cards, with facets, orders and pagination.

The parameters are those of ``GET /maps``, except for ``limit``: you can turn the address of a page
into one of the API by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mapshelf.query import ORDERS, MapQuery
from mapshelf.search.snippets import PAGE_BUDGET, SnippetFinder
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, card
from mapshelf.site.messages import say
from mapshelf.snapshot.read import Facets, Snapshot
from mapshelf.store.contract import Maps

PAGE_SIZE: Final = 24  # maps on a page: fills two, three, four or six columns

AT_ONCE: Final = 8  # values of a facet that are shown; the others are folded away

FACETS: Final = ("category", "software", "owner")
"""Filters with a list of their values.

``GET /facets`` also counts licences and years. They are left out here: lists have no parameter for
them, so they could not be links.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet, or an order; ``count`` is -1 where there is no count."""

    name: str
    address: str
    count: int = -1
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one filter with their counts, the frequent first."""

    name: str
    title: str
    first: list[Choice]
    more: list[Choice]


@dataclass(frozen=True, slots=True)
class Library:
    """What the template of the library page is filled with.

    Attributes:
        title: the heading of the list.
        text: the query text.
        total: how many maps the list has.
        corrected: the corrected query text, if ``text`` matches nothing and this is shown instead.
        cards: the maps of this page.
        facets: the filters with their values.
        removals: the active filters, each with the address of the list without it.
        orders: the orders, each with its address.
        hidden: parameters that a search in this list keeps.
        address: the address of this page.
        feed: the address of the list's feed.
        page: the number of this page, from 1.
        pages: how many pages there are.
        previous: the address of the previous page, empty on the first.
        following: the address of the next page, empty on the last.
        last: the address of the last page if this one is beyond it, otherwise empty.
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
    last: str


def library_page(query: MapQuery, snapshot: Snapshot, store: Maps, addresses: Addresses) -> Library:
    """Return the page of the library that ``query`` asks for.

    Raises:
        StoreUnavailable: the store cannot be reached.
        StoreDamaged: an outline cannot be read.
    """
    query = replace(query, limit=PAGE_SIZE, offset=query.offset // PAGE_SIZE * PAGE_SIZE)
    given = dict(query.given)
    hits = snapshot.search(query, b"")
    finder = SnippetFinder(hits.highlighter, PAGE_BUDGET)
    facets = _facets(query, snapshot, store, addresses)
    removals = _removals(given, facets, addresses)
    pages = max(1, -(-hits.total // PAGE_SIZE))
    page = query.offset // PAGE_SIZE + 1
    return Library(
        title=_title(query, removals),
        text=query.text,
        total=hits.total,
        corrected=hits.corrected,
        cards=[
            card(
                record, addresses, finder.find(record.title, partial(store.outline, record.file_id))
            )
            for record in hits.records
        ],
        facets=facets,
        removals=removals,
        orders=_orders(query, addresses),
        hidden={name: value for name, value in given.items() if name != "query"},
        address=addresses.library(given, query.offset),
        feed=addresses.feed(given),
        page=page,
        pages=pages,
        previous=addresses.library(given, (page - 2) * PAGE_SIZE) if 1 < page <= pages else "",
        following=addresses.library(given, page * PAGE_SIZE) if page < pages else "",
        last=addresses.library(given, (pages - 1) * PAGE_SIZE)
        if hits.total and page > pages
        else "",
    )


def _facets(query: MapQuery, snapshot: Snapshot, store: Maps, addresses: Addresses) -> list[Facet]:
    given = dict(query.given)
    counted = snapshot.facets(query)
    facets = []
    for name in FACETS:
        # The alternatives to a chosen value are counted without its filter.
        others = tuple(row for row in query.filters if row[0] != name)
        counts = counted if others == query.filters else snapshot.facets(_with(query, others))
        choices = _choices(name, _values(name, counts, store), given, addresses)
        # A value that all maps have divides nothing.
        if len(choices) > 1 or any(one.chosen or one.count < counted.total for one in choices):
            title = say(f"facet.{name}")
            facets.append(Facet(name, title, choices[:AT_ONCE], choices[AT_ONCE:]))
    return facets


def _values(name: str, facets: Facets, store: Maps) -> list[tuple[str, str, int]]:
    """Return the values of a facet: the parameter's value, the name, how many maps have it."""
    if name == "owner":
        return [(owner, owner, count) for owner, count in facets.owner]
    tables = {
        "category": (facets.category, store.categories),
        "software": (facets.software, store.software),
    }
    counts, rows = tables[name]
    names = {row.id: row.name for row in rows()}
    return [(str(one), names.get(one, str(one)), count) for one, count in counts]


def _choices(
    name: str,
    values: list[tuple[str, str, int]],
    given: Mapping[str, str],
    addresses: Addresses,
) -> list[Choice]:
    choices = []
    for key, label, count in values:
        chosen = given.get(name, "").casefold() == key.casefold()
        choices.append(Choice(label, addresses.library({**given, name: key}), count, chosen))
    # The chosen value must be visible, however many are more frequent.
    return sorted(choices, key=lambda choice: not choice.chosen)


def _removals(given: Mapping[str, str], facets: list[Facet], addresses: Addresses) -> list[Choice]:
    """Return the active filters, each with the address of the list without it."""
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
        Choice(label, addresses.library(_without(given, name))) for name, label in shown.items()
    ]


def _orders(query: MapQuery, addresses: Addresses) -> list[Choice]:
    default = None if query.text else "date"
    offered: tuple[str | None, ...] = (None,) if query.text else ()
    offered += ("date", *(order for order in ORDERS if order != "date"))
    choices = []
    for order in offered:
        rest = _without(dict(query.given), "order_by")
        if order is not None and order != default:
            rest["order_by"] = order
        name = say(f"order.{order or 'relevance'}")
        choices.append(Choice(name, addresses.library(rest), chosen=order == query.order))
    return choices


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
