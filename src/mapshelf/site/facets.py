"""Prepare the facets of lists for templates: their values with counts, and the active filters.

The pages of a list have the same facets, so these are cached with their snapshot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from markupsafe import Markup

from mapshelf.lru_cache import LRUCache
from mapshelf.model import clean_path, paths_to
from mapshelf.query import MapQuery
from mapshelf.site.addresses import Addresses
from mapshelf.site.choices import Choice, choice_rows
from mapshelf.site.messages import ENGLISH, say
from mapshelf.site.search_filters import is_on
from mapshelf.snapshot.read import Facets, Snapshot
from mapshelf.store.contract import Maps

AT_ONCE: Final = 8  # number of values of a facet that are shown; the others are folded away

FACETS: Final = (
    *("folder", "category", "tag", "language", "software", "owner", "year", "size"),
    *("with_notes", "with_tasks"),
)
"""The filters that are shown as facets.

``GET /facets`` also counts licences. They are left out here: lists cannot be filtered by licence,
so the values could not be links.
"""

KEYWORD_FILTERS: Final = ("size", "with_notes", "with_tasks")
"""Filters whose values are fixed words such as ``small``, with labels in ``messages``."""

LISTS_IN_MEMORY: Final = 32
"""Number of lists of a snapshot whose facets are cached; they take some tens of kilobytes each."""

LONGEST_CACHED: Final = 200
"""Maximum characters of the parameters of such a list, which are part of a hundred links."""

NO_ROWS: Final = Markup("")
"""The HTML of no values."""


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one filter with their counts, the selected one first.

    The others have the order of ``Snapshot.facets``.

    Attributes:
        name: the filter.
        title: the heading.
        first: values that are shown.
        more: values that are folded away.
        above: in the folder facet, the ancestors of the selected folder and the folder itself, the
            outermost first.
        everything: in the folder facet, the URL of the page of all subfolders; empty if no values
            are folded away.
        first_rows: ``first`` as HTML.
        more_rows: ``more`` as HTML.
    """

    name: str
    title: str
    first: list[Choice]
    more: list[Choice]
    above: tuple[Choice, ...] = ()
    everything: str = ""
    first_rows: Markup = NO_ROWS
    more_rows: Markup = NO_ROWS


class CachedFacets:
    """The facets of lists, with a cache for each snapshot."""

    def __init__(self, addresses: Addresses) -> None:
        """Begin with an empty cache."""
        self._addresses = addresses
        self._known: WeakKeyDictionary[Snapshot, LRUCache[MapQuery, list[Facet]]]
        self._known = WeakKeyDictionary()

    def of(self, query: MapQuery, snapshot: Snapshot, store: Maps) -> list[Facet]:
        """Return the facets of a list that can narrow it, or that have a selected value.

        Raises:
            StoreUnavailable: the store cannot be reached.
        """
        if sum(len(value) for _, value in query.given) > LONGEST_CACHED:
            return _facets_of(query, snapshot, store, self._addresses)
        lists = self._known.setdefault(snapshot, LRUCache(LISTS_IN_MEMORY))
        key = replace(query, offset=0)
        facets = lists.get(key)
        if facets is None:
            facets = _facets_of(query, snapshot, store, self._addresses)
            lists.put(key, facets)
        return facets


def _facets_of(
    query: MapQuery, snapshot: Snapshot, store: Maps, addresses: Addresses
) -> list[Facet]:
    given = dict(query.given)
    counted = snapshot.facets(query, FACETS)
    folder = clean_path(given.get("folder", ""))
    facets = []
    for name in FACETS:
        # Count the alternatives to a selected value without its own filter. Folders are different:
        # inside a folder, its subfolders are offered.
        others = tuple(row for row in query.filters if row[0] != name)
        same = name == "folder" or others == query.filters
        counts = counted if same else snapshot.facets(replace(query, filters=others), (name,))
        above = folder_steps(given, addresses) if name == "folder" else ()
        choices = _choices(name, _values(name, counts, store), given, addresses)
        # A facet whose only value applies to all maps cannot narrow the list.
        if (
            above
            or len(choices) > 1
            or any(one.chosen or one.count < counted.total for one in choices)
        ):
            title = say(f"facet.{name}")
            first, more = choices[:AT_ONCE], choices[AT_ONCE:]
            everything = addresses.folders(folder) if name == "folder" and more else ""
            rows = choice_rows(first), choice_rows(more)
            facets.append(Facet(name, title, first, more, above, everything, *rows))
    return _without_repetition(facets)


def _without_repetition(facets: list[Facet]) -> list[Facet]:
    """Leave out the folder facet if it equals the category facet.

    That happens when each category has a folder of its own.
    """
    counts = {
        facet.name: sorted((one.name, one.count) for one in (*facet.first, *facet.more))
        for facet in facets
        if not facet.above
    }
    same = "folder" in counts and counts["folder"] == counts.get("category")
    return [facet for facet in facets if not (same and facet.name == "folder")]


def removals_of(
    given: Mapping[str, str], facets: list[Facet], addresses: Addresses
) -> list[Choice]:
    """Return the active filters, each with the URL of the list without that filter."""
    names = {
        facet.name: choice.name
        for facet in facets
        for choice in (*facet.first, *facet.more)
        if choice.chosen
    }
    shown = {**{name: given[name] for name in FACETS if name in given}, **names}
    for name in KEYWORD_FILTERS:
        if name in given:
            shown[name] = say(f"{name}.{given[name].lower()}") if _is_on(name, given) else ""
    if is_on(given.get("only_templates", "")):
        shown["only_templates"] = say("templates")
    if is_on(given.get("title_only", "")) and given.get("query"):
        shown["title_only"] = say("search.title_only")
    return [
        Choice(label, addresses.library(_without(given, name)))
        for name, label in shown.items()
        if label
    ]


def folder_steps(given: Mapping[str, str], addresses: Addresses) -> tuple[Choice, ...]:
    """Return the ancestors of the selected folder and the folder itself, each with its list URL."""
    path = clean_path(given.get("folder", ""))
    return tuple(
        Choice(
            step.rpartition("/")[2],
            addresses.library({**given, "folder": step}),
            chosen=step == path,
        )
        for step in paths_to(path)
    )


def language_name(code: str) -> str:
    """Return the English name of a language, or its code if there is no name for it."""
    return ENGLISH.get(f"language.{code}", code)


def _is_on(name: str, given: Mapping[str, str]) -> bool:
    return f"{name}.{given[name].lower()}" in ENGLISH


def _values(name: str, facets: Facets, store: Maps) -> list[tuple[str, str, int]]:
    """Return the values of a facet: for each the parameter value, the name and the map count."""
    tables = {
        "category": (facets.category, store.categories),
        "software": (facets.software, store.software),
    }
    if name in tables:
        counts, rows = tables[name]
        names = {row.id: row.name for row in rows()}
        return [(str(one), names.get(one, str(one)), count) for one, count in counts]
    named = getattr(facets, name)
    if name == "folder":
        return [(path, path.rpartition("/")[2], count) for path, count in named]
    if name == "language":
        return [(code, language_name(code), count) for code, count in named]
    if name in KEYWORD_FILTERS:
        return [(value, say(f"{name}.{value}"), count) for value, count in named]
    return [(value, value, count) for value, count in named]


def _choices(
    name: str,
    values: list[tuple[str, str, int]],
    given: Mapping[str, str],
    addresses: Addresses,
) -> list[Choice]:
    address, wanted = addresses.narrowed(given, name), given.get(name, "").casefold()
    if not wanted:
        return [Choice(label, address(key), count) for key, label, count in values]
    choices = [
        Choice(label, address(key), count, chosen=wanted == key.casefold())
        for key, label, count in values
    ]
    # The selected value comes first, so that it is never folded away.
    return sorted(choices, key=lambda choice: not choice.chosen)


def _without(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in given.items() if key != name}
