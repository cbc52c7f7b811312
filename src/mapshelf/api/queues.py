"""The queues of a worker, one for each kind of work that takes too long for the event loop.

Each has its own limit, so that one kind of work never waits for another. A queue holds about as
much as is done in a second: a client that would wait longer is told to try again. Where a single
task may take seconds, clients are told so if their own does not begin in time (``WorkQueue``).
"""

from mapshelf.api.work_queue import WorkQueue


class Queues:
    """The queues of one worker.

    Attributes:
        searches: searches, facets, suggestions.
        lookups: maps that are not in the snapshot.
        writing: what people change, apart from files.
        uploads: files to be read and published, which may take seconds each.
        own_maps: lists of people's own maps, which are searched without an index.
        files: outlines and files of the API.
        pages: pages of the library and of small maps, and what they load.
        thumbnails: looking up cached thumbnails.
        drawings: thumbnails to be drawn, of small maps.
        images: pictures in topics to be made: as many as a map may have wait.
        documents: pages, files and thumbnails of large maps (``documents.py``).
        passwords: hashing and verifying passwords: each takes 19 MiB and much time.
        accounts: what people see and do about their accounts otherwise.
        providers: asking the OpenID provider, which may take seconds.
        programs: what programs ask to be let in (``oauth/``).
    """

    def __init__(self) -> None:
        self.searches = WorkQueue("searches", threads=2, waiting=256)
        self.lookups = WorkQueue("lookups", threads=1, waiting=256)
        self.writing = WorkQueue("writing", threads=1, waiting=64)
        self.uploads = WorkQueue("uploads", threads=1, waiting=16)
        self.own_maps = WorkQueue("own maps", threads=1, waiting=32)
        self.files = WorkQueue("files", threads=1, waiting=32)
        self.pages = WorkQueue("pages", threads=1, waiting=24)
        self.thumbnails = WorkQueue("thumbnails", threads=1, waiting=256)
        self.drawings = WorkQueue("drawings", threads=1, waiting=96, longest=10.0)
        self.images = WorkQueue("images", threads=1, waiting=512)
        self.documents = WorkQueue("documents", threads=1, waiting=8)
        self.passwords = WorkQueue("passwords", threads=2, waiting=48)
        self.accounts = WorkQueue("accounts", threads=1, waiting=256)
        self.providers = WorkQueue("providers", threads=2, waiting=32, longest=10.0)
        self.programs = WorkQueue("programs", threads=1, waiting=64)

    def by_name(self) -> dict[str, WorkQueue]:
        """Return all queues by their names."""
        return vars(self)

    async def close(self) -> None:
        """Finish the work that has begun, and drop the rest."""
        for queue in self.by_name().values():
            await queue.close()
