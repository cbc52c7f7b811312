"""The store on PostgreSQL: one database for any number of nodes.

Writers are serialized: each transaction begins by locking the row of counters. That costs little
compared with the write itself. Revisions thus become visible in order, which the change feed needs
and sequences do not guarantee. It also lets a batch read and then write without other writers in
between, as in SQLite. Changes to users and tokens do not take this lock, so that a revocation does
not wait for an import.

Each part of the contract is a class in a module of its own.
"""

from collections.abc import Callable

from mapshelf.clock import milliseconds
from mapshelf.store.postgres.accounts import PostgresAccounts
from mapshelf.store.postgres.change_feed import PostgresChangeFeed
from mapshelf.store.postgres.device_requests import PostgresDeviceRequests
from mapshelf.store.postgres.grants import PostgresGrants
from mapshelf.store.postgres.identities import PostgresIdentities
from mapshelf.store.postgres.integrity import faults
from mapshelf.store.postgres.links import PostgresLinks
from mapshelf.store.postgres.maps import PostgresMaps
from mapshelf.store.postgres.oauth_programs import PostgresPrograms
from mapshelf.store.postgres.passkeys import PostgresPasskeys
from mapshelf.store.postgres.passwords import PostgresPasswords
from mapshelf.store.postgres.publishing import PostgresPublishing
from mapshelf.store.postgres.reparsing import PostgresReparsableOutlines
from mapshelf.store.postgres.schema import prepare
from mapshelf.store.postgres.sessions import PostgresSessions
from mapshelf.store.postgres.sign_in_failures import PostgresSignInFailures
from mapshelf.store.postgres.sources import PostgresSources
from mapshelf.store.postgres.transfer import PostgresCatalogueRows
from mapshelf.store.postgres.visit_counts import PostgresVisitCounts


class PostgresStore(
    PostgresChangeFeed,
    PostgresMaps,
    PostgresLinks,
    PostgresSources,
    PostgresReparsableOutlines,
    PostgresAccounts,
    PostgresPublishing,
    PostgresPasswords,
    PostgresSessions,
    PostgresSignInFailures,
    PostgresIdentities,
    PostgresPasskeys,
    PostgresPrograms,
    PostgresGrants,
    PostgresDeviceRequests,
    PostgresVisitCounts,
    PostgresCatalogueRows,
):
    """A ``Store`` in the PostgreSQL database at ``url``, created if missing and ``create`` is set.

    The database itself must exist; the catalogue is a schema in it.

    Raises:
        InvalidSetting: libpq does not understand the URL.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: no server can be reached.
        StoreDamaged: the schema is not a catalogue, or one of a newer or a development version.
    """

    def __init__(
        self, url: str, clock: Callable[[], int] = milliseconds, *, create: bool = True
    ) -> None:
        prepare(url, clock(), create=create)
        super().__init__(url, clock)

    def check(self) -> list[str]:
        """See ``Store``."""
        return self._connections.read(faults)
