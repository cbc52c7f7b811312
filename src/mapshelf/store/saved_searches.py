"""Saved searches: the rules and SQL statements that both databases share.

Saving a search first writes the row of its owner. That serializes concurrent saves, in PostgreSQL
too, so the limit per user holds.
"""

from typing import Final

from mapshelf.errors import NotFound, TooManySearches
from mapshelf.model import MOST_SEARCHES, SavedSearch, about_search, is_public_id
from mapshelf.store.publishing import Transaction, free_id, require_user
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import Row

_SEARCHES: Final = (
    "SELECT s.id, s.name, s.parameters, o.name, s.created, s.changed"
    " FROM saved_searches AS s JOIN users AS o ON o.id = s.owner_id"
)


class SavedSearchMethods(SharedMethods):
    """See ``contract.SavedSearches``; each method is one transaction."""

    def find_saved_search(self, public_id: str) -> SavedSearch | None:
        """See ``Store``."""
        if not is_public_id(public_id):  # PostgreSQL rejects NULs
            return None
        rows = self._read(f"{_SEARCHES} WHERE s.id = ?", (public_id,))
        return _of_row(rows[0]) if rows else None

    def saved_searches_of(self, user_id: int) -> list[SavedSearch]:
        """See ``Store``."""
        rows = self._read(
            f"{_SEARCHES} WHERE s.owner_id = ? ORDER BY s.created DESC, s.id", (user_id,)
        )
        return [_of_row(row) for row in rows]

    def save_search(self, owner_id: int, name: str, parameters: str) -> SavedSearch:
        """See ``Store``."""
        with self._adding() as database:
            return _save(database, owner_id, name, parameters)

    def edit_saved_search(
        self, owner_id: int, public_id: str, name: str | None, parameters: str | None
    ) -> SavedSearch:
        """See ``Store``."""
        with self._adding() as database:
            found = _require(database, owner_id, public_id)
            said = (
                found.name if name is None else name,
                found.parameters if parameters is None else parameters,
            )
            if said == (found.name, found.parameters):
                database.audit_entries.drop()
                return found
            database.execute(
                "UPDATE saved_searches SET name = ?, parameters = ?, changed = ? WHERE id = ?",
                (*said, database.now, public_id),
            )
            return _require(database, owner_id, public_id)

    def remove_saved_search(self, owner_id: int, public_id: str) -> None:
        """See ``Store``."""
        with self._adding() as database:
            _require(database, owner_id, public_id)
            database.execute("DELETE FROM saved_searches WHERE id = ?", (public_id,))


def _save(database: Transaction, owner_id: int, name: str, parameters: str) -> SavedSearch:
    require_user(database, owner_id)
    database.execute("UPDATE users SET name = name WHERE id = ?", (owner_id,))  # one at a time
    ((count,),) = database.rows(
        "SELECT count(*) FROM saved_searches WHERE owner_id = ?", (owner_id,)
    )
    if count >= MOST_SEARCHES:
        raise TooManySearches(MOST_SEARCHES)
    public_id = free_id(database, "saved_searches")
    database.execute(
        "INSERT INTO saved_searches (id, owner_id, name, parameters, created, changed)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (public_id, owner_id, name, parameters, database.now, database.now),
    )
    database.audit_entries.about(about_search(public_id))
    return _require(database, owner_id, public_id)


def _require(database: Transaction, owner_id: int, public_id: str) -> SavedSearch:
    rows = (
        database.rows(f"{_SEARCHES} WHERE s.id = ? AND s.owner_id = ?", (public_id, owner_id))
        if is_public_id(public_id)
        else []
    )
    if not rows:
        raise NotFound("there is no such saved search")
    return _of_row(rows[0])


def _of_row(row: Row) -> SavedSearch:
    return SavedSearch(*row)
