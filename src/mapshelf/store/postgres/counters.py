"""The counters of a catalogue, which allocate the revisions of changes."""

from collections.abc import Collection, Mapping
from typing import Final

from mapshelf.store.merge import new_id
from mapshelf.store.postgres.link import Link

CHANNEL: Final = "mapshelf"
"""The channel on which writers announce the newest revision."""

HISTORY: Final = (
    "(SELECT system_identifier FROM pg_control_system())"
    " || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
)
"""The server that writes, and its timeline: a new one begins when a standby takes over."""

LEAP: Final = 1 << 16
"""After a takeover, revisions continue at a multiple of this, and at least this much above any lost
ones."""

LEAPS_A_SECOND: Final = 64
"""The multiple rises by this with time: 4 million revisions a second are more than anybody writes.
Until 2088, revisions stay below 2**53: the JSON of other programs has no larger whole numbers."""

FIRST_LEAP: Final = 1_577_836_800
"""When the multiple was 0: the beginning of 2020, in seconds since 1970."""

LEAPS_SO_FAR: Final = (
    f"SELECT floor((extract(epoch FROM clock_timestamp()) - {FIRST_LEAP}) * {LEAPS_A_SECOND})"
    "::bigint"
)

_CHANGE_TOKEN_MARK: Final = "UPDATE token_mark SET mark = gen_random_uuid()::text"
"""Lets nodes look up all tokens again: a server that takes over may lack some that they know."""


class LockedCounters:
    """The counters of the catalogue, locked by one transaction at a time.

    The lock serializes writers, so that revisions become visible in order. The counters are written
    back once, at the end.

    A standby that takes over may lack the last changes of its primary, and would reuse their
    revisions for other changes. A node that had seen the lost changes could not notice this. So the
    first write on another server skips to a multiple of ``LEAP``, and records the gap. The multiple
    is given by the time: two standbys may take over one after the other, neither of which had
    followed the other, and must not use the same revisions either.

    Attributes:
        revision: the newest revision.
        taken_over: whether another server wrote before, so that the next revision skips.
    """

    def __init__(self, link: Link, known: int = 0) -> None:
        """Lock the counters. If they have not reached ``known``, changes up to it were lost."""
        self._link = link
        ((revision, file_id, writer, history),) = link.required_rows(
            f"SELECT revision, file_id, history, {HISTORY} FROM sequence FOR UPDATE"
        )
        self._before: int = revision
        self.revision: int = revision
        self.file_id: int = file_id
        self.taken_over = writer != history or revision < known
        self._highest = max(revision, known)

    def _leap(self) -> None:
        self.taken_over = False
        ((so_far,),) = self._link.rows(LEAPS_SO_FAR)
        # The clock may be wrong.
        self.revision = max(so_far, self._highest // LEAP + 2) * LEAP
        self._link.execute(
            "INSERT INTO takeovers VALUES (%s, %s)", (self._before, self.revision + 1)
        )
        self._link.execute(f"UPDATE sequence SET history = {HISTORY}")
        self._link.execute(_CHANGE_TOKEN_MARK)

    def next_revision(self) -> int:
        """Return the revision of the next change."""
        if self.taken_over:
            self._leap()
        self.revision += 1
        return self.revision

    def write(self) -> None:
        """Write the counters back, and announce the newest revision with the commit."""
        if self.revision != self._before:
            self._link.execute(
                "UPDATE sequence SET revision = %s, file_id = %s", (self.revision, self.file_id)
            )
            self._link.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(self.revision)))


def begin_takeover(link: Link, known: int = 0) -> int:
    """Skip to the revisions of the server that writes now, if nobody has written on it yet.

    Until then, nodes could not notice what was lost, and another standby that still has it would
    look newer than the primary. So the deletion of a map that never was is the first change.

    Args:
        link: a connection to the primary.
        known: a revision that was read before. If the primary has not reached it, it lacks changes.

    Returns:
        The revision of the primary.
    """
    link.look()  # all maps would seem to be deleted while a backup is being restored
    query = f"SELECT revision, history = {HISTORY} FROM sequence"
    ((revision, same),) = link.required_rows(query)
    if same and revision >= known:
        return int(revision)
    with link.transaction():
        counters = LockedCounters(link, known)
        if counters.taken_over:
            counters.file_id += 1
            write_deletions(link, counters, {new_id(): counters.file_id})
        return counters.revision


def lock_maps(link: Link, file_ids: Collection[int], strength: str = "UPDATE") -> set[int]:
    """Lock maps in the order of their ids; return those that exist.

    Changes of collections refer to maps without locking the counters. As everybody locks maps in
    this order, including statements that change one map after another, there are no deadlocks.
    """
    rows = link.rows(
        f"SELECT file_id FROM maps WHERE file_id = ANY(%s) ORDER BY file_id FOR {strength}",
        (list(file_ids),),
    )
    return {row[0] for row in rows}


def write_deletions(link: Link, counters: LockedCounters, file_ids: Mapping[str, int]) -> int:
    """Delete maps, given as ``file_id`` by public id; return how many."""
    lock_maps(link, file_ids.values())
    link.execute("DELETE FROM maps WHERE file_id = ANY(%s)", (list(file_ids.values()),))
    with link.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO deleted VALUES (%s, %s, %s)",
            [(file_id, one, counters.next_revision()) for one, file_id in file_ids.items()],
        )
    counters.write()
    return len(file_ids)
