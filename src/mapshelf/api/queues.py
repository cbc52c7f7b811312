"""The queues of a worker, one for each kind of work that takes too long for the event loop.

Each has its own limit, so that one kind of work never waits for another. A queue holds about as
much as is done in a second: a client that would wait longer is told to try again.
"""

from mapshelf.api.work_queue import WorkQueue


class Queues:
    """The queues of one worker.

    Attributes:
        searches: searches, facets, suggestions.
        files: outlines and files of the API.
        pages: pages of the library and of small maps, and what they load.
        thumbnails: looking up cached thumbnails.
        drawings: thumbnails to be drawn, of small maps.
        images: pictures in topics to be made: as many as a map may have wait.
        documents: pages, files and thumbnails of large maps (``documents.py``).
    """

    def __init__(self) -> None:
        self.searches = WorkQueue("searches", threads=2, waiting=256)
        self.files = WorkQueue("files", threads=1, waiting=32)
        self.pages = WorkQueue("pages", threads=1, waiting=24)
        self.thumbnails = WorkQueue("thumbnails", threads=1, waiting=256)
        self.drawings = WorkQueue("drawings", threads=1, waiting=96)
        self.images = WorkQueue("images", threads=1, waiting=512)
        self.documents = WorkQueue("documents", threads=1, waiting=8)

    async def close(self) -> None:
        """Finish the work that has begun, and drop the rest."""
        for queue in vars(self).values():
            await queue.close()
