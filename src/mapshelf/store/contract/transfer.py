"""Raw access to table rows, for transferring a catalogue from one store to another."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from mapshelf.store.tables import CatalogueCounters, Row, Table, TransferNote


class CatalogueRows(Protocol):
    """Reads and writes the rows of ``store.tables``, for ``store.transfer``."""

    def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """Return up to ``limit`` rows with a key above ``after``, in ascending order of the key.

        ``after`` is a key from ``Table.key_of``, or ``None`` to start. Tables, columns and types
        are the same in every store: text, bytes, integers (also for booleans) and ``None``.
        """

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """Return the rows that belong to these maps, in ascending order of the key."""

    def sizes_of(self, file_ids: Sequence[int]) -> dict[int, int]:
        """Return the bytes of the files, versions, pictures and outlines of these maps, if any."""

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """Write rows unchanged, in one transaction. Rows with the same key are replaced.

        There must be no other writers. If ``rows`` contains a map or its deletion, the existing
        outline, links, file, sources and pictures of the map are deleted; ``rows`` must contain the
        new ones.
        """

    def delete_rows(self, table: Table, keys: Sequence[Row]) -> None:
        """Delete the rows with these keys, and the rows that refer to them, in one transaction.

        Only for tables whose rows can be deleted together with everything that refers to them.
        There must be no other writers.
        """

    def end_uncopied_access(self) -> None:
        """End, for everybody, the access that is not among the rows of ``store.tables``.

        That is sessions, authorizations of programs with all their tokens, links that work once,
        and what sign-ins and programs have begun. MUST be quick if there is nothing of it. This may
        take many transactions; there must be no other writers.
        """

    def catalogue_counters(self) -> CatalogueCounters:
        """Return the identity of the catalogue and the last numbers it allocated."""

    def transfer_note(self) -> TransferNote | None:
        """Return the note that the last transfer left here, ``None`` if there was none."""

    def note_transfer(self, note: TransferNote) -> None:
        """Replace the note. Of ``known``, a thousand are kept, the newest."""

    def audit_position(self) -> tuple[int, int]:
        """Return the highest id in the audit log, and when its latest event happened.

        Both are 0 if it is empty. The time is in milliseconds, as in ``AuditRecord``.
        """
