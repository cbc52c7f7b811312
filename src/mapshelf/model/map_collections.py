"""Collections: lists of maps that people put in order, with a title and a text.

Everything here is an immutable value.
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.model.catalogue import Visibility

COLLECTION_TITLE_LENGTH: Final = 200
COLLECTION_TEXT_LENGTH: Final = 5_000
"""Characters of the title and the text of a collection at most."""

MOST_COLLECTIONS: Final = 100
"""Collections of one user at most."""

MOST_COLLECTED: Final = 200
"""Maps in one collection at most."""

MOST_PINNED: Final = 8
"""Collections on the first page at most."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection as the store keeps it; ``collected_maps`` of the store has its maps.

    Attributes:
        id: public identifier, as that of a map; never given to another collection.
        title: title, one line.
        text: what its owner says about it; may be empty.
        owner: username of who made it.
        visibility: who sees it; never ``REMOVED``.
        created: when it was made, in milliseconds since 1970-01-01 UTC.
        changed: when it or the list of its maps was changed last.
        pinned: when an administrator pinned it to the first page, ``None`` if nobody has.
        maps: how many published maps it has.
    """

    id: str
    title: str
    text: str
    owner: str
    visibility: Visibility
    created: int
    changed: int
    pinned: int | None = None
    maps: int = 0


@dataclass(frozen=True, slots=True)
class CollectionDetails:
    """What people say about a collection. ``None`` leaves a value as it is.

    A new one has no text, and is private, unless that is said.
    """

    title: str | None = None
    text: str | None = None
    visibility: Visibility | None = None
