"""Audit log entries that the next transaction of a thread will write.

A change and its audit entry are thus one transaction, and store methods need no parameter for the
acting user.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from mapshelf.model import AuditEntry
from mapshelf.store.audit import write_entry
from mapshelf.store.publishing_queries import Read


class _Pending(threading.local):
    """The pending entries of one thread."""

    entries: tuple[AuditEntry, ...] = ()


class PendingAuditEntries:
    """The pending entries of all threads. Each thread sees only its own."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._pending = _Pending()

    @contextmanager
    def auditing(self, *entries: AuditEntry) -> Iterator[None]:
        """Write ``entries`` with each transaction that this thread commits in the context."""
        self._pending.entries = entries
        try:
            yield
        finally:
            self._pending.entries = ()

    def about(self, target: str) -> None:
        """Set the target of the first entry, if any, once it is known."""
        first, others = self._pending.entries[:1], self._pending.entries[1:]
        self._pending.entries = (*(replace(one, target=target) for one in first), *others)

    def drop(self) -> None:
        """Discard the pending entries, because nothing has changed."""
        self._pending.entries = ()

    def write(self, read: Read) -> None:
        """Write the pending entries; ``read`` runs a statement of the transaction."""
        for entry in self._pending.entries:
            write_entry(read, self._clock(), entry)
