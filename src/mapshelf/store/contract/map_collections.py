"""Collections: lists of maps that people put in order.

Every method is one transaction. No collection is part of the change feed, and none changes a map.
"""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Collection, CollectionDetails, Map


class ReadCollections(Protocol):
    """Finds collections and their maps."""

    def find_collection(self, public_id: str) -> Collection | None:
        """Return the collection with this public id, whoever sees it; ``None`` if there is none."""

    def collected_maps(self, public_id: str) -> list[Map]:
        """Return the maps of a collection in their order, whoever sees them.

        Removed maps are left out, and at their place again when the removal is undone.
        """

    def collections(
        self, owner: str | None, reader_id: int | None, offset: int, limit: int
    ) -> tuple[list[Collection], int]:
        """Return some of the published collections, the last changed first, and how many there are.

        Args:
            owner: only those of this user, in any case; ``None`` for those of everybody.
            reader_id: id of a user whose own are among them, whoever sees them.
            offset: how many to leave out at the beginning.
            limit: how many at most.
        """

    def collections_of(self, user_id: int) -> list[Collection]:
        """Return all collections of a user, the last changed first."""

    def pinned_collections(self) -> list[Collection]:
        """Return the published ones of those that are pinned, the first pinned first."""

    def maps_with_ids(self, public_ids: Sequence[str]) -> list[Map]:
        """Return the maps with these public ids in this order, without those that are not there.

        Whoever sees them; removed ones are not there, and a map that is given twice comes once.
        """


class CollectionEditing(Protocol):
    """Changes collections. The list of maps is given by their ``file_id``."""

    def add_collection(
        self, owner_id: int, details: CollectionDetails, file_ids: Sequence[int]
    ) -> Collection:
        """Make a collection of these maps.

        Raises:
            NotFound: there is no such user, or no such map.
            Conflict: ``details`` have no title, or the visibility is that of removed maps.
            TooManyCollections: the user has ``MOST_COLLECTIONS``, or the maps are too many.
        """

    def edit_collection(self, public_id: str, details: CollectionDetails) -> Collection:
        """Change what is said of a collection.

        Raises:
            NotFound: there is no such collection.
            Conflict: the visibility is that of removed maps.
        """

    def collect(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Put maps at the end of a collection. Those that it has stay where they are.

        Raises:
            NotFound: there is no such collection, or no such map.
            TooManyCollections: it would have more than ``MOST_COLLECTED``.
        """

    def arrange(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Give a collection exactly these maps, in this order. Of a map given twice, one counts.

        Raises:
            NotFound: as ``collect``.
            TooManyCollections: as ``collect``.
        """

    def move_collected(self, public_id: str, file_id: int, places: int) -> Collection:
        """Move a map of a collection by so many places, back if negative, as far as there are any.

        Places are counted among the maps that are not removed. If the collection does not have the
        map, nothing happens.

        Raises:
            NotFound: there is no such collection.
        """

    def take_out(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """Take maps out of a collection, those that it has.

        Raises:
            NotFound: there is no such collection.
        """

    def remove_collection(self, public_id: str) -> None:
        """Delete a collection; nothing happens to its maps.

        Raises:
            NotFound: there is no such collection.
        """

    def pin_collection(self, public_id: str, *, pinned: bool) -> Collection:
        """Pin a collection to the first page, or take it from there.

        Raises:
            NotFound: there is no such collection.
            TooManyCollections: ``MOST_PINNED`` are pinned.
        """


class Collections(ReadCollections, CollectionEditing, Protocol):
    """All about collections."""
