"""Saved searches: named searches that users can repeat.

Every method is one transaction. Only the owner of a saved search can change it.
"""

from typing import Protocol

from mapshelf.model import SavedSearch


class SavedSearches(Protocol):
    """Stores the saved searches of users."""

    def find_saved_search(self, public_id: str) -> SavedSearch | None:
        """Return the saved search with this public id, ``None`` if there is none."""

    def saved_searches_of(self, user_id: int) -> list[SavedSearch]:
        """Return all saved searches of a user, newest first."""

    def save_search(self, owner_id: int, name: str, parameters: str) -> SavedSearch:
        """Save a search.

        Raises:
            NotFound: there is no such user.
            TooManySearches: the user already has ``MOST_SEARCHES``.
        """

    def edit_saved_search(
        self, owner_id: int, public_id: str, name: str | None, parameters: str | None
    ) -> SavedSearch:
        """Change a saved search; ``None`` leaves a value unchanged.

        Raises:
            NotFound: the user has no such saved search.
        """

    def remove_saved_search(self, owner_id: int, public_id: str) -> None:
        """Delete a saved search.

        Raises:
            NotFound: the user has no such saved search.
        """
