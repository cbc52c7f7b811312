"""The objects that operations and pages share, created when the service starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from mapshelf.api.bodies import Bodies
from mapshelf.api.browser_sessions import BrowserSessions
from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.api.documents import Documents
from mapshelf.api.exports import Exports
from mapshelf.api.former_outlines import FormerOutlines
from mapshelf.api.http import Request
from mapshelf.api.map_finder import MapFinder
from mapshelf.api.node_health import NodeHealth
from mapshelf.api.owners import Owners
from mapshelf.api.proxy_user import ProxyUser
from mapshelf.api.queues import Queues
from mapshelf.api.store_connection import StoreConnection
from mapshelf.api.upload_reader import PatientReader
from mapshelf.client_address import Network, Sender, client_address
from mapshelf.disk_cache import DiskCache
from mapshelf.disk_space import Reserve
from mapshelf.model import VisitKind
from mapshelf.render.formula_worker import FormulaWorker
from mapshelf.render.image_worker import ImageWorker
from mapshelf.render.render_worker import RenderWorker
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store import Store
from mapshelf.visits import VisitCounter

THUMBNAILS_SIZE: Final = 1 << 30
"""Maximum disk space for thumbnails, and for pictures and formulas in topics, in bytes: about a
hundred thousand pictures of 320 pixels."""

THUMBNAILS_FOLDERS: Final = 64
"""Folders that they are distributed over: each has room for the largest, a picture of 10 MB."""

DOCUMENTS_SIZE: Final = 1 << 30
"""Maximum disk space for large documents, in bytes: about a hundred documents."""

LEFT_FREE: Final = Reserve(1536 << 20, 0.15)
"""What documents leave free on the disk, for the store and for exports, which leave less."""

LEFT_FREE_BY_THUMBNAILS: Final = Reserve(64 << 20, 0.1)
"""What thumbnails leave free. They are more useful, and smaller. Other caches remove them only if
everything else is not enough."""

DOCUMENTS_FOLDERS: Final = 4
"""Folders that large documents are distributed over: each has room for many of the largest."""


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a running service.

    Attributes:
        settings: the settings of the installation.
        base_url: the public address of the service.
        snapshot: the current snapshot, with the responses made from it.
        store: the connection to the store.
        map_finder: finds maps that are not in the snapshot.
        sessions: finds the signed-in user of a request.
        owners: finds whose work a request causes.
        bodies: receives request bodies.
        queues: the queues for work that is too slow for the event loop.
        documents: makes the pages and files of large maps.
        small_drawings: makes complete drawings of small maps.
        exports: keeps zips while they are sent.
        render_worker: draws thumbnails.
        image_worker: converts the pictures in topics.
        formula_worker: renders the formulas of small maps.
        upload_reader: parses uploaded files.
        former_outlines: parses the files of former versions, and keeps their outlines.
        visits: counts visits.
        health: the health of this node.
        preparations: functions to run before the first request, because running them later would
            delay other requests.
    """

    settings: Settings
    base_url: bytes
    snapshot: CurrentSnapshot
    store: StoreConnection
    map_finder: MapFinder
    sessions: BrowserSessions
    owners: Owners
    bodies: Bodies
    queues: Queues
    documents: Documents
    small_drawings: Documents
    exports: Exports
    render_worker: RenderWorker
    image_worker: ImageWorker
    formula_worker: FormulaWorker
    upload_reader: PatientReader
    former_outlines: FormerOutlines
    visits: VisitCounter
    health: NodeHealth
    preparations: list[Callable[[], None]] = field(default_factory=list)

    def prepare(self) -> None:
        """Do what would delay the first requests, such as loading what they need."""
        for prepare in (self.documents.prepare, *self.preparations):
            prepare()

    def store_for(self, request: Request) -> Store:
        """Return the store for what a request changes: only as long as its credential is valid.

        Raises:
            StoreUnavailable: the store has not been opened yet.
        """
        return self.store.get().acting_as(request.credential)

    def note_visit(self, request: Request, file_id: int, kind: VisitKind) -> None:
        """Count a visit: a page or a file of the map with this ``file_id`` is being sent."""
        if request.method == "GET":
            self.visits.note(request.sender, file_id, kind)


def make_context(settings: Settings, clock: Callable[[], int], *, counting: bool) -> Context:
    """Return the parts of a service that has not been started.

    Args:
        settings: the settings of the installation.
        clock: the clock for counting visits, in milliseconds since 1970-01-01 UTC.
        counting: whether to count visits.
    """
    snapshot = CurrentSnapshot(SnapshotDirectory(settings.snapshots))
    store = StoreConnection(settings.database, snapshot.revision)
    proxy_user = ProxyUser(settings.proxy_user, settings.trusted_proxies)
    sessions = BrowserSessions(settings.base_url, store, proxy_user)
    address = partial(address_of, settings.trusted_proxies)
    queues = Queues()
    caches: list[DiskCache] = []
    exports = Exports(settings.exports, caches)
    documents = DiskCache(
        settings.documents, DOCUMENTS_SIZE, DOCUMENTS_FOLDERS, left_free=LEFT_FREE, others=caches
    )
    thumbnails = DiskCache(
        settings.thumbnails, THUMBNAILS_SIZE, THUMBNAILS_FOLDERS, left_free=LEFT_FREE_BY_THUMBNAILS
    )
    caches += documents, thumbnails
    long_turn = partial(documents.turn, "long")
    return Context(
        settings=settings,
        base_url=settings.base_url.encode(),
        snapshot=snapshot,
        store=store,
        map_finder=MapFinder(store.get, queues.lookups),
        sessions=sessions,
        owners=Owners(sessions, address),
        bodies=Bodies(settings.data, address),
        queues=queues,
        documents=Documents(documents, queues.documents, documents.turn, long_turn),
        # Most take a fraction of a second: they do not wait for large documents.
        small_drawings=Documents(documents, queues.map_drawings, long_turn=long_turn),
        exports=exports,
        # Large documents and drawings of large maps take turns on a node: together they would
        # occupy a small machine.
        render_worker=RenderWorker(
            thumbnails, documents.turn, partial(documents.turn, "long drawings")
        ),
        image_worker=ImageWorker(thumbnails),
        formula_worker=FormulaWorker(thumbnails),
        upload_reader=PatientReader(),
        former_outlines=FormerOutlines(documents, queues.former_versions),
        visits=VisitCounter(store.get, settings.trusted_proxies, clock, counting=counting),
        health=NodeHealth(snapshot, settings, store),
        preparations=[thumbnails.remove_unused_folders],
    )


def address_of(trusted: Sequence[Network], sender: Sender) -> str:
    """Return the client address of a request behind these proxies."""
    return client_address(sender.address(), sender.header(b"x-forwarded-for"), trusted)
