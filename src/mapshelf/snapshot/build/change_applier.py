"""Applies new changes of the store to a snapshot, such that large maps do not delay the others.

To index a large map takes up to seconds. Whoever keeps changing some of them must not keep other
changes from being published, least of all that a map became private. So small maps come first, and
large ones take turns with publications. If there are very many changes, as after a node was off or
during an import, maps that are withdrawn are removed before the others change.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from mapshelf.errors import StoreDamaged, StoreError
from mapshelf.formats.outline_size import size_up_to
from mapshelf.model import Change
from mapshelf.snapshot.build.working_snapshot import WorkingSnapshot
from mapshelf.store.contract import ChangeFeed

BATCH: Final = 1000
"""Number of changes read from the store at a time."""

CHANGES_PER_SNAPSHOT: Final = 20_000
"""Number of changes after which a snapshot is published even if there are more, so that users see
the progress of a long import."""

SMALL_OUTLINE: Final = 32_768
"""Size of an outline, uncompressed and in bytes, up to which a map takes milliseconds. The size in
the store says little: texts that repeat themselves are a thousand times as large."""

SIZE_AT_ONCE: Final = 1 << 20
"""Total size of outlines, uncompressed and in bytes, that are applied at once, without looking at
the time."""

SECONDS_OF_SMALL: Final = 1.0
"""Seconds spent on other changes while maps that were withdrawn meanwhile wait to be removed."""

SECONDS_OF_LARGE: Final = 1.0
"""Seconds spent on large maps while other changes wait to be published."""

Progress = Callable[[int], None]
"""Called with the number of changes applied so far."""


def apply_all(
    store: ChangeFeed, working: WorkingSnapshot, progress: Progress | None = None
) -> None:
    """Apply all changes to a snapshot that nobody uses yet."""
    applied = 0
    while first := store.changes(working.revision, BATCH):
        batches = _NewMaps(store, working, first)
        for changes in working.apply_each(batches):
            working.revision = changes[-1].revision
            applied += sum(one.map is not None for one in changes)
            if progress:
                progress(applied)
        if batches.failure:
            raise batches.failure


def apply_new(
    store: ChangeFeed, working: WorkingSnapshot, target: int, progress: Progress | None = None
) -> None:
    """Apply changes to a snapshot that has been published, which is then to be published again.

    Changes of large maps may be left for the next time, if there are very many, or others beyond
    ``target``, the revision of the store when this publication began. Then ``working.revision`` is
    that before the first change left, and ``working.ahead`` has the later ones that were applied.

    Raises:
        HistoryLost: the store has lost changes that were applied.
    """
    if working.highest > working.revision:
        store.changes(working.highest, 1)  # checks whether it is lost; the others are read below
    newest = store.last_withdrawal()
    # Every other time, so that who hides one map after the other does not delay all other changes.
    if target > working.revision + BATCH and not working.is_behind:
        working.is_behind = _remove_withdrawn(store, working, working.revision)
        if working.is_behind:
            return
    working.is_behind = False
    last, is_all = _apply_small(store, working, target, newest, progress)
    if not is_all and not _apply_rest(store, working, last, target, progress):
        return
    working.revision = last
    working.ahead.clear()


def pieces_of(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield changes in pieces of at most ``SIZE_AT_ONCE``, or a single larger one."""
    piece: list[Change] = []
    size = 0
    for change in changes:
        length = _size_up_to(change, SIZE_AT_ONCE)
        if piece and size + length > SIZE_AT_ONCE:
            yield piece
            piece, size = [], 0
        piece.append(change)
        size += length
    if piece:
        yield piece


@dataclass
class _NewMaps:
    """The changes ``first`` and those after them, in batches, up to the first of a map read before.

    They end if the store fails, too, so that what has been read is applied.

    Attributes:
        failure: why the store failed, ``None`` if it did not.
    """

    store: ChangeFeed
    working: WorkingSnapshot
    first: Sequence[Change]
    failure: StoreError | None = None

    def __iter__(self) -> Iterator[Sequence[Change]]:
        changes = self.first
        while changes:
            yield changes
            try:
                changes = self.store.changes(changes[-1].revision, BATCH)
            except StoreError as error:
                self.failure = error
                return
            if any(one.file_id in self.working.slots for one in changes):
                return


def _apply_small(
    store: ChangeFeed,
    working: WorkingSnapshot,
    target: int,
    newest: int,
    progress: Progress | None,
) -> tuple[int, bool]:
    """Apply removals and the changes of small maps, at least up to the revision ``target``.

    This ends after ``SECONDS_OF_SMALL`` if maps have been withdrawn after the revision ``newest``.
    Returns the last revision examined, and whether all changes up to it have been applied.
    """
    began, last, is_all = monotonic(), working.revision, True
    while last < target and working.applied < CHANGES_PER_SNAPSHOT:
        changes = store.changes(last, BATCH)
        if not changes:
            break
        new = [one for one in changes if not working.has_applied(one)]
        small = [one for one in new if _is_small(one)]
        _apply_ahead(working, small, progress)
        last, is_all = changes[-1].revision, is_all and len(small) == len(new)
        is_late = monotonic() - began > SECONDS_OF_SMALL
        if last < target and is_late and store.last_withdrawal() > newest:
            _remove_withdrawn(store, working, newest)
            break
    return last, is_all


def _remove_withdrawn(store: ChangeFeed, working: WorkingSnapshot, after: int) -> bool:
    """Remove the maps that were withdrawn after a revision; return whether any was still there."""
    found = False
    while rows := store.withdrawn(after, BATCH):
        after = rows[-1][0]
        shown = [Change(at, one, None, None) for at, one, _ in rows if one in working.slots]
        _apply_ahead(working, shown, None)
        # Changes may come from a standby that does not have these yet.
        working.ahead.update({one: at for at, one, _ in rows})
        found = found or bool(shown)
    return found


def _apply_rest(
    store: ChangeFeed,
    working: WorkingSnapshot,
    last: int,
    target: int,
    progress: Progress | None,
) -> bool:
    """Apply changes up to the revision ``last`` that were left; return whether none is left now.

    At least one is applied.
    """
    began, read = monotonic(), working.revision
    is_begun = False
    while read < last:
        changes = [one for one in store.changes(read, BATCH) if one.revision <= last]
        rest = [one for one in changes if not working.has_applied(one)]
        for piece in pieces_of(rest):
            is_late = is_begun and monotonic() - began > SECONDS_OF_LARGE
            is_enough = is_begun and working.applied >= CHANGES_PER_SNAPSHOT
            if is_enough or (is_late and store.revision() != target):
                working.revision = piece[0].revision - 1
                return False
            _apply_ahead(working, piece, progress)
            is_begun = True
        read = changes[-1].revision if changes else last
    return True


def _apply_ahead(
    working: WorkingSnapshot, changes: Sequence[Change], progress: Progress | None
) -> None:
    if changes:
        working.apply(changes)
        working.ahead.update({one.file_id: one.revision for one in changes})
        if progress:
            progress(working.applied)


def _is_small(change: Change) -> bool:
    return change.map is None or _size_up_to(change, SMALL_OUTLINE) <= SMALL_OUTLINE


def _size_up_to(change: Change, most: int) -> int:
    """Return the uncompressed size of an outline in bytes; if larger, ``most + 1``."""
    try:
        return size_up_to(change.outline, most) if change.outline else 0
    except StoreDamaged:  # it cannot be read: the topics are left out of the search
        return 0
