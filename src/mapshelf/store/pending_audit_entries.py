"""What is to be noted in the audit log with the next transaction of a thread.

So a change and its note are one transaction, and no method of a store has to take who asks for it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from mapshelf.model import AuditEntry
from mapshelf.store.audit import write_entry
from mapshelf.store.publishing_queries import Read


class _Pending(threading.local):
    """The entries of a thread."""

    entries: tuple[AuditEntry, ...] = ()


class PendingAuditEntries:
    """The entries that threads are about to write. Each thread sees its own."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._pending = _Pending()

    @contextmanager
    def auditing(self, *entries: AuditEntry) -> Iterator[None]:
        """Have the next transaction of this thread note these, until the end of the context."""
        self._pending.entries = entries
        try:
            yield
        finally:
            self._pending.entries = ()

    def about(self, target: str) -> None:
        """Complete the first entry, if there is one: the target is known only now."""
        first, others = self._pending.entries[:1], self._pending.entries[1:]
        self._pending.entries = (*(replace(one, target=target) for one in first), *others)

    def drop(self) -> None:
        """Note nothing: nothing has changed."""
        self._pending.entries = ()

    def write(self, read: Read) -> None:
        """Note the entries, if there are any; ``read`` runs a statement of the transaction."""
        for entry in self._pending.entries:
            write_entry(read, self._clock(), entry)
