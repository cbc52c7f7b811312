"""Shares a short-lived answer of the store between all workers of a node.

The worker that queries the store writes the answer to a file for the others. So the store gets one
short query at intervals, however many workers and requests there are. This is used for the version
of the tokens (``auth.py``: while it stays the same, cached tokens stay valid), and for the last
withdrawal of a map (``withdrawals.py``).
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.durable import replace_file
from mapshelf.file_lock import locked_file

TURN_AWAITED: Final = 1.0
"""Seconds to wait for another worker's query: the worker may have died, or the store may hang."""

LOOK_INTERVAL: Final = 0.005
"""Seconds between checks whether that query is done."""

NOTE_SIZE: Final = 1024
"""Maximum size of the file in bytes: a time and an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and when (``time.monotonic``) the query started."""

    value: str
    queried_at: float


class SharedAnswer:
    """Caches the answer of a query for a while; all workers of a node share it."""

    def __init__(
        self,
        query: Callable[[], str],
        age: float,
        note: Path,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a shared answer.

        Args:
            query: queries the store.
            age: seconds for which an answer is used.
            note: the file in which the workers share it.
            now: returns the time in seconds.
        """
        self._query = query
        self._age = age
        self._note = note
        self._now = now
        self._lock = note.with_name(f"{note.name}.lock")

    def current(self, age: float | None = None) -> Answer:
        """Return an answer that is still valid, from another worker if one has just queried.

        Args:
            age: maximum age in seconds, if shorter than usual.

        Raises:
            StoreUnavailable: the store cannot be reached.
        """
        impatient = time.monotonic() + TURN_AWAITED
        while True:
            noted = self.noted(age)
            if noted is not None:
                return noted
            with self._turn() as mine:
                if mine or time.monotonic() > impatient:
                    return self.noted(age) or self._query_store()
            time.sleep(LOOK_INTERVAL)

    def _query_store(self) -> Answer:
        """Return a new answer, and write it to the file."""
        # The age counts from before the query, so that a slow answer is not used for longer.
        queried_at = self._now()
        answer = Answer(self._query(), queried_at)
        with suppress(OSError):  # a full disk: then every worker queries on its own
            replace_file(self._note, f"{queried_at} {answer.value}")
        return answer

    def noted(self, age: float | None = None) -> Answer | None:
        """Return an answer that is still valid, ``None`` if the store must be queried.

        This reads a file of a few bytes, so it may run in the event loop.

        Args:
            age: see ``current``.
        """
        try:
            queried_at, value = self._read_note().decode("ascii").split(" ")
            answer = Answer(value, float(queried_at))
        except (OSError, ValueError):
            return None
        # The clock restarts with the machine: a time in the future is from before a reboot.
        passed = self._now() - answer.queried_at
        return answer if 0 <= passed < (self._age if age is None else age) else None

    def _read_note(self) -> bytes:
        """Return the file; a file object would take three times as long, several times a second."""
        descriptor = os.open(self._note, os.O_RDONLY)
        try:
            return os.read(descriptor, NOTE_SIZE)
        finally:
            os.close(descriptor)

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Yield true if no other worker is querying; while in the context, none starts to."""
        with ExitStack() as held:
            try:
                mine = held.enter_context(locked_file(self._lock))
            except OSError:  # the file cannot be opened: then every worker queries
                mine = True
            yield mine
