"""``mapshelf check``: is everything sound?"""

import argparse
import sys

from mapshelf.cli.common import catalogue_options, opened
from mapshelf.errors import SnapshotDamaged, SnapshotMissing
from mapshelf.settings import snapshots_folder, without_password
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import verify


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    catalogue_options(parser)
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    with opened(given) as store:
        faults = store.check()
        print(f"store: {without_password(given.database)}, revision {store.revision()}")
    try:
        directory = SnapshotDirectory(snapshots_folder(given.data))
        manifest = verify(directory.folder(directory.current()))
        print(f"snapshot: {manifest['maps']} maps, revision {manifest['revision']}")
    except SnapshotMissing:
        print("snapshot: none yet, serve makes it")
    except SnapshotDamaged as error:
        faults.append(f"the snapshot is damaged, serve makes it anew: {error}")
    for fault in faults:
        print(f"mapshelf: {fault}", file=sys.stderr)
    return 1 if faults else 0
