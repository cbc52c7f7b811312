"""What ``store/contract`` promises, as tests that every backend inherits.

A backend's own test file derives from ``StoreContract`` and says where its database is and how
it is opened; see ``test_sqlite_contract.py``.
"""

from tests.store.contract.accounts import AccountsContract
from tests.store.contract.change_feed import ChangeFeedContract
from tests.store.contract.concurrency import ConcurrencyContract
from tests.store.contract.images import ImagesContract, RenewalContract
from tests.store.contract.links import LinksContract
from tests.store.contract.map_writer import MapWriterContract
from tests.store.contract.maps import MapsContract
from tests.store.contract.opening import OpeningContract
from tests.store.contract.sources import SourcesContract
from tests.store.contract.transfer import TransferContract
from tests.store.contract.visit_counts import VisitCountsContract


class StoreContract(
    OpeningContract,
    ChangeFeedContract,
    MapWriterContract,
    MapsContract,
    ImagesContract,
    LinksContract,
    RenewalContract,
    SourcesContract,
    AccountsContract,
    ConcurrencyContract,
    VisitCountsContract,
    TransferContract,
):
    """The whole suite. A backend gives ``url`` (an untouched database) and ``connect``."""
