"""The objects that operations and pages share, created when the service starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from mapshelf.api.bodies import Bodies
from mapshelf.api.browser_sessions import BrowserSessions
from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.api.documents import Documents
from mapshelf.api.http import Request
from mapshelf.api.map_finder import MapFinder
from mapshelf.api.node_health import NodeHealth
from mapshelf.api.proxy_user import ProxyUser
from mapshelf.api.queues import Queues
from mapshelf.api.store_connection import StoreConnection
from mapshelf.api.upload_reader import UploadReader
from mapshelf.client_address import Network, Sender, client_address
from mapshelf.disk_cache import DiskCache
from mapshelf.model import VisitKind
from mapshelf.render.formula_worker import FormulaWorker
from mapshelf.render.image_worker import ImageWorker
from mapshelf.render.render_worker import RenderWorker
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.visits import VisitCounter

THUMBNAILS_SIZE: Final = 1 << 30
"""Maximum of bytes of thumbnails, and of pictures and formulas in topics, on disk: about a hundred
thousand of 320 pixels."""

DOCUMENTS_SIZE: Final = 1 << 30
"""Maximum of bytes of large documents on disk: about a hundred."""

DOCUMENTS_FOLDERS: Final = 4
"""Folders that large documents are distributed over: each has room for many of the largest."""


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a running service.

    Attributes:
        settings: how this installation runs.
        base_url: where clients reach the service.
        snapshot: the current snapshot, with the responses made from it.
        store: the connection to the store.
        map_finder: finds maps that are not in the snapshot.
        sessions: who is signed in.
        bodies: receives the bodies of requests.
        queues: the queues for work that takes too long for the event loop.
        documents: makes the pages and files of large maps.
        render_worker: draws thumbnails.
        image_worker: makes the pictures in topics.
        formula_worker: makes the formulas of small maps.
        upload_reader: reads uploaded files.
        visits: counts visits.
        health: the health of this node.
        preparations: what is done before the first request, because doing it then would delay
            others.
    """

    settings: Settings
    base_url: bytes
    snapshot: CurrentSnapshot
    store: StoreConnection
    map_finder: MapFinder
    sessions: BrowserSessions
    bodies: Bodies
    queues: Queues
    documents: Documents
    render_worker: RenderWorker
    image_worker: ImageWorker
    formula_worker: FormulaWorker
    upload_reader: UploadReader
    visits: VisitCounter
    health: NodeHealth
    preparations: list[Callable[[], None]] = field(default_factory=list)

    def prepare(self) -> None:
        """Load what most requests do not need, but some all at once."""
        for prepare in (self.documents.prepare, *self.preparations):
            prepare()

    def note_visit(self, request: Request, file_id: int, kind: VisitKind) -> None:
        """Count a visit: a page or a file of the map with this ``file_id`` is being sent."""
        if request.method == "GET":
            self.visits.note(request.sender, file_id, kind)


def make_context(settings: Settings, clock: Callable[[], int], *, counting: bool) -> Context:
    """Return the parts of a service that has not been started.

    Args:
        settings: how this installation runs.
        clock: the clock for counting visits, in milliseconds since 1970-01-01 UTC.
        counting: whether visits are counted.
    """
    snapshot = CurrentSnapshot(SnapshotDirectory(settings.snapshots))
    store = StoreConnection(settings.database)
    proxy_user = ProxyUser(settings.proxy_user, settings.trusted_proxies)
    sessions = BrowserSessions(settings.base_url, store, proxy_user)
    bodies = Bodies(settings.data, partial(address_of, settings.trusted_proxies))
    queues = Queues()
    documents = DiskCache(settings.documents, DOCUMENTS_SIZE, DOCUMENTS_FOLDERS)
    thumbnails = DiskCache(settings.thumbnails, THUMBNAILS_SIZE)
    return Context(
        settings=settings,
        base_url=settings.base_url.encode(),
        snapshot=snapshot,
        store=store,
        map_finder=MapFinder(store.get, queues.lookups),
        sessions=sessions,
        bodies=bodies,
        queues=queues,
        documents=Documents(documents, queues.documents),
        # Large documents and drawings of large maps take turns on a node: together they would
        # take all of a small machine.
        render_worker=RenderWorker(thumbnails, documents.turn),
        image_worker=ImageWorker(thumbnails),
        formula_worker=FormulaWorker(thumbnails),
        upload_reader=UploadReader(),
        visits=VisitCounter(store.get, settings.trusted_proxies, clock, counting=counting),
        health=NodeHealth(snapshot, settings, store),
    )


def address_of(trusted: Sequence[Network], sender: Sender) -> str:
    """Return the address that a client counts as, behind these proxies."""
    return client_address(sender.address(), sender.header(b"x-forwarded-for"), trusted)
