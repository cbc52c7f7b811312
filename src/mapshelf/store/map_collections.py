"""Collections of maps: the rules and SQL statements that both databases share.

Changing the maps of a collection first writes the row of the collection; creating one first writes
the row of its owner, and pinning one that of ``system``. That serializes concurrent changes, in
PostgreSQL too, so all limits hold.
Then its maps are locked, so that none is deleted meanwhile.
"""

from collections.abc import Sequence
from typing import Final

from mapshelf.errors import CollectionHidden, Conflict, NotFound, TooManyCollections
from mapshelf.model import (
    MOST_COLLECTED,
    MOST_COLLECTIONS,
    MOST_PINNED,
    SYSTEM_USER,
    Collection,
    CollectionDetails,
    Map,
    Visibility,
    about_collection,
    is_public_id,
    name_key,
    user_keys,
)
from mapshelf.store.columns import FROM_MAPS, MAP, map_of_row
from mapshelf.store.publishing import Transaction, free_id, require_user
from mapshelf.store.publishing_queries import Read
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import Row

COLLECTION: Final = (
    "c.id, c.title, c.text, o.name, c.visibility, c.created, c.changed, c.pinned,"
    " (SELECT count(*) FROM collected_maps AS l JOIN maps AS p ON p.file_id = l.file_id"
    " WHERE l.collection_id = c.id AND p.visibility = 'published')"
)
FROM_COLLECTIONS: Final = "collections AS c JOIN users AS o ON o.id = c.owner_id"
"""The columns of a collection, and the tables they come from."""

_IS_PUBLISHED: Final = "coalesce(visibility, '') = 'published'"
"""A condition for which SQLite does not look at all published ones."""

LISTED: Final = (
    "SELECT id, changed FROM collections WHERE visibility = 'published' UNION ALL"
    " SELECT id, changed FROM collections WHERE owner_id = ? AND visibility <> 'published'"
)
"""The collections that a reader may see."""

OF_OWNER: Final = (
    "SELECT id, changed FROM collections WHERE owner_id IN"
    f" (SELECT id FROM users WHERE name_key IN ({{}})) AND ({_IS_PUBLISHED} OR owner_id = ?)"
)
"""Those of an owner."""

_IDS_AT_ONCE: Final = 500

_KEEP_PRIVATE: Final = (
    "UPDATE collection_decisions SET visibility = 'private' WHERE collection_id = ?"
    " AND kind = 'hide' AND visibility <> 'private' RETURNING id"
)
"""Lets a hidden collection stay private when that is undone."""

_ONE_AT_A_TIME: Final = "UPDATE users SET name = name WHERE name_key = ?"


class CollectionMethods(SharedMethods):
    """See ``contract.Collections``; each method is one transaction."""

    def find_collection(self, public_id: str) -> Collection | None:
        """See ``Store``."""
        if not is_public_id(public_id):  # PostgreSQL rejects NULs
            return None
        return _find(self._read, public_id)

    def collected_maps(self, public_id: str) -> list[Map]:
        """See ``Store``."""
        if not is_public_id(public_id):
            return []
        rows = self._read(
            f"SELECT {MAP} FROM {FROM_MAPS} JOIN collected_maps AS l ON l.file_id = m.file_id"
            " WHERE l.collection_id = ? AND m.visibility <> 'removed'"
            " ORDER BY l.position, l.file_id",
            (public_id,),
        )
        return [map_of_row(row) for row in rows]

    def collections(
        self, owner: str | None, reader_id: int | None, offset: int, limit: int
    ) -> tuple[list[Collection], int]:
        """See ``Store``."""
        # Indexes have all that is needed to choose; the rows have long texts.
        chosen = LISTED
        parameters: Row = (reader_id or 0,)
        if owner is not None:
            keys = user_keys(owner)
            chosen, parameters = OF_OWNER.format(_marks(len(keys))), (*keys, reader_id or 0)
        ((total,),) = self._read(f"SELECT count(*) FROM ({chosen}) AS chosen", parameters)
        if not limit or offset >= total:
            return [], int(total)
        rows = self._read(
            f"SELECT {COLLECTION} FROM {FROM_COLLECTIONS} WHERE c.id IN (SELECT id FROM ({chosen})"
            " AS chosen ORDER BY changed DESC, id LIMIT ? OFFSET ?) ORDER BY c.changed DESC, c.id",
            (*parameters, limit, offset),
        )
        return [collection_of_row(row) for row in rows], int(total)

    def collections_of(self, user_id: int) -> list[Collection]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {COLLECTION} FROM {FROM_COLLECTIONS} WHERE c.owner_id = ?"
            " ORDER BY c.changed DESC, c.id",
            (user_id,),
        )
        return [collection_of_row(row) for row in rows]

    def pinned_collections(self) -> list[Collection]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {COLLECTION} FROM {FROM_COLLECTIONS} WHERE c.id IN"
            f" (SELECT id FROM collections WHERE pinned IS NOT NULL AND {_IS_PUBLISHED})"
            " ORDER BY c.pinned, c.id",
            (),
        )
        return [collection_of_row(row) for row in rows]

    def maps_with_ids(self, public_ids: Sequence[str]) -> list[Map]:
        """See ``Store``."""
        asked = [one for one in dict.fromkeys(public_ids) if is_public_id(one)]
        found: dict[str, Map] = {}
        for start in range(0, len(asked), _IDS_AT_ONCE):
            some = asked[start : start + _IDS_AT_ONCE]
            rows = self._read(
                f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.id IN ({_marks(len(some))})"
                " AND m.visibility <> 'removed'",
                tuple(some),
            )
            found |= {one.id: one for one in map(map_of_row, rows)}
        return [found[one] for one in asked if one in found]

    def add_collection(
        self, owner_id: int, details: CollectionDetails, file_ids: Sequence[int]
    ) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _add(database, owner_id, details, file_ids)

    def edit_collection(self, public_id: str, details: CollectionDetails) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _edit(database, public_id, details)

    def collect(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _collect(database, public_id, file_ids)

    def arrange(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            lock_collection(database, public_id)
            return _changed(database, public_id, list(dict.fromkeys(file_ids)))

    def move_collected(self, public_id: str, file_id: int, places: int) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _move(database, public_id, file_id, places)

    def take_out(self, public_id: str, file_ids: Sequence[int]) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            lock_collection(database, public_id)
            gone = set(file_ids)
            kept = [one for one in _file_ids(database, public_id) if one not in gone]
            return _changed(database, public_id, kept)

    def remove_collection(self, public_id: str) -> None:
        """See ``Store``."""
        with self._adding() as database:
            lock_collection(database, public_id)
            database.lock_maps(_file_ids(database, public_id))
            database.execute("DELETE FROM collections WHERE id = ?", (public_id,))

    def pin_collection(self, public_id: str, *, pinned: bool) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _pin(database, public_id, pinned=pinned)


def _add(
    database: Transaction, owner_id: int, details: CollectionDetails, file_ids: Sequence[int]
) -> Collection:
    require_user(database, owner_id)
    database.execute("UPDATE users SET name = name WHERE id = ?", (owner_id,))  # one at a time
    ((count,),) = database.rows("SELECT count(*) FROM collections WHERE owner_id = ?", (owner_id,))
    if count >= MOST_COLLECTIONS:
        raise TooManyCollections("own", MOST_COLLECTIONS)
    if details.title is None:
        raise Conflict("a new collection needs a title")
    visibility = details.visibility or Visibility.PRIVATE
    _refuse_removed(visibility)
    public_id = free_id(database, "collections")
    said = (details.title, details.text or "", visibility.value)
    database.execute(
        "INSERT INTO collections (id, owner_id, title, text, visibility, created, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (public_id, owner_id, *said, database.now, database.now),
    )
    database.audit_entries.about(about_collection(public_id))
    return _written(database, public_id, list(dict.fromkeys(file_ids)))


def _edit(database: Transaction, public_id: str, details: CollectionDetails) -> Collection:
    found = lock_collection(database, public_id)
    visibility = details.visibility or found.visibility
    _refuse_removed(visibility)
    stays_private = False
    if details.visibility is not None and is_hidden(database.rows, public_id):
        if visibility is not found.visibility:
            raise CollectionHidden("administrators have hidden this collection")
        stays_private = bool(database.rows(_KEEP_PRIVATE, (public_id,)))
    said = (
        found.title if details.title is None else details.title,
        found.text if details.text is None else details.text,
        visibility.value,
    )
    if said == (found.title, found.text, found.visibility.value):
        if not stays_private:
            database.audit_entries.drop()
        return found
    database.execute(
        "UPDATE collections SET title = ?, text = ?, visibility = ?, changed = ? WHERE id = ?",
        (*said, database.now, public_id),
    )
    return require_collection(database, public_id)


def _collect(database: Transaction, public_id: str, file_ids: Sequence[int]) -> Collection:
    found = lock_collection(database, public_id)
    present = _file_ids(database, public_id)
    new = [one for one in dict.fromkeys(file_ids) if one not in set(present)]
    if not new:
        database.audit_entries.drop()
        return found
    return _written(database, public_id, [*present, *new])


def _move(database: Transaction, public_id: str, file_id: int, places: int) -> Collection:
    found = lock_collection(database, public_id)
    present = _file_ids(database, public_id)
    there = {
        row[0]
        for row in database.rows(
            "SELECT l.file_id FROM collected_maps AS l JOIN maps AS m ON m.file_id = l.file_id"
            " WHERE l.collection_id = ? AND m.visibility <> 'removed'",
            (public_id,),
        )
    }
    # Removed maps keep their places: only the others change theirs.
    slots = [place for place, one in enumerate(present) if one in there]
    seen = [present[place] for place in slots]
    if file_id not in seen:
        database.audit_entries.drop()
        return found
    place = max(0, min(len(seen) - 1, seen.index(file_id) + places))
    seen.remove(file_id)
    seen.insert(place, file_id)
    for slot, one in zip(slots, seen, strict=True):
        present[slot] = one
    return _changed(database, public_id, present)


def _pin(database: Transaction, public_id: str, *, pinned: bool) -> Collection:
    found = lock_collection(database, public_id)
    if (found.pinned is not None) is pinned:
        database.audit_entries.drop()
        return found
    if pinned:
        database.execute(_ONE_AT_A_TIME, (name_key(SYSTEM_USER),))
        ((count,),) = database.rows("SELECT count(*) FROM collections WHERE pinned IS NOT NULL")
        if count >= MOST_PINNED:
            raise TooManyCollections("pinned", MOST_PINNED)
    at = database.now if pinned else None
    database.execute("UPDATE collections SET pinned = ? WHERE id = ?", (at, public_id))
    return require_collection(database, public_id)


def _changed(database: Transaction, public_id: str, file_ids: list[int]) -> Collection:
    """Set the maps of a collection whose row is locked, if they differ; return it."""
    if file_ids == _file_ids(database, public_id):
        database.audit_entries.drop()
        return require_collection(database, public_id)
    return _written(database, public_id, file_ids)


def _written(database: Transaction, public_id: str, file_ids: list[int]) -> Collection:
    if len(file_ids) > MOST_COLLECTED:
        raise TooManyCollections("maps", MOST_COLLECTED)
    # Also those that it had: the deletion of a map takes their rows along, too.
    had = set(_file_ids(database, public_id))
    there = database.lock_maps(had.union(file_ids))
    if not there.union(had).issuperset(file_ids):
        raise NotFound("there is no such map")
    file_ids = [one for one in file_ids if one in there]  # some were deleted a moment ago
    database.execute("DELETE FROM collected_maps WHERE collection_id = ?", (public_id,))
    if file_ids:
        rows = ", ".join("(?, ?, ?)" for _ in file_ids)
        database.execute(
            f"INSERT INTO collected_maps (collection_id, file_id, position) VALUES {rows}",
            tuple(
                value
                for place, file_id in enumerate(file_ids)
                for value in (public_id, file_id, place)
            ),
        )
    database.execute("UPDATE collections SET changed = ? WHERE id = ?", (database.now, public_id))
    return require_collection(database, public_id)


def lock_collection(database: Transaction, public_id: str) -> Collection:
    """Lock a collection until the transaction ends, and return it."""
    if is_public_id(public_id):
        database.execute("UPDATE collections SET id = id WHERE id = ?", (public_id,))
    return require_collection(database, public_id)


def require_collection(database: Transaction, public_id: str) -> Collection:
    """Return the collection with this public id.

    Raises:
        NotFound: there is no such collection.
    """
    found = _find(database.rows, public_id) if is_public_id(public_id) else None
    if found is None:
        raise NotFound("there is no such collection")
    return found


def _find(read: Read, public_id: str) -> Collection | None:
    rows = read(f"SELECT {COLLECTION} FROM {FROM_COLLECTIONS} WHERE c.id = ?", (public_id,))
    return collection_of_row(rows[0]) if rows else None


def _file_ids(database: Transaction, public_id: str) -> list[int]:
    rows = database.rows(
        "SELECT file_id FROM collected_maps WHERE collection_id = ? ORDER BY position, file_id",
        (public_id,),
    )
    return [row[0] for row in rows]


def is_hidden(read: Read, public_id: str) -> bool:
    """Return whether administrators have hidden a collection."""
    return bool(
        read(
            "SELECT 1 FROM collection_decisions WHERE kind = 'hide' AND collection_id = ?",
            (public_id,),
        )
    )


def _refuse_removed(visibility: Visibility) -> None:
    if visibility is Visibility.REMOVED:
        raise Conflict("a collection is not removed by its visibility")


def _marks(count: int) -> str:
    return ", ".join("?" for _ in range(count))


def collection_of_row(row: Row) -> Collection:
    """Return the collection in a row with the columns of ``COLLECTION``."""
    public_id, title, text, owner, visibility, created, changed, pinned, maps = row
    return Collection(
        public_id, title, text, owner, Visibility(visibility), created, changed, pinned, int(maps)
    )
