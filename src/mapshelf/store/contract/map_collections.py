"""Collections: ordered lists of maps that users curate.

Every method is one transaction. Collections are not part of the change feed and never change maps.
"""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Collection, CollectionDetails, Map


class ReadCollections(Protocol):
    """Finds collections and their maps."""

    def find_collection(self, public_id: str) -> Collection | None:
        """Return the collection with this public id, of any visibility, or ``None``."""

    def collected_maps(self, public_id: str) -> list[Map]:
        """Return the maps of a collection in order, of any visibility.

        Removed maps are left out; they return to their position when the removal is undone.
        """

    def collections(
        self, owner: str | None, reader_id: int | None, offset: int, limit: int
    ) -> tuple[list[Collection], int]:
        """Return a page of published collections, last changed first, and the total.

        Args:
            owner: return only collections of this user, ignoring case; ``None`` for all users.
            reader_id: id of a user whose own collections are included, whatever their visibility.
            offset: number of collections to skip.
            limit: maximum number of collections.
        """

    def collections_of(self, user_id: int) -> list[Collection]:
        """Return all collections of a user, the last changed first."""

    def pinned_collections(self) -> list[Collection]:
        """Return the pinned collections that are published, in the order they were pinned."""

    def maps_with_ids(self, public_ids: Sequence[str]) -> list[Map]:
        """Return the maps with these public ids in this order, leaving out missing ones.

        Includes maps of any visibility but no removed ones. Duplicate ids count once.
        """


class CollectionEditing(Protocol):
    """Changes collections. Maps are given by ``file_id``."""

    def add_collection(
        self, owner_id: int, details: CollectionDetails, file_ids: Sequence[int]
    ) -> Collection:
        """Create a collection of these maps.

        Raises:
            NotFound: there is no such user, or no such map.
            Conflict: ``details`` have no title, or the visibility is that of removed maps.
            TooManyCollections: the user has ``MOST_COLLECTIONS``, or the maps are too many.
        """

    def edit_collection(self, public_id: str, details: CollectionDetails) -> Collection:
        """Change the details of a collection.

        Raises:
            NotFound: there is no such collection.
            Conflict: the visibility is that of removed maps.
        """

    def collect(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Append maps to a collection. Maps already in it keep their position.

        Raises:
            NotFound: there is no such collection, or no such map.
            TooManyCollections: it would have more than ``MOST_COLLECTED``.
        """

    def arrange(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Replace the maps of a collection with these, in this order. Duplicates count once.

        Raises:
            NotFound: as ``collect``.
            TooManyCollections: as ``collect``.
        """

    def move_collected(self, public_id: str, file_id: int, places: int) -> Collection:
        """Move a map within a collection by ``places``, towards the front if negative.

        The move stops at either end. Removed maps are not counted. If the map is not in the
        collection, nothing happens.

        Raises:
            NotFound: there is no such collection.
        """

    def take_out(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Remove maps from a collection, ignoring maps that are not in it.

        Raises:
            NotFound: there is no such collection.
        """

    def remove_collection(self, public_id: str) -> None:
        """Delete a collection but not its maps.

        Raises:
            NotFound: there is no such collection.
        """

    def pin_collection(self, public_id: str, *, pinned: bool) -> Collection:
        """Pin a collection to the first page, or unpin it.

        Raises:
            NotFound: there is no such collection.
            TooManyCollections: ``MOST_PINNED`` are already pinned.
        """


class Collections(ReadCollections, CollectionEditing, Protocol):
    """All collection protocols."""
