"""An answer of the store that all workers of a node rely on for a moment, asked for once.

The worker that asks writes the answer to a file for the others. So the store gets one short query
from time to time, however many workers and requests there are. Two things are asked for like this:
the version of the tokens (``auth.py``: as long as it stays the same, earlier answers about tokens
hold), and which change withdrew a map last (``withdrawals.py``).
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TURN_AWAITED: Final = 1.0
"""Seconds to wait for another worker that asks: it may have stopped, and the store may hang."""

LOOK_INTERVAL: Final = 0.005
"""Seconds between looks at whether it is done."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and when (``time.monotonic``) the store was asked for it."""

    value: str
    asked: float


class SharedAnswer:
    """Gives what ``ask`` returns; the workers share it in the file ``note`` for ``age`` seconds."""

    def __init__(self, ask: Callable[[], str], age: float, note: Path) -> None:
        self._ask = ask
        self._age = age
        self._note = note
        self._lock = note.with_name(f"{note.name}.lock")

    def current(self, age: float | None = None) -> Answer:
        """Return an answer that still holds, from another worker if one has just asked.

        Args:
            age: seconds that it may be old, if that is to be less than usual.

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
                    return self.noted(age) or self._asked()
            time.sleep(LOOK_INTERVAL)

    def _asked(self) -> Answer:
        # Counted from before the question, so that a slow answer is not relied on for longer.
        asked = time.monotonic()
        answer = Answer(self._ask(), asked)
        with suppress(OSError):  # a full disk: then every worker asks for itself
            fresh = self._note.with_name(f"{self._note.name}.new")
            fresh.write_text(f"{asked} {answer.value}", "ascii")
            fresh.replace(self._note)
        return answer

    def noted(self, age: float | None = None) -> Answer | None:
        """Return an answer that still holds, ``None`` if the store has to be asked.

        This reads a file of a few bytes, and may be done in the event loop.

        Args:
            age: see ``current``.
        """
        try:
            asked, value = self._note.read_text("ascii").split(" ")
            answer = Answer(value, float(asked))
        except (OSError, ValueError):
            return None
        # The clock begins anew with the machine: a note from the future is one from before.
        passed = time.monotonic() - answer.asked
        return answer if 0 <= passed < (self._age if age is None else age) else None

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Yield whether no other worker is asking; none begins to while in the context."""
        try:
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # then every worker asks
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
