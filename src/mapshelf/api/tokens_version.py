"""The version of the tokens in the store, read once for all workers of a node.

As long as the version stays the same, earlier answers of the store about tokens hold. The worker
that reads it writes it to a file for the others. So the store gets one short query from time to
time, however many workers, requests and tokens there are.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.store.contract import Credentials

TURN_AWAITED: Final = 1.0
"""Seconds to wait for another worker that asks: it may have stopped, and the store may hang."""

LOOK_INTERVAL: Final = 0.005
"""Seconds between looks at whether it is done."""


@dataclass(frozen=True, slots=True)
class TokensVersion:
    """The version of the tokens, and when (``time.monotonic``) the store was asked for it."""

    value: str
    asked: float


class SharedTokensVersion:
    """Gives the version of the tokens in ``store``; the workers share it in the file ``note``."""

    def __init__(self, store: Credentials, note: Path) -> None:
        self._store = store
        self._note = note
        self._lock = note.with_name(f"{note.name}.lock")

    def current(self) -> TokensVersion:
        """Return a version that still holds, from another worker if one has just asked.

        Raises:
            StoreUnavailable: the store cannot be reached.
        """
        impatient = time.monotonic() + TURN_AWAITED
        while True:
            noted = self._noted()
            if noted is not None:
                return noted
            with self._turn() as mine:
                if mine or time.monotonic() > impatient:
                    return self._noted() or self._asked()
            time.sleep(LOOK_INTERVAL)

    def _asked(self) -> TokensVersion:
        # Counted from before the question, so that a slow answer is not relied on for longer.
        asked = time.monotonic()
        version = TokensVersion(self._store.tokens_version(), asked)
        with suppress(OSError):  # a full disk: then every worker asks for itself
            fresh = self._note.with_name(f"{self._note.name}.new")
            fresh.write_text(f"{asked} {version.value}", "ascii")
            fresh.replace(self._note)
        return version

    def _noted(self) -> TokensVersion | None:
        try:
            asked, value = self._note.read_text("ascii").split(" ")
            version = TokensVersion(value, float(asked))
        except (OSError, ValueError):
            return None
        # The clock begins anew with the machine: a note from the future is one from before.
        age = time.monotonic() - version.asked
        return version if 0 <= age < self._store.tokens_version_age else None

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
