"""Saved searches: what somebody searches for again and again, kept under a name.

Every method is one transaction. Only their owners change them.
"""

from typing import Protocol

from mapshelf.model import SavedSearch


class SavedSearches(Protocol):
    """Keeps the saved searches of people."""

    def find_saved_search(self, public_id: str) -> SavedSearch | None:
        """Return the saved search with this public id, ``None`` if there is none."""

    def saved_searches_of(self, user_id: int) -> list[SavedSearch]:
        """Return all saved searches of a user, the last saved first."""

    def save_search(self, owner_id: int, name: str, parameters: str) -> SavedSearch:
        """Keep a search.

        Raises:
            NotFound: there is no such user.
            TooManySearches: the user has ``MOST_SEARCHES``.
        """

    def edit_saved_search(
        self, owner_id: int, public_id: str, name: str | None, parameters: str | None
    ) -> SavedSearch:
        """Change a saved search; ``None`` leaves a value as it is.

        Raises:
            NotFound: the user has no such saved search.
        """

    def remove_saved_search(self, owner_id: int, public_id: str) -> None:
        """Delete a saved search.

        Raises:
            NotFound: the user has no such saved search.
        """
