"""The interface of the databases behind the FastAPI service."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from benchmarks.peers.searchtext import QueryTerm

THREADS: Final = 8
"""Connections to the database: one for each concurrent client."""

TIME_LIMIT: Final = 10
"""Timeout of a search in seconds."""

ORDERS: Final = {
    "title": "m.title, m.file_id",
    "date_added": "m.date_added desc, m.file_id desc",
    "downloads": "m.downloads desc, m.file_id desc",
    "views": "m.views desc, m.file_id desc",
}
"""The columns to order maps by, and the SQL for each."""


class TooSlow(Exception):
    """A search exceeded the time limit."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a database.

    Attributes:
        parts: terms to search for; empty for a list of all maps.
        category: id of a category to filter by.
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
        """The SQL after ``order by``, ``None`` for relevance."""
        return ORDERS[self.column] if self.column else None


Answer = tuple[int, list[tuple[Any, ...]]]
"""The number of matches, and the rows of the page."""


class Database(Protocol):
    """A database of maps."""

    def answer(self, request: Request) -> Answer:
        """Return the response to a request.

        Raises:
            TooSlow: it took longer than ``TIME_LIMIT``.
        """

    def corrected(self, parts: Sequence[QueryTerm]) -> Sequence[QueryTerm]:
        """Return ``parts``; replace each unknown word by the most similar known one."""
