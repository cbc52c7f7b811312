"""End in a restored catalogue what had ended in the catalogue that it replaces.

Somebody who withdraws a program, or removes a passkey that was stolen, relies on that for ever. The
rows of what was withdrawn are deleted, so a backup from before brings them back. They end again if
the replaced catalogue, which is asked here, does not have them any more.

It may also never have had them: if it is another catalogue, or itself was restored from an older
backup. Its audit log tells, which records every sign-in and almost everything that gives access: as
far as both catalogues have the same entries, they have the same past.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import apsw

from mapshelf.store.sqlite.grants import delete_grants
from mapshelf.store.sqlite.replaced_catalogue import ReplacedCatalogue
from mapshelf.store.tables import Row

ALWAYS: Final = 2**62
"""A time after every other."""

NEVER: Final = -1
"""A time before every other."""

_ENTRY: Final = "at, event, user_id, user_name, target, address"
"""The columns of an audit entry that never change."""

_GIVEN: Final = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
"""The highest id that a table has given to a row, even if that was deleted."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of rows that give access.

    Attributes:
        rows: reads the rows of the copy: when each was made, its id or 0, and its key.
        same: finds the row with a key.
        table: the table, if it gives every id only once.
    """

    rows: str
    same: str
    table: str = ""


_PROGRAMS: Final = _Kind(
    "SELECT created, 0, id, created FROM programs",
    "SELECT 1 FROM programs WHERE id = ? AND created = ?",
)
_GRANTS: Final = _Kind(
    "SELECT created, id, id, user_id, program_id, created FROM grants",
    "SELECT 1 FROM grants WHERE id = ? AND user_id = ? AND program_id = ? AND created = ?",
    "grants",
)
_TOKENS: Final = _Kind(
    "SELECT created, id, digest FROM tokens", "SELECT 1 FROM tokens WHERE digest = ?", "tokens"
)
_PASSKEYS: Final = _Kind(
    "SELECT created, 0, id, user_id FROM passkeys",
    "SELECT 1 FROM passkeys WHERE id = ? AND user_id = ?",
)
_IDENTITIES: Final = _Kind(
    "SELECT created, 0, issuer, subject, user_id FROM identities",
    "SELECT 1 FROM identities WHERE issuer = ? AND subject = ? AND user_id = ?",
)


def end_what_ended(copy: apsw.Connection, replaced: ReplacedCatalogue) -> bool:
    """End in ``copy``, in its transaction, what had ended in the ``replaced`` catalogue.

    These end: personal tokens, programs and their authorizations, passkeys and linked identities.
    Programs that have renewed their tokens go on with the new ones.

    Returns:
        whether it is what became of the copy; otherwise it does not know all that has ended since.

    Raises:
        StoreDamaged: the replaced catalogue is damaged. What it calls revoked has ended.
    """
    _revoke(copy, replaced)
    replaced.require_whole()
    _renew_refresh_tokens(copy, replaced)
    until = _shared_past(copy, replaced)
    for program, _ in list(_ended(copy, replaced, until, _PROGRAMS)):
        delete_grants(copy, "program_id = ?", (program,))
        copy.execute("DELETE FROM programs WHERE id = ?", (program,))
    for grant, *_ in list(_ended(copy, replaced, until, _GRANTS)):
        delete_grants(copy, "id = ?", (grant,))
    for statement, kind in (
        ("DELETE FROM tokens WHERE digest = ?", _TOKENS),
        ("DELETE FROM passkeys WHERE id = ? AND user_id = ?", _PASSKEYS),
        ("DELETE FROM identities WHERE issuer = ? AND subject = ? AND user_id = ?", _IDENTITIES),
    ):
        copy.executemany(statement, list(_ended(copy, replaced, until, kind)))
    return until == ALWAYS


def _revoke(copy: apsw.Connection, replaced: ReplacedCatalogue) -> None:
    """Revoke the tokens that were revoked, whichever catalogue the replaced one is."""
    copy.executemany(
        "UPDATE tokens SET revoked = ?2 WHERE digest = ?1 AND revoked IS NULL",
        # If it is damaged, it may have other values there, which the copy would refuse.
        replaced.rows("SELECT digest, revoked FROM tokens WHERE typeof(revoked) = 'integer'"),
    )


def _renew_refresh_tokens(copy: apsw.Connection, replaced: ReplacedCatalogue) -> None:
    """Hand on the refresh tokens of grants that both have: which were used, and the new ones.

    A token that was used must not become good again, and its program has another one instead.
    """
    grants: list[Row] = copy.execute(_GRANTS.rows).fetchall()
    for _, grant, *key in grants:
        if not replaced.rows(_GRANTS.same, tuple(key)):
            continue
        copy.executemany(
            "INSERT INTO refresh_tokens (digest, grant_id, expires, used) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (digest) DO UPDATE SET used = coalesce(excluded.used, used)",
            replaced.rows(
                "SELECT digest, grant_id, expires, used FROM refresh_tokens WHERE grant_id = ?",
                (grant,),
            ),
        )
        (expires,) = replaced.rows("SELECT expires FROM grants WHERE id = ?", (grant,))
        copy.execute("UPDATE grants SET expires = max(expires, ?) WHERE id = ?", (*expires, grant))


def _shared_past(copy: apsw.Connection, replaced: ReplacedCatalogue) -> int:
    """Return until when the replaced catalogue was the same one as the copy.

    ``ALWAYS`` if it is what became of the copy, ``NEVER`` if it is a different one.
    """
    entries = f"SELECT id, count, {_ENTRY} FROM audit ORDER BY id DESC"
    given, until = _given(replaced.rows(_GIVEN, ("audit",))), NEVER
    missing = apart = False
    for number, count, *entry in copy.execute(entries):
        found = replaced.rows(f"SELECT count, {_ENTRY} FROM audit WHERE id = ?", (number,))
        if found and list(found[0][1:]) == entry and found[0][0] >= count:
            until = int(entry[0])
            break
        missing = missing or not found
        apart = apart or bool(found) or number > given
    # An entry that is missing has expired there, or never was there.
    doubtful = missing or until == NEVER
    return until if apart or (doubtful and not has_become(copy, replaced)) else ALWAYS


def has_become(copy: apsw.Connection, replaced: ReplacedCatalogue) -> bool:
    """Return whether the copy has become the replaced catalogue, as far as their counters tell.

    Raises:
        StoreDamaged: the replaced catalogue cannot be read.
    """
    facts = "SELECT identity, revision FROM sequence"
    ((identity, revision),) = copy.execute(facts).fetchall()
    ((identity_of_replaced, newest),) = replaced.rows(facts)
    if newest < revision or any(
        _given(replaced.rows(_GIVEN, (table,))) < _given(copy.execute(_GIVEN, (table,)).fetchall())
        for table in ("tokens", "grants")
    ):
        return False
    if identity_of_replaced == identity:
        return True
    # It was restored since, perhaps from this very backup.
    mark = "SELECT mark FROM marks WHERE revision = ?"
    marks: list[Row] = copy.execute(mark, (revision,)).fetchall()
    return bool(marks) and marks == replaced.rows(mark, (revision,))


def _ended(
    copy: apsw.Connection, replaced: ReplacedCatalogue, until: int, kind: _Kind
) -> Iterator[Row]:
    """Yield the keys of the rows that the replaced catalogue has had, and has no longer."""
    given = _given(replaced.rows(_GIVEN, (kind.table,))) if kind.table else 0
    for created, number, *key in copy.execute(kind.rows):
        known = created <= until and number <= given
        if known and not replaced.rows(kind.same, tuple(key)):
            yield tuple(key)


def _given(rows: list[Row]) -> int:
    return int(rows[0][0])
