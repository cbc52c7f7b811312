"""Render the library page: a list of maps as cards, with facets, sort orders and pagination.

It accepts the parameters of ``GET /maps`` except ``limit``, so users can turn the URL of a page
into an API request by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mapshelf.api.search import topics_of_open
from mapshelf.model import clean_path
from mapshelf.query import ORDERS, PARAMETERS, MapQuery
from mapshelf.search.snippets import PAGE_BUDGET, Snippet, SnippetFinder, marked_line
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, add_places, card
from mapshelf.site.choices import Choice
from mapshelf.site.facets import CachedFacets, Facet, removals_of
from mapshelf.site.list_navigation import CARDS, TABLE, VIEW, letters_of, numbered, views_of
from mapshelf.site.messages import say
from mapshelf.site.search_filters import SEARCH_FILTERS, SearchFilter, search_filters
from mapshelf.site.twins import EACH, folded
from mapshelf.snapshot.read import Hits, Record, Snapshot
from mapshelf.store.contract import Maps

PAGE_SIZE: Final = 24  # maps on a page: fills two, three, four or six columns


@dataclass(frozen=True, slots=True)
class Library:
    """The variables of the template of the library page.

    Attributes:
        title: the heading of the list.
        text: the query text.
        typed: the query text including filters written in it.
        total: number of maps in the list.
        corrected: the corrected query text, if ``text`` matches nothing and its results replace
            those of ``text``.
        cards: the maps of this page.
        is_folded: whether a card has twins folded into it.
        each: whether each twin has its own card.
        other: URL of this page with twins folded if they are not, and vice versa.
        facets: the filters with their values.
        removals: the active filters, each with the URL of the list without it.
        orders: the sort orders, each with its URL.
        in_folder: whether the list is limited to a folder.
        anywhere: URL of the list without the folder filter.
        hidden: parameters preserved by a search in this list.
        narrowing: the search filters next to the search box.
        address: URL of this page.
        feed: URL of the list's feed.
        save: URL for saving this search, empty if the list is not a search.
        page: the number of this page, from 1.
        pages: number of pages.
        previous: URL of the previous page, empty on the first.
        following: URL of the next page, empty on the last.
        numbers: links to pages by number; one without a URL marks a gap.
        letters: first letters, each with the URL of the page where it begins; only in order A to Z.
        views: cards and table, each with its URL.
        is_table: whether the list is a table.
        canonical: URL of this page as cards.
        last: URL of the last page if this one is beyond it, otherwise empty.
        unfinished: what searches for the topics that are still missing, ``None`` if none are.
    """

    title: str
    text: str
    typed: str
    total: int
    corrected: str
    cards: list[Card]
    is_folded: bool
    each: bool
    other: str
    facets: list[Facet]
    removals: list[Choice]
    orders: list[Choice]
    in_folder: bool
    anywhere: str
    hidden: dict[str, str]
    narrowing: list[SearchFilter]
    address: str
    feed: str
    save: str
    page: int
    pages: int
    previous: str
    following: str
    numbers: list[Choice]
    letters: list[Choice]
    views: list[Choice]
    is_table: bool
    canonical: str
    last: str
    unfinished: SnippetFinder | None


class LibraryPages:
    """Makes library pages, with a cache of their facets."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._facets = CachedFacets(addresses)

    def page(
        self,
        query: MapQuery,
        snapshot: Snapshot,
        store: Maps,
        view: str = CARDS,
        finder: SnippetFinder | None = None,
    ) -> Library:
        """Return the page for ``query``, in one of ``VIEWS``.

        Args:
            query: the query.
            snapshot: the snapshot to answer from.
            store: where outlines are.
            view: how maps are shown.
            finder: continues a page that is ``unfinished``.

        Raises:
            StoreUnavailable: the store cannot be reached.
            StoreDamaged: an outline cannot be read.
        """
        addresses = self._addresses
        query = replace(query, limit=PAGE_SIZE, offset=query.offset // PAGE_SIZE * PAGE_SIZE)
        plain = dict(query.given)
        if view != CARDS:  # preserved by all links on the page
            query = replace(query, given=(*query.given, (VIEW, view)))
        given = dict(query.given)
        hits = snapshot.search(query, b"")
        if finder is None:
            finder = SnippetFinder(hits.highlighter, PAGE_BUDGET, store.takeovers())
        else:
            finder.resume()
        facets = self._facets.of(query, snapshot, store)
        removals = removals_of(given, facets, addresses)
        read = partial(_snippets, finder, store)
        snippets = topics_of_open(store, hits.records, read, finder.takeovers)
        cards = _cards(hits, snippets, addresses)
        if EACH not in query.given and view != TABLE:
            cards = folded(cards, hits.slots, snapshot)
        add_places(cards, clean_path(given.get("folder", "")))
        pages = max(1, -(-hits.total // PAGE_SIZE))
        page = query.offset // PAGE_SIZE + 1
        return Library(
            title=_title(query, removals),
            text=query.text,
            typed=given.get("query", ""),
            total=hits.total,
            corrected=hits.corrected,
            cards=cards,
            is_folded=any(one.versions for one in cards),
            each=EACH in query.given,
            other=addresses.library(_toggled(given), query.offset),
            facets=facets,
            removals=removals,
            orders=_orders(query, addresses),
            in_folder="folder" in given,
            anywhere=addresses.library(_without(given, "folder")),
            hidden={
                name: value
                for name, value in given.items()
                if name not in ("query", *SEARCH_FILTERS)
            },
            narrowing=search_filters(given),
            address=addresses.library(given, query.offset),
            feed=addresses.feed(plain),
            save=addresses.people.save_search(_saveable(plain)) if _saveable(plain) else "",
            page=page,
            pages=pages,
            previous=addresses.library(given, (page - 2) * PAGE_SIZE) if 1 < page <= pages else "",
            following=addresses.library(given, page * PAGE_SIZE) if page < pages else "",
            numbers=numbered(
                page, pages, lambda one: addresses.library(given, (one - 1) * PAGE_SIZE)
            ),
            letters=letters_of(query, PAGE_SIZE, snapshot, addresses),
            views=views_of(view, plain, query.offset, addresses),
            is_table=view == TABLE,
            canonical=addresses.library(plain, query.offset),
            last=addresses.library(given, (pages - 1) * PAGE_SIZE)
            if hits.total and page > pages
            else "",
            unfinished=finder if finder.is_interrupted else None,
        )


def _cards(hits: Hits, snippets: list[list[Snippet]], addresses: Addresses) -> list[Card]:
    """Return the cards of all maps of a page, numbered."""
    highlighter = hits.highlighter
    cards = []
    for number, (record, some) in enumerate(zip(hits.records, snippets, strict=True), 1):
        details = record.details
        marked = marked_line(details.source, highlighter.within(details.language))
        one = card(record, addresses, some, marked)
        one.number = number
        cards.append(one)
    return cards


def _snippets(finder: SnippetFinder, store: Maps, record: Record) -> list[Snippet]:
    load = partial(store.outline, record.file_id)
    return finder.find(record.file_id, record.title, record.details.language, load)


def _saveable(given: Mapping[str, str]) -> dict[str, str]:
    """Return the list parameters that a saved search preserves."""
    return {name: value for name, value in given.items() if name in PARAMETERS}


def _toggled(given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the same list with folding of twins toggled."""
    name, value = EACH
    return _without(given, name) if name in given else {**given, name: value}


def _orders(query: MapQuery, addresses: Addresses) -> list[Choice]:
    default = None if query.text else "date"
    offered: tuple[str | None, ...] = (None,) if query.text else ()
    offered += ("date", "edited", *(one for one in ORDERS if one not in ("date", "edited")))
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
    return say("maps.some" if removals else "maps.all")


def _without(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in given.items() if key != name}
