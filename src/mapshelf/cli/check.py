"""``mapshelf check``: verify store, snapshot and settings."""

import argparse
import sys

from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.errors import SnapshotDamaged, SnapshotMissing
from mapshelf.settings import snapshots_folder, without_password
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import verify


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        faults = store.check()
        identity = store.identity()
        print(f"store: {without_password(given.database)}, revision {store.revision()}")
    try:
        directory = SnapshotDirectory(snapshots_folder(given.data))
        manifest = verify(directory.folder(directory.current()))
        print(f"snapshot: {manifest['maps']} maps, revision {manifest['revision']}")
        if manifest["store"] != identity:
            faults.append("the snapshot is that of another store, serve rebuilds it")
    except SnapshotMissing:
        print("snapshot: none yet, serve builds it")
    except SnapshotDamaged as error:
        faults.append(f"the snapshot is damaged, serve rebuilds it: {error}")
    for fault in faults:
        print(f"mapshelf: {fault}", file=sys.stderr)
    return 1 if faults else 0
