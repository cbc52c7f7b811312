"""What the databases that Mapshelf is compared with are asked, and what they answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from benchmarks.peers.searchtext import QueryTerm

THREADS: Final = 8
"""Connections to the database: as many as clients ask at once here."""

TIME_LIMIT: Final = 10
"""Seconds after which a search is given up."""

ORDERS: Final = {
    "title": "m.title, m.file_id",
    "date_added": "m.date_added desc, m.file_id desc",
    "downloads": "m.downloads desc, m.file_id desc",
    "views": "m.views desc, m.file_id desc",
}
"""The columns that maps can be ordered by, and how."""


class TooSlow(Exception):
    """The database gave up."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a database.

    Attributes:
        parts: what to search for, nothing to list.
        category: id of the category to stay in.
        column: the column to order by, ``None`` for relevance.
        limit: most maps to return.
        offset: maps to skip.
    """

    parts: Sequence[QueryTerm]
    category: int | None
    column: str | None
    limit: int
    offset: int

    @property
    def order(self) -> str | None:
        """What stands after ``order by``, ``None`` for relevance."""
        return ORDERS[self.column] if self.column else None


Answer = tuple[int, list[tuple[Any, ...]]]
"""How many maps match, and the rows of those on the page."""


class Database(Protocol):
    """Where the maps are."""

    def answer(self, request: Request) -> Answer:
        """Answer a request.

        Raises:
            TooSlow: it took longer than ``TIME_LIMIT``.
        """

    def corrected(self, parts: Sequence[QueryTerm]) -> Sequence[QueryTerm]:
        """Return ``parts`` with the nearest known word for each that occurs nowhere."""
