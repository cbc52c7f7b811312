"""Wait until there is something to build, without the libraries that build.

NumPy, Tantivy and the files of a snapshot take about 30 MB, and most small catalogues rarely
change. So the builder loads them when there is something to build. It ends when there has been
nothing for a while, and the supervisor starts it again, because Python cannot unload a library. The
next change then appears a moment later. Large catalogues take longer to open, so their builder
stays ready.
"""

import threading
from typing import Final

from mapshelf.errors import SnapshotError, SnapshotUnavailable
from mapshelf.service.upkeep import Upkeep
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import read_manifest, was_built_from
from mapshelf.store.contract import ChangeFeed

LISTEN_INTERVAL: Final = 1.0
"""Seconds of waiting for the store between checks for other work."""

SMALL: Final = 20_000
"""Maximum number of maps of a catalogue whose builder ends while nothing changes."""


def wait_until_outdated(
    store: ChangeFeed, directory: SnapshotDirectory, upkeep: Upkeep, stop: threading.Event
) -> None:
    """Wait until there is something to build, or a stop is requested.

    Return at once if the catalogue is large. Meanwhile do what is due of ``upkeep``.

    Raises:
        StoreUnavailable: the store cannot be reached now.
        SnapshotUnavailable: the current snapshot cannot be read at the moment.
    """
    try:
        name = directory.current()
        manifest = read_manifest(directory.folder(name))
    except SnapshotUnavailable:
        raise
    except SnapshotError:  # missing or damaged
        return
    if manifest["maps"] > SMALL or not was_built_from(manifest, store):
        return
    directory.remove_unfinished()
    while not (stop.is_set() or directory.is_lost(name)):
        upkeep.do_due()
        if store.wait(manifest["revision"], LISTEN_INTERVAL):
            return
