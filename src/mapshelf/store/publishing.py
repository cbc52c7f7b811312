"""Edit and remove maps, and vote: the rules and SQL that both databases share.

Users write one map at a time, so one statement per step is fast enough, even over a network. All
of it can therefore be written once, in SQL that both databases understand. A store passes its
``Transaction``.
"""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from typing import Any, Final, Protocol

from mapshelf.errors import Conflict, MapDeleted, MapHidden, NotFound
from mapshelf.model import (
    SETTABLE,
    Map,
    MapDetails,
    MapDraft,
    RemovedMap,
    User,
    Visibility,
    Vote,
    name_key,
)
from mapshelf.store.batch import BatchRows
from mapshelf.store.columns import (
    FROM_MAPS,
    MAP,
    SELECT_RENAMED_TAGS,
    USER,
    map_of_row,
    user_of_row,
)
from mapshelf.store.contract.publishing import ChangeTags, CheckRemoved, CheckUsage, undoable
from mapshelf.store.inherited_visibility import forget_inherited
from mapshelf.store.merge import current_tags, new_id
from mapshelf.store.missing_maps import is_missing
from mapshelf.store.named_rows import NamedRows
from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.publishing_queries import (
    REMOVAL,
    find_map,
    is_hidden,
    is_in_folder,
    usage,
    vote_of,
    within_limits,
)
from mapshelf.store.tables import REMOVED, VOTES, Row

MAPS_AT_ONCE: Final = 100
"""Maps purged in one transaction, so that other writers get their turn."""

FROM_FILES: Final = frozenset({"title", "template"})
"""The fields of a map in a folder that come from its file."""

_WRITE_VOTE: Final = VOTES.upsert("?")
_WRITE_REMOVED: Final = REMOVED.upsert("?")

_KEEP_PRIVATE: Final = (
    "UPDATE decisions SET visibility = 'private', noted = 1 WHERE file_id = ? AND kind = 'hide'"
    " AND (visibility <> 'private' OR noted = 0) RETURNING id"
)
"""Lets a hidden map stay private when that is undone."""


class Transaction(Protocol):
    """An exclusive write transaction.

    Attributes:
        now: its time, in milliseconds since 1970-01-01 UTC.
        audit_entries: the audit entries that the thread will write with it.
    """

    now: int
    audit_entries: PendingAuditEntries

    def rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of a statement with ``?`` for each parameter."""

    def execute(self, sql: str, parameters: Row = ()) -> None:
        """Run a statement that returns no rows, with ``?`` for each parameter."""

    def batch(self, draft: MapDraft) -> AbstractContextManager[BatchRows]:
        """Yield the rows that ``draft`` refers to; changes to them are written on exit."""

    def next_revision(self) -> int:
        """Return the revision of the next change."""

    def lock_maps(self, file_ids: Collection[int]) -> set[int]:
        """Keep maps from being deleted until the transaction ends; return those that exist."""


# -- editing and removing ----------------------------------------------------------------------


def edit_map(
    database: Transaction, file_id: int, details: MapDetails, change_tags: ChangeTags | None
) -> Map:
    """See ``contract.MapEditing``."""
    found = require_map(database, file_id)
    given, stays_private = said_fields(details), False
    if change_tags is not None:
        given["tags"] = change_tags(found.tags)
    refuse_removal(details)
    if "visibility" in given and is_hidden(database.rows, file_id):
        if given["visibility"] is not found.visibility:
            raise MapHidden("An administrator has hidden this map; only its owner can see it.")
        stays_private = bool(database.rows(_KEEP_PRIVATE, (file_id,)))
    if given.keys() & FROM_FILES and is_in_folder(database.rows, file_id):
        if any(given.get(name, was) != was for name, was in _of_file(found).items()):
            raise Conflict("the title and template of this map come from its file")
        given = {name: value for name, value in given.items() if name not in FROM_FILES}
    settled = settled_keys(given)
    with database.batch(MapDraft(id=found.id)) as rows:
        category = require_category(rows, details)
        if category is not None:
            given["category"] = category
        if "tags" in given:
            given["tags"] = current_tags(given["tags"], dict(rows.read(SELECT_RENAMED_TAGS, ())))
        changed = replace(found, **given, set_by_people=found.set_by_people | settled)
        if changed == found and not stays_private:
            database.audit_entries.drop()
        if changed != found:
            rows.inheritance.forget(file_id)
            rows.write_map(changed, rows.user(found.owner, database.now))
    return changed


def remove_map(database: Transaction, file_id: int, user_id: int) -> None:
    """See ``contract.MapEditing``."""
    found = require_map(database, file_id)
    require_user(database, user_id)
    forget_inherited(database.rows, file_id)
    write_map(database, replace(found, visibility=Visibility.REMOVED))
    database.execute(_WRITE_REMOVED, (file_id, found.visibility.value, database.now, user_id))


def undo_removal(
    database: Transaction,
    file_id: int,
    check: CheckUsage | None = None,
    permit: CheckRemoved = undoable,
) -> Map:
    """See ``contract.MapEditing``."""
    rows = database.rows(REMOVAL, (file_id,))
    if not rows or is_missing(database.rows, file_id):
        raise NotFound("there is no such removed map")
    permit(RemovedMap(find_removed_too(database, file_id), *rows[0][1:]))
    if database.rows(
        "SELECT 1 FROM decisions WHERE file_id = ? AND kind = 'delete' LIMIT 1", (file_id,)
    ):
        raise MapDeleted("An administrator has deleted this map.")
    database.execute("DELETE FROM removed WHERE file_id = ?", (file_id,))
    forget_inherited(database.rows, file_id)
    found = find_removed_too(database, file_id)
    back = write_map(database, replace(found, visibility=Visibility(rows[0][0])))
    if check is not None:
        owner = database.rows("SELECT owner_id FROM maps WHERE file_id = ?", (file_id,))
        check(usage(database.rows, owner[0][0], database.now))
    return back


def purge_removed(database: Transaction, before: int) -> int:
    """See ``contract.MapEditing``."""
    rows = database.rows(
        "SELECT m.file_id, m.id FROM maps AS m WHERE m.file_id IN (SELECT r.file_id"
        " FROM removed AS r JOIN versions AS v ON v.file_id = r.file_id WHERE r.removed < ?)"
        " ORDER BY m.file_id LIMIT ?",
        (before, MAPS_AT_ONCE),
    )
    for file_id, public_id in rows:
        delete_map(database, file_id, public_id)
    return len(rows)


def delete_map(database: Transaction, file_id: int, public_id: str) -> None:
    """Delete a map permanently. Its ids are never reused."""
    database.execute("DELETE FROM maps WHERE file_id = ?", (file_id,))
    database.execute(
        "INSERT INTO deleted (file_id, id, revision) VALUES (?, ?, ?)",
        (file_id, public_id, database.next_revision()),
    )


def refuse_removal(details: MapDetails) -> None:
    """Raise ``Conflict`` if ``details`` would remove a map: ``remove_map`` does that."""
    if details.visibility is Visibility.REMOVED:
        raise Conflict("a map is not removed by its visibility")


def said_fields(details: MapDetails) -> dict[str, Any]:
    """Return the given ``details`` as fields of ``Map``."""
    given = {one.name: getattr(details, one.name) for one in fields(MapDetails)}
    del given["no_licence"]
    said = {name: value for name, value in given.items() if value is not None}
    return {**said, "licence_type_id": None} if details.no_licence else said


def settled_keys(given: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of ``SETTABLE`` for fields of ``Map``."""
    return frozenset(key for key, names in SETTABLE.items() if given.keys() & set(names))


def _of_file(found: Map) -> dict[str, Any]:
    return {name: getattr(found, name) for name in FROM_FILES}


def require_category(rows: BatchRows, details: MapDetails) -> str | None:
    """Return the name of the category in ``details``, if there is one."""
    if details.category_id is None:
        return None
    found = NamedRows(rows.read).category_with_id(details.category_id)
    if found is None:
        raise NotFound(f"there is no category {details.category_id}")
    return found.name


def write_map(database: Transaction, changed: Map) -> Map:
    """Write a map as one change, and return it."""
    with database.batch(MapDraft(id=changed.id)) as rows:
        rows.write_map(changed, rows.user(changed.owner, database.now))
    return changed


# -- votes -------------------------------------------------------------------------------------


def set_vote(database: Transaction, file_id: int, user_id: int, vote: Vote) -> Map:
    """See ``contract.Voting``."""
    found, user = require_map(database, file_id), require_user(database, user_id)
    if name_key(found.owner) == name_key(user.name):
        raise Conflict("nobody can vote for a map of their own")
    before = vote_of(database.rows, file_id, user_id)
    if vote is before:
        return found
    database.execute("DELETE FROM votes WHERE file_id = ? AND user_id = ?", (file_id, user_id))
    if vote is not Vote.NONE:
        database.execute(_WRITE_VOTE, (file_id, user_id, vote.value))
    up = (vote is Vote.UP) - (before is Vote.UP)
    down = (vote is Vote.DOWN) - (before is Vote.DOWN)
    return write_map(
        database,
        replace(
            found,
            thumbs_up=within_limits(found.thumbs_up + up),
            thumbs_down=within_limits(found.thumbs_down + down),
        ),
    )


def require_map(database: Transaction, file_id: int) -> Map:
    """Return the map with this ``file_id``.

    Raises:
        NotFound: there is no such map, or it is removed.
    """
    found = find_map(database.rows, "m.file_id", file_id)
    if found is None:
        raise NotFound("there is no such map")
    return found


def find_removed_too(database: Transaction, file_id: int) -> Map:
    """Return the map with this ``file_id``, which must exist, even if it is removed."""
    condition = f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.file_id = ?"
    return map_of_row(database.rows(condition, (file_id,))[0])


def require_user(database: Transaction, user_id: int) -> User:
    """Return the user with this id.

    Raises:
        NotFound: there is none, or the account is deleted.
    """
    rows = database.rows(f"SELECT {USER} FROM users WHERE id = ? AND closed IS NULL", (user_id,))
    if not rows:
        raise NotFound("there is no such user")
    return user_of_row(rows[0])


def free_id(database: Transaction, table: str) -> str:
    """Return a random public id that no row of ``table`` has."""
    found = new_id()
    while database.rows(f"SELECT 1 FROM {table} WHERE id = ?", (found,)):
        found = new_id()
    return found
