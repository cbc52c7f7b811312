"""The note that a transfer leaves in both catalogues, and the statements for it in both databases.

By it the next transfer tells whether its target has been used since. Revisions tell this of maps
only: accounts, tokens and collections have none.
"""

import json
from dataclasses import asdict
from typing import Final

from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import TransferNote

MOST_KNOWN: Final = 1000
"""Transfers that a note remembers, the newest."""


class TransferNoteMethods(SharedMethods):
    """See ``contract.CatalogueRows``."""

    def transfer_note(self) -> TransferNote | None:
        """See ``Store``."""
        rows = self._read("SELECT note FROM last_transfer", ())
        return _parsed(rows[0][0]) if rows else None

    def note_transfer(self, note: TransferNote) -> None:
        """See ``Store``."""
        kept = {**asdict(note), "known": note.known[-MOST_KNOWN:]}
        with self._adding() as database:
            database.execute(
                "INSERT INTO last_transfer VALUES (1, ?)"
                " ON CONFLICT (id) DO UPDATE SET note = excluded.note",
                (json.dumps(kept),),
            )

    def audit_position(self) -> tuple[int, int]:
        """See ``Store``."""
        ((number, last),) = self._read(
            "SELECT coalesce(max(id), 0), coalesce(max(last), 0) FROM audit", ()
        )
        return number, last


def _parsed(text: str) -> TransferNote:
    note = json.loads(text)
    contents, begun_at = note["contents"], note["begun_at"]
    return TransferNote(
        tuple(note["known"]),
        note["number"],
        note["revision"],
        note["mark"],
        contents and {name: (tuple(of), digest) for name, (of, digest) in contents.items()},
        begun_at and (begun_at[0], begun_at[1]),
    )
