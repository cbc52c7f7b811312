"""How a search can be narrowed without a syntax: choices beside the box that it is typed into.

Each is a parameter of lists, so a form without a script sends them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mapshelf.model import clean_path
from mapshelf.site.messages import say

SEARCH_FILTERS: Final = ("folder", "title_only", "with_notes")
"""The parameters."""


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A choice that narrows a search.

    Attributes:
        name: the parameter.
        value: its value where the choice is made.
        label: what people read.
        chosen: whether it is made.
    """

    name: str
    value: str
    label: str
    chosen: bool


def search_filters(given: Mapping[str, str]) -> list[SearchFilter]:
    """Return the choices of a list with these parameters: a folder only where one is open."""
    choices = []
    folder = given.get("folder", "")
    if folder:
        name = clean_path(folder).rpartition("/")[2] or folder
        label = say("search.in_folder", name=name)
        choices.append(SearchFilter("folder", folder, label, chosen=True))
    for name in SEARCH_FILTERS[1:]:
        label, chosen = say(f"search.{name}"), is_on(given.get(name, ""))
        choices.append(SearchFilter(name, "true", label, chosen))
    return choices


def is_on(value: str) -> bool:
    """Tell whether a parameter that is true or false is true."""
    return value.lower() in ("true", "1")
