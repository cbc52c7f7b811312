"""What lists can be narrowed by: the values of facets with their counts, and what is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mapshelf.model import clean_path, paths_to
from mapshelf.query import MapQuery
from mapshelf.site.addresses import Addresses
from mapshelf.site.choices import Choice
from mapshelf.site.messages import ENGLISH, say
from mapshelf.site.search_filters import is_on
from mapshelf.snapshot.read import Facets, Snapshot
from mapshelf.store.contract import Maps

AT_ONCE: Final = 8  # values of a facet that are shown; the others are folded away

FACETS: Final = (
    *("folder", "category", "tag", "language", "software", "owner", "year", "size"),
    *("with_notes", "with_tasks"),
)
"""Filters with a list of their values.

``GET /facets`` also counts licences. They are left out here: lists have no parameter for them, so
they could not be links.
"""

_SAID: Final = ("size", "with_notes", "with_tasks")
"""Facets whose values are words of ours."""


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one filter with their counts, the frequent first.

    Attributes:
        name: the filter.
        title: the heading.
        first: values that are shown.
        more: values that are folded away.
        above: of a folder that is chosen, the folders it is in and itself, the outermost first.
        everything: the page of all folders, empty if all are shown.
    """

    name: str
    title: str
    first: list[Choice]
    more: list[Choice]
    above: tuple[Choice, ...] = ()
    everything: str = ""


def facets_of(
    query: MapQuery, snapshot: Snapshot, store: Maps, addresses: Addresses
) -> list[Facet]:
    """Return the facets of a list that divide it, or are chosen.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    given = dict(query.given)
    counted = snapshot.facets(query, FACETS)
    folder = clean_path(given.get("folder", ""))
    facets = []
    for name in FACETS:
        # The alternatives to a chosen value are counted without its filter; but in a folder, those
        # in it are offered.
        others = tuple(row for row in query.filters if row[0] != name)
        same = name == "folder" or others == query.filters
        counts = counted if same else snapshot.facets(replace(query, filters=others), (name,))
        above = folder_steps(given, addresses) if name == "folder" else ()
        choices = _choices(name, _values(name, counts, store), given, addresses)
        # A value that all maps have divides nothing.
        if (
            above
            or len(choices) > 1
            or any(one.chosen or one.count < counted.total for one in choices)
        ):
            title = say(f"facet.{name}")
            first, more = choices[:AT_ONCE], choices[AT_ONCE:]
            everything = addresses.folders(folder) if name == "folder" and more else ""
            facets.append(Facet(name, title, first, more, above, everything))
    return _without_repetition(facets)


def _without_repetition(facets: list[Facet]) -> list[Facet]:
    """Leave out the folders if they are the categories, as in a folder with one for each."""
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
    """Return the active filters, each with the address of the list without it."""
    names = {
        facet.name: choice.name
        for facet in facets
        for choice in (*facet.first, *facet.more)
        if choice.chosen
    }
    shown = {**{name: given[name] for name in FACETS if name in given}, **names}
    for name in _SAID:
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
    """Return the folders that the chosen one is in and itself, each with its list."""
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
    """Return what a language is called, or else its code."""
    return ENGLISH.get(f"language.{code}", code)


def _is_on(name: str, given: Mapping[str, str]) -> bool:
    return f"{name}.{given[name].lower()}" in ENGLISH


def _values(name: str, facets: Facets, store: Maps) -> list[tuple[str, str, int]]:
    """Return the values of a facet: the parameter's value, the name, how many maps have it."""
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
    if name in _SAID:
        return [(value, say(f"{name}.{value}"), count) for value, count in named]
    return [(value, value, count) for value, count in named]


def _choices(
    name: str,
    values: list[tuple[str, str, int]],
    given: Mapping[str, str],
    addresses: Addresses,
) -> list[Choice]:
    address, wanted = addresses.narrowed(given, name), given.get(name, "").casefold()
    choices = [
        Choice(label, address(key), count, chosen=wanted == key.casefold())
        for key, label, count in values
    ]
    # The chosen value must be visible, however many are more frequent.
    return sorted(choices, key=lambda choice: not choice.chosen)


def _without(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in given.items() if key != name}
