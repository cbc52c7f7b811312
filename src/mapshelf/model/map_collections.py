"""Collections: lists of maps curated by users, with a title and a description.

All types are immutable.
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.model.catalogue import Visibility

COLLECTION_TITLE_LENGTH: Final = 200
COLLECTION_TEXT_LENGTH: Final = 5_000
"""Maximum length of a collection's title and text, in characters."""

MOST_COLLECTIONS: Final = 100
"""Maximum number of collections per user."""

MOST_COLLECTED: Final = 200
"""Maximum number of maps per collection."""

MOST_PINNED: Final = 8
"""Maximum number of collections on the front page."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection in the store; the store's ``collected_maps`` returns its maps.

    Attributes:
        id: public identifier, in the form of a map's; never reused.
        title: title, one line.
        text: description by its owner, may be empty.
        owner: username of its creator.
        visibility: who can see it; never ``REMOVED``.
        created: creation time, in milliseconds since 1970-01-01 UTC.
        changed: when it or its list of maps last changed.
        pinned: when an administrator pinned it to the front page, ``None`` if not pinned.
        maps: number of published maps in it.
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
    """The editable fields of a collection. ``None`` leaves a field unchanged.

    By default, a new collection has no text and is private.
    """

    title: str | None = None
    text: str | None = None
    visibility: Visibility | None = None
