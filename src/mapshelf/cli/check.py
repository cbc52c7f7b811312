"""``mapshelf check``: verify the database, the snapshot and the settings."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.settings_check import faults_of_settings
from mapshelf.errors import SnapshotDamaged, SnapshotMissing
from mapshelf.settings import snapshots_folder, without_password
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import verify
from mapshelf.store.contract import ChangeFeed


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    wrong_settings = faults_of_settings(given.file, given.data, given.database)
    for fault in wrong_settings:  # at once, because the store may fail to open
        print(f"mapshelf: {fault}", file=sys.stderr)
    with open_catalogue(given) as store:
        faults = store.check()
        print(f"store: {without_password(given.database)}, revision {store.revision()}")
        faults += _faults_of_snapshot(store, snapshots_folder(given.data))
    for fault in faults:
        print(f"mapshelf: {fault}", file=sys.stderr)
    return 1 if wrong_settings or faults else 0


def _faults_of_snapshot(store: ChangeFeed, folder: Path) -> Iterator[str]:
    directory = SnapshotDirectory(folder)
    try:
        manifest = verify(directory.folder(directory.current()))
    except SnapshotMissing:
        print("snapshot: none yet, serve builds it")
        return
    except SnapshotDamaged as error:
        yield f"the snapshot is damaged, serve rebuilds it: {error}"
        return
    print(f"snapshot: {manifest['maps']} maps, revision {manifest['revision']}")
    if manifest["store"] != store.lineage(manifest["revision"]):
        yield "the snapshot is that of another store, serve rebuilds it"
