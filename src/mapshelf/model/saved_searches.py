"""Saved searches: queries that users store under a name.

All types are immutable.
"""

from dataclasses import dataclass
from typing import Final

SEARCH_NAME_LENGTH: Final = 200
"""Maximum length of the name of a saved search, in characters."""

SEARCH_LENGTH: Final = 8_000
"""Maximum length of its query string, in characters: longer ones do not fit into a request."""

MOST_SEARCHES: Final = 100
"""Maximum number of saved searches per user."""


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search in the store.

    Attributes:
        id: public identifier, in the form of a map's; never reused.
        name: one-line name chosen by its owner.
        parameters: the filter and sort parameters of the list, as a query string.
        owner: username of its creator.
        created: when it was saved, in milliseconds since 1970-01-01 UTC.
        changed: when it last changed.
    """

    id: str
    name: str
    parameters: str
    owner: str
    created: int
    changed: int
