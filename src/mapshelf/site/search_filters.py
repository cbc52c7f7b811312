"""Prepare the search filters: checkboxes next to the search box that narrow a search.

Users need no query syntax for them. Each is a parameter of lists, so the form needs no script.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mapshelf.model import clean_path
from mapshelf.site.messages import say

SEARCH_FILTERS: Final = ("folder", "title_only", "with_notes")
"""The parameters of the search filters."""


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A filter next to the search box.

    Attributes:
        name: the parameter.
        value: the value of the parameter if the filter is on.
        label: the label for users.
        chosen: whether the filter is on.
    """

    name: str
    value: str
    label: str
    chosen: bool


def search_filters(given: Mapping[str, str]) -> list[SearchFilter]:
    """Return the filters of a list with these parameters; the folder filter only in a folder."""
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
    """Return whether the value of a boolean parameter is true."""
    return value.lower() in ("true", "1")
