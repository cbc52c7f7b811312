"""The store on SQLite: one file, one machine, nothing to operate.

The wheel of ``apsw`` bundles a current SQLite: versions before 3.51.3 can corrupt a WAL database if
two connections write and checkpoint at the same time. WAL lets readers continue while one
connection writes. With ``synchronous=FULL``, an acknowledged write survives a power failure.

Each part of the contract is a class in a module of its own. They share one ``Database``.
"""

from collections.abc import Callable
from pathlib import Path

from mapshelf.clock import milliseconds
from mapshelf.store.sqlite.accounts import SQLiteAccounts
from mapshelf.store.sqlite.change_feed import SQLiteChangeFeed
from mapshelf.store.sqlite.database import Database
from mapshelf.store.sqlite.device_requests import SQLiteDeviceRequests
from mapshelf.store.sqlite.grants import SQLiteGrants
from mapshelf.store.sqlite.identities import SQLiteIdentities
from mapshelf.store.sqlite.links import SQLiteLinks
from mapshelf.store.sqlite.maps import SQLiteMaps
from mapshelf.store.sqlite.oauth_programs import SQLitePrograms
from mapshelf.store.sqlite.passkeys import SQLitePasskeys
from mapshelf.store.sqlite.passwords import SQLitePasswords
from mapshelf.store.sqlite.publishing import SQLitePublishing
from mapshelf.store.sqlite.reparsing import SQLiteReparsableOutlines
from mapshelf.store.sqlite.schema_check import schema_faults
from mapshelf.store.sqlite.sessions import SQLiteSessions
from mapshelf.store.sqlite.sign_in_failures import SQLiteSignInFailures
from mapshelf.store.sqlite.sources import SQLiteSources
from mapshelf.store.sqlite.transfer import SQLiteCatalogueRows
from mapshelf.store.sqlite.visit_counts import SQLiteVisitCounts


class SQLiteStore(
    SQLiteChangeFeed,
    SQLiteMaps,
    SQLiteLinks,
    SQLiteSources,
    SQLiteReparsableOutlines,
    SQLiteAccounts,
    SQLitePublishing,
    SQLitePasswords,
    SQLiteSessions,
    SQLiteSignInFailures,
    SQLiteIdentities,
    SQLitePasskeys,
    SQLitePrograms,
    SQLiteGrants,
    SQLiteDeviceRequests,
    SQLiteVisitCounts,
    SQLiteCatalogueRows,
):
    """A ``Store`` in the SQLite database at ``path``, created if missing and ``create`` is set.

    Opening a catalogue that is up to date writes nothing: it works while another process writes,
    and on a full disk.

    Raises:
        InvalidSetting: the SQLite library is too old to be trusted with a WAL database.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: the file cannot be opened.
        StoreDamaged: the file is not a catalogue, or one of a newer or a development version.
    """

    def __init__(
        self, path: Path, clock: Callable[[], int] = milliseconds, *, create: bool = True
    ) -> None:
        super().__init__(Database(path, clock, create=create), clock)

    def close(self) -> None:
        """See ``Store``."""
        self._database.close()

    def check(self) -> list[str]:
        """See ``Store``."""
        rows = self._database.rows("PRAGMA integrity_check")
        faults = [str(row[0]) for row in rows if row[0] != "ok"]
        for table, row_id, parent, _ in self._database.rows("PRAGMA foreign_key_check"):
            faults.append(f"row {row_id} of {table} refers to a row of {parent} that is not there")
        with self._database.reading() as database:
            faults += [f"the database is not sound: {fault}" for fault in schema_faults(database)]
        return faults
