"""What is to be noted in the audit log with the next transaction of a thread.

So a change and its note are one transaction, and no method of a store has to take who asks for it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from mapshelf.model import AuditEntry
from mapshelf.store.audit import write_entry
from mapshelf.store.published import Read


class _Pending(threading.local):
    """The entry of a thread, if it has one."""

    entry: AuditEntry | None = None


class PendingNotes:
    """The entries that threads are about to write. Each thread sees its own."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._pending = _Pending()

    @contextmanager
    def noting(self, entry: AuditEntry) -> Iterator[None]:
        """Have the next transaction of this thread note ``entry``, until the end of the context."""
        self._pending.entry = entry
        try:
            yield
        finally:
            self._pending.entry = None

    def about(self, target: str) -> None:
        """Complete the entry: the target is known only now."""
        if self._pending.entry is not None:
            self._pending.entry = replace(self._pending.entry, target=target)

    def drop(self) -> None:
        """Note nothing: nothing has changed."""
        self._pending.entry = None

    def write(self, read: Read) -> None:
        """Note the entry, if there is one; ``read`` runs a statement of the transaction."""
        if self._pending.entry is not None:
            write_entry(read, self._clock(), self._pending.entry)
