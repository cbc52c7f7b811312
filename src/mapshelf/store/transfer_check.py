"""Refuse to overwrite a target that has been used since the last transfer.

A transfer makes its target equal to its source: whoever was disabled in the target since is enabled
again, a password that was changed is the former one, and new accounts give way to others with the
same numbers. So at the end of each transfer, both catalogues note what their tables contain. The
next transfer compares its target with that.

Not noted are columns that change without anybody wanting it, such as the time of the last use, and
what is known of files and folders: whoever follows these compares them with it again.
"""

import heapq
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby, islice
from operator import itemgetter
from typing import Final

from mapshelf.errors import Conflict
from mapshelf.model import AuditEvent
from mapshelf.store.contract import Store
from mapshelf.store.paged_rows import ROWS_AT_ONCE, all_rows
from mapshelf.store.tables import (
    COLLECTED_MAPS,
    COLLECTION_DECISIONS,
    COLLECTION_REPORTS,
    COLLECTIONS,
    DECISIONS,
    IDENTITIES,
    OF_PEOPLE,
    PASSKEYS,
    PROGRAMS,
    RENAMED_TAGS,
    REPORTS,
    SAVED_SEARCHES,
    TOKENS,
    USERS,
    VOTES,
    CatalogueCounters,
    Table,
    TransferNote,
)

_WORDS: Final = {
    USERS: "users",
    TOKENS: "tokens",
    IDENTITIES: "linked accounts",
    PASSKEYS: "passkeys",
    PROGRAMS: "programs",
    COLLECTIONS: "collections",
    COLLECTED_MAPS: "maps in collections",
    COLLECTION_REPORTS: "reports of collections",
    COLLECTION_DECISIONS: "decisions about collections",
    SAVED_SEARCHES: "saved searches",
    RENAMED_TAGS: "renamed tags",
    VOTES: "votes",
    REPORTS: "reports",
    DECISIONS: "decisions about reports",
}
"""The tables whose contents are noted, and what a message calls them."""

_INCIDENTAL: Final = {
    USERS: {"skeleton"},
    TOKENS: {"last_used"},
    PASSKEYS: {"sign_count", "last_used"},
}
"""Columns that are not noted. A service that only answers readers changes them, or an upgrade."""

_OF_USE: Final = (TOKENS, IDENTITIES, PASSKEYS, PROGRAMS, *OF_PEOPLE, RENAMED_TAGS)
"""Tables that have no rows before somebody uses a catalogue."""

_WITHOUT_TRACE: Final = frozenset(
    {
        AuditEvent.SIGN_IN,
        AuditEvent.SIGN_IN_FAILED,
        AuditEvent.SESSION_ENDED,
        AuditEvent.LINK_MADE,
        AuditEvent.INVITATION_MADE,
        AuditEvent.INVITATION_WITHDRAWN,
        AuditEvent.GRANT_MADE,
        AuditEvent.GRANT_WITHDRAWN,
        AuditEvent.DATA_EXPORTED,
    }
)
"""Events that change nothing that a transfer copies."""

_USERS_NAMED: Final = 3
"""Users that a message names at most."""

_NO_ROWS: Final = sha256().hexdigest()


def check_target(source: Store, target: Store, counters: CatalogueCounters) -> None:
    """Check that a transfer into ``target`` loses nothing; ``counters`` are those of ``source``.

    Raises:
        Conflict: the target holds another catalogue, or changes that the source does not have.
    """
    there, note = target.catalogue_counters(), target.transfer_note()
    if there.identity != counters.identity or note is None:
        if _is_untouched(target):
            return
        if there.identity != counters.identity:
            raise Conflict("the target contains another catalogue")
    if there.revision > counters.revision:
        raise _changed(["maps"])
    _refuse_other_users(source, target)
    of_source = source.transfer_note()
    if note is not None and (of_source is None or note.number not in of_source.known):
        note = None  # the source does not descend from what the target was then
        if (there.revision, there.mark) != (counters.revision, counters.mark):
            raise _changed(["maps"])
    if note is not None and note.begun_at is not None:
        changes = list(_changes_of_unfinished(target, note))
    else:
        changes = list(_changes(source, target, note))
    if changes:
        raise _changed(changes)


def note_begin(source: Store, target: Store, counters: CatalogueCounters) -> None:
    """Note that a transfer begins; it may be interrupted, and another one may go on with it."""
    before = source.transfer_note() or TransferNote()
    number = secrets.token_hex(8)
    known = (*before.known, number)
    source.note_transfer(replace(before, known=known))
    position = target.audit_position()
    target.note_transfer(
        TransferNote(known, number, counters.revision, counters.mark, None, position)
    )


def note_end(source: Store, target: Store, counters: CatalogueCounters) -> None:
    """Note in both catalogues what the transfer that has begun last has made of the target.

    The source may have changed meanwhile: it was copied as of ``counters``.

    Raises:
        Conflict: the target was used meanwhile.
    """
    begun, there = target.transfer_note() or TransferNote(), target.catalogue_counters()
    if changes := list(_changes_of_unfinished(target, begun)):
        raise _changed(changes)
    contents = {}
    for table in _WORDS:
        columns = _noted_columns(table)
        contents[table.name] = columns, _digest(target, table, columns)
    for store, state in ((target, there), (source, counters)):
        store.note_transfer(
            TransferNote(begun.known, begun.number, state.revision, state.mark, contents)
        )


def _is_untouched(target: Store) -> bool:
    return (
        target.catalogue_counters().revision == 0
        and len(target.rows(USERS, None, 2)) < 2
        and not any(target.rows(table, None, 1) for table in _OF_USE)
    )


def _changed(what: Sequence[str]) -> Conflict:
    return Conflict(
        f"the target has changes that the source does not have ({', '.join(what)}); to give them"
        " up, migrate to an empty database or a new folder instead"
    )


def _refuse_other_users(source: Store, target: Store) -> None:
    """Refuse users that have the number of somebody else in the source."""
    number, name, closed = (USERS.columns.index(column) for column in ("id", "name", "closed"))
    both = heapq.merge(all_rows(source, USERS), all_rows(target, USERS), key=USERS.key_of)
    pairs = (list(rows) for _, rows in groupby(both, USERS.key_of))
    # A deleted account loses its name.
    of_accounts = (pair for pair in pairs if all(row[closed] is None for row in pair))
    others = (pair for pair in of_accounts if len({row[name] for row in pair}) > 1)
    found = [
        f"user {here[number]} is {there[name]} instead of {here[name]}"
        for here, there in islice(others, _USERS_NAMED)
    ]
    if found:
        raise _changed(found)


def _changes(source: Store, target: Store, note: TransferNote | None) -> Iterator[str]:
    """Yield what of the target is neither as noted nor as in the source."""
    contents = {} if note is None else note.contents or {}
    if note is not None:
        there, here = target.catalogue_counters(), source.catalogue_counters()
        states = [(one.revision, one.mark) for one in (there, note, here)]
        if states[0] not in states[1:]:
            yield "maps"
    for table, words in _WORDS.items():
        # A table that was added to the schema later had no rows.
        unknown = _noted_columns(table), "" if note is None else _NO_ROWS
        columns, noted = contents.get(table.name, unknown)
        digest = _digest(target, table, columns)
        if digest != noted and digest != _digest(source, table, columns):
            yield words


def _changes_of_unfinished(target: Store, note: TransferNote) -> Iterator[str]:
    """Yield what somebody has done in the target of a transfer that was interrupted.

    Its tables are partly those of the source, which may have changed since. But a transfer writes
    no audit records, and whoever writes a map gives it a mark.
    """
    if target.catalogue_counters().mark not in ("", note.mark):
        yield "maps"
    events, after = set(), 0
    number, last = note.begun_at or (0, 0)
    while records := target.audit_records(last, after, ROWS_AT_ONCE):
        after = records[-1].id
        newer = (one for one in records if one.id > number or one.last > last)
        events |= {one.entry.event for one in newer}
    yield from sorted(event.value for event in events - _WITHOUT_TRACE)


def _noted_columns(table: Table) -> tuple[str, ...]:
    return tuple(name for name in table.columns if name not in _INCIDENTAL.get(table, ()))


def _digest(store: Store, table: Table, columns: Sequence[str]) -> str:
    """Return the digest of these columns of all rows. One that the table lacks is left out."""
    values = itemgetter(*(table.columns.index(name) for name in columns if name in table.columns))
    digest = sha256()
    for row in all_rows(store, table):
        digest.update(repr(values(row)).encode())
    return digest.hexdigest()
