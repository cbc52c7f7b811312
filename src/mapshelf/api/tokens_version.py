"""The mark of the store's tokens, asked for once by all workers of a node.

As long as the mark stays the same, so does what the store said of any token. A worker that asks
leaves the answer in a file for the others: so the store sees one short question every now and
then, however many workers there are, requests they answer and tokens these carry.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.store import Store

TURN: Final = 1.0
"""Seconds to wait for another worker that asks: it may have stopped, and the store may hang."""

PAUSE: Final = 0.005
"""Seconds between looks at whether it is done."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The mark of the tokens, and when (``time.monotonic``) the store was asked for it."""

    mark: str
    asked: float


class Standings:
    """Gives the mark of the tokens in ``store``; ``note`` is the file that the workers share."""

    def __init__(self, store: Store, note: Path) -> None:
        self._store = store
        self._note = note
        self._lock = note.with_name(f"{note.name}.lock")

    def current(self) -> Standing:
        """Return a mark that may be relied on still, from another worker if one has just asked.

        Raises:
            StoreUnavailable: the store cannot tell.
        """
        impatient = time.monotonic() + TURN
        while True:
            noted = self._noted()
            if noted is not None:
                return noted
            with self._turn() as mine:
                if mine or time.monotonic() > impatient:
                    return self._noted() or self._asked()
            time.sleep(PAUSE)

    def _asked(self) -> Standing:
        # Counted from before the question, so that a slow answer is not relied on for longer.
        asked = time.monotonic()
        standing = Standing(self._store.token_mark(), asked)
        with suppress(OSError):  # a full disk: then every worker asks for itself
            fresh = self._note.with_name(f"{self._note.name}.new")
            fresh.write_text(f"{asked} {standing.mark}", "ascii")
            fresh.replace(self._note)
        return standing

    def _noted(self) -> Standing | None:
        try:
            asked, mark = self._note.read_text("ascii").split(" ")
            standing = Standing(mark, float(asked))
        except (OSError, ValueError):
            return None
        # The clock begins anew with the machine: a note from the future is one from before.
        return standing if 0 <= time.monotonic() - standing.asked < self._store.mark_age else None

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Tell whether no other worker is asking; none begins to while in the context."""
        try:
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # then nobody can tell, and every worker asks
            yield True
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = True
        except BlockingIOError:
            mine = False
        except OSError:  # a file system without locks
            mine = True
        try:
            yield mine
        finally:
            os.close(lock)
