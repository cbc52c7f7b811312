"""The work queues of a worker, one for each kind of work that is too slow for the event loop.

Each has its own limit, so that one kind of work never waits for another. A queue holds about a
second of work: a client that would wait longer gets an error and must try again. Where one task may
take seconds, a client also gets this error if its task does not start in time (``WorkQueue``).
Together, they leave at least half of the worker's connections to requests that need not wait.
"""

from typing import Final

from mapshelf.api.feedback_queue import FeedbackQueue, OwnerFeedbackQueue
from mapshelf.api.one_per_owner_queue import OnePerOwnerQueue
from mapshelf.api.read_queue import ReadQueue
from mapshelf.api.waiting_requests import WaitingLimit
from mapshelf.api.work_queue import WorkQueue
from mapshelf.descriptors import connection_limit
from mapshelf.garbage_collection import CollectionPause

MOST_WAITING: Final = 512
"""How many requests of a worker may wait at a time. All that wait for the same are answered at the
same moment: thousands would delay other requests."""


class Queues:
    """The queues of one worker.

    Attributes:
        searches: searches, facets, suggestions.
        long_searches: searches for the topics in one map, and the rest of those that take long.
        lookups: maps that are not in the snapshot, collections, saved searches.
        writing: changes by people, except of files.
        uploads: files to parse and publish.
        long_uploads: those of them that take over a second of processor time.
        own_maps: lists of people's own maps, which are searched without an index.
        files: outlines and files of the API, and large pages of signed-in users.
        pages: pages of the library and of small maps, and their assets.
        thumbnails: look-ups of cached thumbnails.
        drawings: thumbnails to draw, of small maps.
        long_drawings: thumbnails that take over a second, or whose pictures do.
        images: pictures in topics to convert; it holds as many as a map may have.
        long_images: those of them that take over a second of processor time.
        documents: pages, files and thumbnails of large maps (``documents.py``).
        comparisons: comparisons of large maps, of which there are as many as pairs of maps.
        long_documents: pages, files and comparisons that take over a second of processor time.
        former_versions: files of former versions to parse.
        long_versions: those of them that take over a second of processor time.
        exports: zips of all data of an account.
        selections: zips of selected maps, which visitors can request in any number.
        drawing_lookups: outlines of maps to draw completely (``drawings.py``).
        map_drawings: complete drawings of small maps without pictures (``drawings.py``).
        passwords: hashing and verifying passwords: each needs 19 MiB and is slow.
        accounts: all other requests about accounts.
        providers: requests to the OpenID provider, which may take seconds.
        programs: OAuth requests of programs (``oauth/``).
    """

    def __init__(self) -> None:
        pause = CollectionPause()
        self.searches = WorkQueue("searches", threads=2, waiting=256)
        self.long_searches = WorkQueue("long searches", threads=1, waiting=16, around=pause)
        self.lookups = ReadQueue("lookups", threads=1, waiting=256)
        self.writing = WorkQueue("writing", threads=1, waiting=64)
        self.long_uploads = WorkQueue("long uploads", threads=1, waiting=8)
        self.uploads = OwnerFeedbackQueue("uploads", 1, 16, self.long_uploads)
        self.own_maps = WorkQueue("own maps", threads=1, waiting=32, around=pause)
        self.files = WorkQueue("files", threads=1, waiting=32)
        self.pages = WorkQueue("pages", threads=1, waiting=24)
        self.thumbnails = WorkQueue("thumbnails", threads=1, waiting=256)
        self.drawings = WorkQueue("drawings", threads=1, waiting=96)
        self.long_drawings = WorkQueue("long drawings", threads=1, waiting=96)
        self.long_images = WorkQueue("long images", threads=1, waiting=512)
        self.images = FeedbackQueue("images", 1, 512, self.long_images)
        self.long_documents = WorkQueue("long documents", threads=1, waiting=8)
        self.documents = FeedbackQueue("documents", 1, 8, self.long_documents)
        self.comparisons = OwnerFeedbackQueue("comparisons", 1, 8, self.long_documents)
        self.long_versions = WorkQueue("long versions", threads=1, waiting=8)
        self.former_versions = OwnerFeedbackQueue("former versions", 1, 8, self.long_versions)
        self.exports = ReadQueue("exports", threads=1, waiting=8)
        self.selections = ReadQueue("selections", threads=1, waiting=8)
        self.drawing_lookups = WorkQueue("drawing look-ups", threads=1, waiting=64)
        self.map_drawings = FeedbackQueue("map drawings", 1, 24, self.long_documents)
        self.passwords = WorkQueue("passwords", threads=2, waiting=48)
        self.accounts = WorkQueue("accounts", threads=1, waiting=256)
        self.providers = OnePerOwnerQueue("providers", threads=8, waiting=32)
        self.programs = WorkQueue("programs", threads=1, waiting=64)
        limit = WaitingLimit(min(MOST_WAITING, connection_limit() // 2))
        for queue in self.by_name().values():
            queue.limit = limit

    def by_name(self) -> dict[str, WorkQueue]:
        """Return all queues by their names."""
        return vars(self)

    async def close(self) -> None:
        """Finish running work, and drop waiting work."""
        for queue in self.by_name().values():
            await queue.close()
