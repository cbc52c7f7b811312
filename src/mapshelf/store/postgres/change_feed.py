"""The change feed in PostgreSQL, read from a standby unless it lags behind."""

import time
from collections.abc import Callable
from typing import Final

from mapshelf.errors import HistoryLost, StoreUnavailable
from mapshelf.model import Change
from mapshelf.store.columns import (
    COUNT_PUBLISHED,
    FROM_MAPS,
    LINEAGE,
    MAP,
    ORIGIN,
    map_of_row,
)
from mapshelf.store.contract.change_feed import MOST_BYTES
from mapshelf.store.postgres.counters import LEAP
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import READ_TIMEOUT, Link, Row
from mapshelf.store.postgres.listening import Listener

CHANGES: Final = (
    # Find the changes in two indexes first, and only then look up their maps.
    "WITH news AS (SELECT revision, file_id FROM maps WHERE revision > %s"
    " UNION ALL SELECT revision, file_id FROM deleted WHERE revision > %s"
    " ORDER BY revision LIMIT %s),"
    # The server knows the sizes of outlines without reading them.
    " sized AS (SELECT revision, file_id, row_number() OVER (ORDER BY revision) AS place,"
    " sum(coalesce((SELECT octet_length(outline) FROM outlines WHERE file_id = news.file_id), 0))"
    " OVER (ORDER BY revision) AS bytes FROM news),"
    " fitting AS (SELECT revision, file_id FROM sized WHERE place = 1 OR bytes <= %s)"
    f" SELECT fitting.revision, fitting.file_id, o.outline, {ORIGIN}, {MAP}"
    f" FROM fitting LEFT JOIN ({FROM_MAPS})"
    " ON m.file_id = fitting.file_id AND m.visibility = 'published'"
    " LEFT JOIN outlines AS o ON o.file_id = m.file_id ORDER BY fitting.revision"
)

WITHDRAWN: Final = (
    "SELECT revision, file_id, id FROM maps WHERE revision > %s AND visibility <> 'published'"
    " UNION ALL SELECT revision, file_id, id FROM deleted WHERE revision > %s"
    " ORDER BY revision LIMIT %s"
)
LAST_WITHDRAWAL: Final = (
    "greatest((SELECT max(revision) FROM deleted),"
    " (SELECT max(revision) FROM maps WHERE visibility <> 'published'), 0)"
)
"""Changes that leave no published map, and the revision of the newest one."""

LAG: Final = 0.5
"""Seconds that a standby may take to show an announced change; then the primary is read."""


class PostgresChangeFeed(DatabaseUser):
    """See ``contract.ChangeFeed``."""

    last_withdrawal_age = 2.0
    written_file = None

    def written_stamp(self) -> None:
        """See ``Store``."""

    def __init__(self, url: str, clock: Callable[[], int]) -> None:
        super().__init__(url, clock)
        self._listener = Listener(url)
        self._seen = -1
        self._has_lost = False

    def close(self) -> None:
        """See ``Store``."""
        self._listener.close()
        super().close()

    def identity(self) -> str:
        """See ``Store``."""
        query = "SELECT identity FROM sequence"
        ((identity,),) = self._connections.read(lambda link: link.required_rows(query))
        return str(identity)

    def lineage(self, revision: int) -> str:
        """See ``Store``."""
        return str(self._newest(LINEAGE.format("%s::bigint"), (revision,))[0][0])

    def revision(self) -> int:
        """See ``Store``.

        A standby is trusted if its revision is not below the last one seen here. Only the primary
        can show that revisions have been lost; then it is told to skip these.
        """
        query = "revision FROM sequence"
        known = max(self._seen, self._listener.announced, self._newest_read.revision)
        (found,), standby = self._connections.ask_nearby(query)
        if standby and (self._seen < 0 or found < self._seen or self._is_late(found)):
            try:
                (found,), standby = self._connections.ask_primary(query), False
            except StoreUnavailable:
                found = max(found, self._seen)
        if not standby and found < known:
            self._listener.announced = found = self._connections.take_over(known)
        self._seen = found
        return int(found)

    def changes(self, after: int, limit: int, most_bytes: int = MOST_BYTES) -> list[Change]:
        """See ``Store``. One statement sees one state of the database."""
        nearby = self._connections.read if self._has_lost else self._connections.read_nearby
        found, standby = self._changes(nearby, after, limit, most_bytes)
        known = max(self._seen, self._listener.announced, self._newest_read.revision)
        if standby and not found and known > after:
            found, _ = self._changes(self._connections.read, after, limit, most_bytes)
        if found:
            self._note(found[-1][0])
        if found and found[0][0] // LEAP != after // LEAP:
            self._check_not_lost(after)
        return [_change(row) for row in found]

    def _check_not_lost(self, revision: int) -> None:
        """Check that a revision was not lost when another server took over.

        If one was, a standby may still have it that does not follow the new primary. So changes are
        read from the primary from then on.

        Raises:
            HistoryLost: it was.
        """
        query = "SELECT 1 FROM takeovers WHERE had < %s AND %s < gave"
        if self._rows(query, (revision, revision)):
            self._has_lost = True
            raise HistoryLost("another server took over, which lacks changes that were read before")

    def wait(self, after: int, seconds: float) -> bool:
        """See ``Store``."""
        return self._seen > after or self._listener.wait(after, seconds)

    def _is_late(self, found: int) -> bool:
        listener = self._listener
        return found < listener.announced and time.monotonic() - listener.heard > LAG

    def _changes(
        self,
        read: Callable[[Callable[[Link], tuple[list[Row], bool]]], tuple[list[Row], bool]],
        after: int,
        limit: int,
        most_bytes: int,
    ) -> tuple[list[Row], bool]:
        """Return changes, fewer if ``limit`` takes too long, and whether from a standby."""
        while True:
            some = limit
            began = time.monotonic()
            try:
                return read(
                    lambda link, some=some: (  # type: ignore[misc]
                        link.rows(CHANGES, (after, after, some, most_bytes)),
                        link.standby,
                    )
                )
            except StoreUnavailable:
                if limit < 2 or time.monotonic() - began < READ_TIMEOUT:
                    raise
                limit = limit // 4 or 1

    def last_withdrawal(self) -> int:
        """See ``Store``. A standby may lag, and is asked only if the primary does not answer."""
        try:
            (revision,) = self._connections.ask_primary(LAST_WITHDRAWAL)
        except StoreUnavailable:
            (revision,), _ = self._connections.ask_nearby(LAST_WITHDRAWAL)
        return int(revision)

    def withdrawn(self, after: int, limit: int) -> list[tuple[int, int, str]]:
        """See ``Store``."""
        rows = self._newest(WITHDRAWN, (after, after, limit))
        if rows:
            self._note(rows[-1][0])
        return [(revision, file_id, public_id) for revision, file_id, public_id in rows]

    def _note(self, revision: int) -> None:
        """Note a revision that was read, or a lagging standby would look like a loss of it."""
        self._seen = max(self._seen, revision)
        self.require_revision(revision)

    def map_count(self) -> int:
        """See ``Store``."""
        ((count,),) = self._rows(COUNT_PUBLISHED)
        return int(count)


def _change(row: Row) -> Change:
    revision, file_id, outline, source, modified, *columns = row
    if columns[0] is None:
        return Change(revision, file_id, None, None)
    return Change(revision, file_id, map_of_row(columns), outline, source, modified)
