"""The contract of ``store/contract``, as tests that every backend inherits.

The test file of a backend derives a class from ``StoreContract`` that says where its database is
and how to open it; see ``test_sqlite_contract.py``.
"""

from collections import Counter

from tests.store.contract.accounts import AccountsContract
from tests.store.contract.administration import (
    AccessOfAllContract,
    AuditContract,
    ClosedAccountsContract,
    DecisionsContract,
    ReportsContract,
    UserDataContract,
)
from tests.store.contract.change_feed import ChangeFeedContract
from tests.store.contract.collection_moderation import CollectionModerationContract
from tests.store.contract.concurrency import ConcurrencyContract
from tests.store.contract.copied_files import CopiedFilesContract
from tests.store.contract.credential_check import CredentialCheckContract
from tests.store.contract.figures import FiguresContract
from tests.store.contract.former_contents import FormerContentsContract
from tests.store.contract.former_places import FormerPlacesContract
from tests.store.contract.identities import IdentitiesContract
from tests.store.contract.images import ImagesContract, ReparsingContract
from tests.store.contract.imports import ImportsContract
from tests.store.contract.links import LinksContract
from tests.store.contract.lost_files import LostFilesContract
from tests.store.contract.map_check import MapCheckContract
from tests.store.contract.map_collections import CollectionsContract
from tests.store.contract.map_editing import MapEditingContract, VotingContract
from tests.store.contract.map_writer import MapWriterContract
from tests.store.contract.maps import MapsContract
from tests.store.contract.missing_maps import MissingMapsContract
from tests.store.contract.oauth import DeviceRequestsContract, GrantsContract, ProgramsContract
from tests.store.contract.opening import OpeningContract
from tests.store.contract.passkeys import PasskeysContract
from tests.store.contract.publishing import UploadsContract, VisibilityContract
from tests.store.contract.reserved_names import ReservedNamesContract
from tests.store.contract.saved_searches import SavedSearchesContract
from tests.store.contract.sessions import SessionsContract, SignInFailuresContract
from tests.store.contract.sign_in import InvitationsContract, PasswordsContract
from tests.store.contract.sources import SourcesContract
from tests.store.contract.tags import TagsContract
from tests.store.contract.transfer import TransferContract
from tests.store.contract.visit_counts import VisitCountsContract


class StoreContract(
    OpeningContract,
    ChangeFeedContract,
    MapWriterContract,
    MapsContract,
    ImagesContract,
    LinksContract,
    ReparsingContract,
    SourcesContract,
    MissingMapsContract,
    CopiedFilesContract,
    FormerContentsContract,
    FormerPlacesContract,
    LostFilesContract,
    FiguresContract,
    ImportsContract,
    TagsContract,
    CollectionsContract,
    CollectionModerationContract,
    SavedSearchesContract,
    UploadsContract,
    VisibilityContract,
    MapEditingContract,
    VotingContract,
    AccountsContract,
    PasswordsContract,
    InvitationsContract,
    SessionsContract,
    SignInFailuresContract,
    IdentitiesContract,
    CredentialCheckContract,
    MapCheckContract,
    PasskeysContract,
    ProgramsContract,
    GrantsContract,
    DeviceRequestsContract,
    ReportsContract,
    DecisionsContract,
    AuditContract,
    AccessOfAllContract,
    ClosedAccountsContract,
    ReservedNamesContract,
    UserDataContract,
    ConcurrencyContract,
    VisitCountsContract,
    TransferContract,
):
    """The whole suite. A backend defines ``url`` (of an empty database) and ``connect``."""

    def __init_subclass__(cls) -> None:
        """Refuse parts with equal names: one test would replace the other, and never run.

        Raises:
            TypeError: two parts have a test or fixture of the same name.
        """
        super().__init_subclass__()
        names = Counter(name for part in StoreContract.__bases__ for name in own_names(part))
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise TypeError(f"parts of the contract suite share the names {twice}")


def own_names(part: type) -> list[str]:
    return [name for name in vars(part) if not name.startswith("_")]
