"""Account deletion: the rules and SQL statements that both databases share.

Closing an account takes effect at once: sign-in is blocked, and all sessions, tokens and program
grants are revoked. The slow work follows in batches: votes are withdrawn, and maps are deleted or
transferred to ``system``. Until then the name stays taken, because maps still show it. Finally the
name is cleared, but the user row remains: files of other users' maps may refer to it, and its id is
never reused. If imported maps were transferred, an import may name the same owner again; so the
transaction that transfers the last of them reserves the name (``reserved_names.py``).
"""

from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.errors import Conflict, LastAdministrator
from mapshelf.model import (
    SYSTEM_USER,
    Map,
    MapDraft,
    MapsOfClosedAccount,
    Role,
    Visibility,
    Vote,
)
from mapshelf.store.columns import FROM_MAPS, MAP, map_of_row
from mapshelf.store.publishing import (
    Transaction,
    delete_map,
    find_removed_too,
    require_user,
)
from mapshelf.store.publishing_queries import Read, within_limits
from mapshelf.store.reserved_names import reserve_name
from mapshelf.store.sign_in import refuse_system

MAPS_AT_ONCE: Final = 100
"""Maps or votes processed per transaction, so that other writers get their turn."""

_CLOSING: Final = (
    "SELECT id, name, closing FROM users WHERE closing IS NOT NULL ORDER BY id LIMIT 1"
)

OF_ACCOUNT: Final = (
    "DELETE FROM tokens WHERE user_id = ?",
    "DELETE FROM authorization_codes WHERE user_id = ?",
    "DELETE FROM device_requests WHERE user_id = ?",
    "DELETE FROM grants WHERE user_id = ?",
    "DELETE FROM one_time_links WHERE user_id = ?",
    "DELETE FROM identities WHERE user_id = ?",
    "DELETE FROM passkeys WHERE user_id = ?",
    "DELETE FROM one_time_links WHERE created_by = ?",
    "DELETE FROM uploads WHERE user_id = ?",
    "DELETE FROM collections WHERE owner_id = ?",
    "DELETE FROM saved_searches WHERE owner_id = ?",
    "UPDATE collection_reports SET user_id = NULL WHERE user_id = ?",
    "UPDATE reports SET user_id = NULL WHERE user_id = ?",
)
"""Statements that run when an account is closed. Every table that grants access needs one here.

Collections are deleted too: their titles and texts were written by their owner."""


def close_account(
    database: Transaction, user_id: int, maps: MapsOfClosedAccount, checked: str | None
) -> None:
    """See ``contract.ClosedAccounts``."""
    user = refuse_system(require_user(database, user_id))
    # A concurrent sign-in waits for this row, and then finds the user disabled.
    closed = database.rows(
        "UPDATE users SET disabled = (1 = 1), password = NULL, role = 'member', closed = ?,"
        " closing = ? WHERE id = ? AND closed IS NULL AND password IS NOT DISTINCT FROM ?"
        " RETURNING id",
        (database.now, maps.value, user_id, checked),
    )
    if not closed:
        require_user(database, user_id)
        raise Conflict("the password has been changed in the meantime")
    if user.role is Role.ADMINISTRATOR and not database.rows(
        "SELECT 1 FROM users WHERE role = 'administrator' AND NOT (disabled = (1 = 1)) LIMIT 1"
    ):
        raise LastAdministrator("this is the only administrator")
    for statement in OF_ACCOUNT:
        database.execute(statement, (user_id,))


def is_anything_left(read: Read) -> bool:
    """Return whether any deleted account still needs ``finish_closing``."""
    return bool(read(_CLOSING, ()))


def finish_closing(database: Transaction) -> bool:
    """See ``contract.ClosedAccounts``."""
    rows = database.rows(_CLOSING)
    if not rows:
        return False
    ((user_id, name, maps),) = rows
    if _take_votes_back(database, user_id):
        return True
    some = _some_maps(database, user_id)
    for one in some.settled:
        _settle_map(database, one, MapsOfClosedAccount(maps))
    if some.are_last_imported or not some.settled:
        _erase_name(database, user_id)
    if some.are_last_imported:
        reserve_name(database.rows, name, database.now)
    return True


def _take_votes_back(database: Transaction, user_id: int) -> bool:
    """Withdraw some votes of a user; return whether there were any."""
    rows = database.rows(
        "SELECT file_id, value FROM votes WHERE user_id = ? ORDER BY file_id LIMIT ?",
        (user_id, MAPS_AT_ONCE),
    )
    for file_id, value in rows:
        database.execute("DELETE FROM votes WHERE file_id = ? AND user_id = ?", (file_id, user_id))
        found = find_removed_too(database, file_id)
        up, down = Vote(value) is Vote.UP, Vote(value) is Vote.DOWN
        counted = replace(
            found,
            thumbs_up=within_limits(found.thumbs_up - up),
            thumbs_down=within_limits(found.thumbs_down - down),
        )
        with database.batch(MapDraft(id=found.id)) as written:
            written.write_map(counted, written.user(found.owner, database.now))
    return bool(rows)


def _erase_name(database: Transaction, user_id: int) -> None:
    # No valid name begins with a space, so this one cannot be taken.
    database.execute(
        "UPDATE users SET name = ?, name_key = ?, skeleton = ?, closing = NULL WHERE id = ?",
        (f"deleted user {user_id}", f" deleted {user_id}", "", user_id),
    )


class _OwnMap(NamedTuple):
    """A map of a user, and whether it was uploaded rather than imported."""

    map: Map
    uploaded: bool


class _SomeMaps(NamedTuple):
    """The maps to settle in one transaction, and whether imported ones are among the last."""

    settled: list[_OwnMap]
    are_last_imported: bool


def _some_maps(database: Transaction, user_id: int) -> _SomeMaps:
    """Return some maps of a user, keeping one that was imported for the last transaction.

    So that one knows that there were any.
    """
    rows = database.rows(
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM versions AS v WHERE v.file_id = m.file_id)"
        f" THEN 1 ELSE 0 END, {MAP} FROM {FROM_MAPS} WHERE m.file_id IN"
        " (SELECT file_id FROM maps WHERE owner_id = ? ORDER BY file_id LIMIT ?)"
        " ORDER BY m.file_id",
        (user_id, MAPS_AT_ONCE + 1),
    )
    some = [_OwnMap(map_of_row(columns), bool(uploaded)) for uploaded, *columns in rows]
    imported = next((one for one in some if not one.uploaded), None)
    if len(some) <= MAPS_AT_ONCE:
        return _SomeMaps(some, imported is not None)
    some.remove(imported or some[-1])
    return _SomeMaps(some, are_last_imported=False)


def _settle_map(database: Transaction, own: _OwnMap, maps: MapsOfClosedAccount) -> None:
    """Delete a map, or transfer it to ``system``."""
    found = own.map
    if own.uploaded and (
        maps is MapsOfClosedAccount.REMOVE or found.visibility is Visibility.REMOVED
    ):
        delete_map(database, found.file_id, found.id)
        return
    with database.batch(MapDraft(id=found.id, owner=SYSTEM_USER)) as written:
        system = written.user(SYSTEM_USER, database.now)
        written.write_map(replace(found, owner=SYSTEM_USER), system)
