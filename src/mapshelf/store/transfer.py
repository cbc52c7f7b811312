"""Transfer a whole catalogue from one store to another.

Maps are copied in batches, in the order of their last changes, and the revision of the target is
that of the last map copied. An interrupted transfer therefore continues where it stopped, and a
complete one can be repeated to copy later changes. Revisions and identity are copied too, so that
existing snapshots stay valid.

Sessions, authorizations of programs and links are not copied, and those that the target has from
before end: a catalogue that moves back finds there what has ended elsewhere meanwhile.

A target that has been used since the last transfer is refused: see ``transfer_check``.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from typing import Final

from mapshelf.errors import Conflict, StoreUnavailable
from mapshelf.formats.ndjson_records import format_record
from mapshelf.store.contract import Store
from mapshelf.store.paged_rows import ROWS_AT_ONCE, all_rows, pages
from mapshelf.store.tables import (
    COLLECTED_MAPS,
    DECISIONS,
    DELETED,
    FORMER_CONTENTS,
    FORMER_PLACES,
    IDENTITIES,
    INHERITED,
    MAPS,
    OF_FOLDERS,
    OF_PEOPLE,
    OUTDATED,
    PASSKEYS,
    PROGRAMS,
    RENAMED_TAGS,
    REPORTS,
    SMALL_TABLES,
    SOURCES,
    TABLES,
    TABLES_OF_MAPS,
    TOKENS,
    CatalogueCounters,
    Row,
    Table,
)
from mapshelf.store.transfer_check import check_target, note_begin, note_end

MAPS_AT_ONCE: Final = 200
"""Maps copied in one transaction at most."""

BYTES_AT_ONCE: Final = 32 << 20
"""Bytes of their files, versions included, unless one map has more."""

LEAVING: Final = (
    *(TOKENS, IDENTITIES, PASSKEYS, PROGRAMS),
    *(*OF_PEOPLE, *OF_FOLDERS, RENAMED_TAGS),
)
"""Tables of small rows that can be deleted. Most of them grant access, so a repeated transfer must
not keep rows that have been revoked since. Where a served link led in the target says nothing about
the files of the source."""

_UNNOTICED: Final = (
    *(SOURCES, OUTDATED, INHERITED, FORMER_CONTENTS),
    *(DECISIONS, REPORTS, COLLECTED_MAPS),
)
"""Tables of maps whose rows can change without a change in the feed."""

LATER: Final = 2**62
"""A time after every other."""

Progress = Callable[[int], None]
"""Called with the number of maps copied since the last call."""


def transfer_catalogue(source: Store, target: Store, progress: Progress) -> None:
    """Make ``target`` a copy of ``source``. There should be no other writers to either.

    Users of the target sign in again, even if the transfer fails.

    Raises:
        Conflict: the target holds something other than an earlier state of the source, or has been
            used since; or the source was written to.
        StoreError: one of them failed; a second call continues where this one stopped.
    """
    source.apply_visit_counts(LATER)
    counters = source.catalogue_counters()
    check_target(source, target, counters)
    note_begin(source, target, counters)
    target.end_uncopied_access()  # before rows are written with the same ids
    so_far = replace(counters, revision=target.catalogue_counters().revision, mark="")
    for table in LEAVING:
        _delete_gone(source, target, table)
    for table in SMALL_TABLES:
        for some in pages(source, table):
            target.write_rows({table: some}, so_far)
    _copy_maps(source, target, counters, progress)
    unmarked = replace(counters, mark="")
    _copy_unequal(source, target, unmarked)
    _delete_gone(source, target, FORMER_PLACES)
    for some in pages(source, FORMER_PLACES):  # they may refer to maps
        target.write_rows({FORMER_PLACES: some}, unmarked)
    # If the target was served nevertheless, people may have signed in with a former password.
    target.end_uncopied_access()
    unchanged = source.catalogue_counters() == counters
    if unchanged:
        target.write_rows({}, counters)
    note_end(source, target, counters)
    if not unchanged:
        raise Conflict("the catalogue was changed while it was being copied; migrate again")


def differences(source: Store, target: Store) -> Iterator[str]:
    """Yield a line for every table that differs, and for exports that do."""
    if source.catalogue_counters() != target.catalogue_counters():
        yield "the counters differ"
    for table in TABLES:
        if any(_unequal(source, target, table)):
            yield f"the table {table.name} differs"
    if export_digest(source) != export_digest(target):
        yield "the exports differ"


def export_digest(store: Store) -> tuple[int, str]:
    """Return how many maps an export of ``store`` holds, and the SHA-256 of its bytes."""
    digest, count, after = sha256(), 0, 0
    while some := store.maps(after, ROWS_AT_ONCE):
        digest.update(b"".join(format_record(found) + b"\n" for found in some))
        count, after = count + len(some), some[-1].file_id
    return count, digest.hexdigest()


def _delete_gone(source: Store, target: Store, table: Table) -> None:
    """Delete the rows of the target that the source no longer has.

    This happens before new rows are written, which may reuse unique values of deleted ones.
    """
    there = {table.key_of(row) for row in all_rows(source, table)}
    gone = [key for key in map(table.key_of, all_rows(target, table)) if key not in there]
    for start in range(0, len(gone), ROWS_AT_ONCE):
        target.delete_rows(table, gone[start : start + ROWS_AT_ONCE])


def _copy_maps(
    source: Store, target: Store, counters: CatalogueCounters, progress: Progress
) -> None:
    after = target.catalogue_counters().revision
    while after < counters.revision:
        changes = source.changes(after, MAPS_AT_ONCE)
        if not changes:
            raise StoreUnavailable("the changes of the catalogue cannot be read now")
        revisions = {change.file_id: change.revision for change in changes}
        for file_ids in _batches(source, list(revisions)):
            after = revisions[file_ids[-1]]
            # The feed does not distinguish unpublished maps from deleted ones; the rows do.
            rows = {DELETED: source.rows_of(DELETED, file_ids), **_rows_of_maps(source, file_ids)}
            target.write_rows(rows, replace(counters, revision=after, mark=""))
            progress(len(file_ids))


def _copy_unequal(source: Store, target: Store, counters: CatalogueCounters) -> None:
    """Copy maps again whose rows differ in data that can change without a change in the feed."""
    file_ids = sorted(
        {
            row[table.columns.index("file_id")]
            for table in _UNNOTICED
            for row in _unequal(source, target, table)
        }
    )
    for some in _batches(source, file_ids):
        target.write_rows(_rows_of_maps(source, some), counters)


def _batches(source: Store, file_ids: Sequence[int]) -> Iterator[list[int]]:
    """Yield the maps to copy in each transaction."""
    batch: list[int] = []
    room = BYTES_AT_ONCE
    for start in range(0, len(file_ids), MAPS_AT_ONCE):
        some = file_ids[start : start + MAPS_AT_ONCE]
        sizes = source.sizes_of(some)
        for file_id in some:
            if batch and sizes.get(file_id, 0) > room:
                yield batch
                batch, room = [], BYTES_AT_ONCE
            batch.append(file_id)
            room -= sizes.get(file_id, 0)
        yield batch
        batch, room = [], BYTES_AT_ONCE


def _rows_of_maps(source: Store, file_ids: Sequence[int]) -> dict[Table, list[Row]]:
    """Return all rows of these maps."""
    return {table: source.rows_of(table, file_ids) for table in (MAPS, *TABLES_OF_MAPS)}


def _unequal(source: Store, target: Store, table: Table) -> Iterator[Row]:
    """Yield the rows that are in only one of the stores, or differ."""
    both = heapq.merge(all_rows(source, table), all_rows(target, table), key=table.key_of)
    for _, group in groupby(both, table.key_of):
        rows = list(group)
        if len(rows) != 2 or rows[0] != rows[1]:
            yield from rows
