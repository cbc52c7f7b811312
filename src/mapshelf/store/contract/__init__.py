"""What every store promises: the one place of truth about maps, users and tokens.

Two databases implement this: SQLite for one machine, PostgreSQL for several. Both pass the same
suite in ``tests/store/contract``. MUST is meant as in RFC 2119: the layers above rely on it.

Each protocol here is one subject, for the code that needs only that. ``Store`` is all of them, for
whoever opens and closes one.

All times are milliseconds since 1970-01-01 UTC. Any method may raise ``StoreUnavailable`` (busy,
unreachable, disk full: the call may work later) or ``StoreDamaged``; then no part of a write MUST
be left behind. A write that has returned MUST survive the death of the process, and on sound
hardware the loss of power. A store may be used from several threads at once.
"""

from typing import Protocol

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
    """The store of one catalogue. ``open_store`` makes it, and migrates the database."""

    def close(self) -> None:
        """Release the database. MUST be callable twice."""

    def check(self) -> list[str]:
        """Return a line for every fault found in the database, none if it is sound."""
