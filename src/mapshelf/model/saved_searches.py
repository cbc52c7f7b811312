"""Saved searches: what somebody searches for again and again, kept under a name.

Everything here is an immutable value.
"""

from dataclasses import dataclass
from typing import Final

SEARCH_NAME_LENGTH: Final = 200
"""Characters of the name of a saved search at most."""

SEARCH_LENGTH: Final = 8_000
"""Characters of its parameters as a query string at most: no longer one could be asked for."""

MOST_SEARCHES: Final = 100
"""Saved searches of one user at most."""


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search as the store keeps it.

    Attributes:
        id: public identifier, as that of a map; never given to another saved search.
        name: what its owner calls it, one line.
        parameters: those of a list that select and order maps, as a query string.
        owner: username of who saved it.
        created: when it was saved, in milliseconds since 1970-01-01 UTC.
        changed: when it was changed last.
    """

    id: str
    name: str
    parameters: str
    owner: str
    created: int
    changed: int
