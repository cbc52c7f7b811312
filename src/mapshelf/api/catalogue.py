"""The snapshot that this worker answers from, exchanged for the next one without a pause.

Requests take the edition that is current when they come, and finish on it; the new one is opened
beside it. Finished responses are kept with the edition they belong to, so that a page asked for
again costs a look-up, and nothing has to be invalidated.
"""

import asyncio
import contextlib
import logging
from threading import Lock
from typing import Final

from mapshelf.api.http import Response
from mapshelf.errors import SnapshotError, SnapshotMissing, SnapshotUnavailable
from mapshelf.snapshot import Snapshot, SnapshotDirectory

POLL_INTERVAL: Final = 0.1
"""Seconds between looks at which snapshot is current."""

RESPONSES_SIZE: Final = 16 << 20
"""Bytes of finished responses to keep."""

RESPONSE_OVERHEAD: Final = 1024
"""Bytes counted for a response besides its body: an empty page is mostly headers."""

Key = tuple[str, bytes]
"""What a response is kept under: path and query string, apart, so that none passes for another."""

log = logging.getLogger(__name__)


class Edition:
    """A snapshot with the responses made from it so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._responses: dict[Key, Response] = {}
        self._size = 0

    def kept(self, key: Key) -> Response | None:
        """Return the response kept under ``key``."""
        return self._responses.get(key)

    def keep(self, key: Key, response: Response) -> None:
        """Keep a response; when there is no more room all are let go, being cheap to make."""
        size = len(key[0]) + len(key[1])
        for one in filter(None, (response, response.smaller)):
            size += RESPONSE_OVERHEAD + len(one.body)
            size += sum(len(value) for _, value in one.headers)
        self._size += size
        if self._size > RESPONSES_SIZE:
            self._responses.clear()
            self._size = size
        self._responses[key] = response


class Catalogue:
    """The current edition of a directory of snapshots."""

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self._edition: Edition | None = None
        self._refused = ""
        self._lacking = False
        self._refreshing = Lock()

    def edition(self) -> Edition:
        """Return the edition to answer from.

        Raises:
            SnapshotMissing: there is none yet.
        """
        if self._edition is None:
            # Another worker may have answered from the first one already, and whoever asked it
            # must not be told by this one that there is none. All wait for this, once.
            self.refresh()
        if self._edition is None:
            raise SnapshotMissing("no snapshot has been published yet")
        return self._edition

    def refresh(self) -> None:
        """Take up the current snapshot if it is another than the one in hand.

        A snapshot that cannot be used is told of once, in the log and to whoever builds. What the
        system is short of is told of once, too, and then tried again.
        """
        with self._refreshing:
            try:
                self._take_up()
            except Exception:
                # Whatever it is must not leave this worker behind all others for good.
                log.exception("looking for a new snapshot failed")

    def _take_up(self) -> None:
        name = ""
        try:
            name = self._directory.current()
            in_hand = self._edition.snapshot.name if self._edition else None
            if name not in (in_hand, self._refused):
                self._edition = Edition(Snapshot(self._directory.folder(name)))
            self._lacking = False
        except SnapshotUnavailable as error:
            if not self._lacking:
                log.warning("snapshot %s is taken up when it can be: %s", name, error)
            self._lacking = True
        except SnapshotError as error:
            # Between reading the name and opening, the next one may have taken its place.
            with contextlib.suppress(SnapshotError):
                if name and self._directory.current() == name:
                    log.warning("snapshot %s cannot be used: %s", name, error)
                    self._refused = name
                    self._directory.refuse(name)

    async def follow(self) -> None:
        """Keep up with what is published, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            await loop.run_in_executor(None, self.refresh)
