"""The store contract: the protocols that every database backend implements.

There are two implementations: SQLite for one machine, PostgreSQL for several. Both pass the same
test suite in ``tests/store/contract``. MUST is used as in RFC 2119: the layers above rely on it.

Each protocol covers one subject, for code that needs only that. ``Store`` combines all of them, for
code that opens and closes a store.

All times are milliseconds since 1970-01-01 UTC. Any method may raise ``StoreUnavailable`` (busy,
unreachable, disk full: a later call may succeed) or ``StoreDamaged``; a failed write MUST NOT leave
anything behind. A completed write MUST survive a crash of the process and, on sound hardware, a
power failure. Stores are thread-safe.
"""

from typing import Protocol, Self

from mapshelf.model import Credential
from mapshelf.store.contract.accounts import Accounts, Credentials
from mapshelf.store.contract.administration import (
    Administration,
    AuditLog,
    ClosedAccounts,
    Moderation,
    UserData,
)
from mapshelf.store.contract.change_feed import ChangeFeed
from mapshelf.store.contract.figures import StoreFigures
from mapshelf.store.contract.identities import Identities
from mapshelf.store.contract.imports import Imports
from mapshelf.store.contract.links import Links
from mapshelf.store.contract.map_collections import (
    CollectionEditing,
    Collections,
    ReadCollections,
)
from mapshelf.store.contract.maps import Maps, MapWriter
from mapshelf.store.contract.oauth import (
    DeviceRequests,
    Grants,
    Programs,
    RegisteredPrograms,
)
from mapshelf.store.contract.passkeys import Passkeys
from mapshelf.store.contract.publishing import (
    CheckMap,
    MapEditing,
    MapsOfPeople,
    Publishing,
    Uploads,
    Voting,
)
from mapshelf.store.contract.reparsing import ReparsableOutlines
from mapshelf.store.contract.saved_searches import SavedSearches
from mapshelf.store.contract.sign_in import Passwords, Sessions, SignIn, SignInFailures
from mapshelf.store.contract.sources import Sources
from mapshelf.store.contract.tags import Tags
from mapshelf.store.contract.transfer import CatalogueRows
from mapshelf.store.contract.visit_counts import VisitCounts

__all__ = [
    "Accounts",
    "Administration",
    "AuditLog",
    "CatalogueRows",
    "ChangeFeed",
    "ClosedAccounts",
    "CollectionEditing",
    "Collections",
    "Credentials",
    "DeviceRequests",
    "Grants",
    "Identities",
    "Imports",
    "Links",
    "MapEditing",
    "MapWriter",
    "Maps",
    "MapsOfPeople",
    "Moderation",
    "Passkeys",
    "Passwords",
    "Programs",
    "Publishing",
    "ReadCollections",
    "RegisteredPrograms",
    "ReparsableOutlines",
    "SavedSearches",
    "Sessions",
    "SignIn",
    "SignInFailures",
    "Sources",
    "Store",
    "StoreFigures",
    "Tags",
    "Uploads",
    "UserData",
    "VisitCounts",
    "Voting",
]


class Store(
    ChangeFeed,
    Maps,
    MapWriter,
    Links,
    Publishing,
    Collections,
    SavedSearches,
    Sources,
    Imports,
    StoreFigures,
    Tags,
    ReparsableOutlines,
    Accounts,
    Credentials,
    SignIn,
    Identities,
    Passkeys,
    Programs,
    Administration,
    VisitCounts,
    CatalogueRows,
    Protocol,
):
    """The store of one catalogue. ``open_store`` creates it and migrates the database."""

    def acting_as(self, credential: Credential | None) -> Self:
        """Return this store for the work of a request that was authorised by ``credential``.

        Its writes MUST fail with ``InvalidToken`` if, when they take effect, the credential is no
        longer valid or its user is no longer an administrator. Whatever ends it later MUST find
        what they wrote. ``None`` removes the check again. Only the original store can be closed.
        """

    def acting_on(self, file_id: int, check: CheckMap) -> Self:
        """Return this store for a change of a map, as long as ``check`` permits it.

        Each method of ``Publishing`` and ``Moderation`` that writes MUST call ``check`` before, in
        its transaction: with the map as nobody else can change it until the end, ``None`` if there
        is none or it is removed. Its exceptions propagate, and nothing is written.
        """

    def close(self) -> None:
        """Release the database. MUST be callable twice."""

    def check(self) -> list[str]:
        """Check the database; return one line for each fault found."""
