"""``mapshelf check``: verify the database, the snapshot and the settings."""

import argparse
import sys
from pathlib import Path

from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.settings_check import faults_of_settings
from mapshelf.errors import SnapshotDamaged, SnapshotMissing, SnapshotUnavailable
from mapshelf.plurals import noun
from mapshelf.settings import snapshots_folder, without_password
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.checksums import verify
from mapshelf.store.contract import ChangeFeed


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    wrong_settings = faults_of_settings(given.config_file, given.data, given.database)
    _report(wrong_settings)  # at once, because the store may fail to open
    with open_catalogue(given) as store:
        faults = store.check()
        _report(faults)  # at once, because what follows may fail in a damaged store
        print(f"store: {without_password(given.database)}, revision {store.revision()}")
        found, more = _check_snapshot(store, snapshots_folder(given.data))
    if found:
        print(f"snapshot: {found}")
    _report(more)
    return 1 if wrong_settings or faults or more else 0


def _report(faults: list[str]) -> None:
    for fault in faults:
        print(f"mapshelf: {fault}", file=sys.stderr)


def _check_snapshot(store: ChangeFeed, folder: Path) -> tuple[str, list[str]]:
    """Return what the current snapshot has, empty if that is not known, and its faults."""
    directory = SnapshotDirectory(folder)
    try:
        manifest = verify(directory.folder(directory.current()))
    except SnapshotMissing:
        return "none yet; serve will build it", []
    except SnapshotUnavailable as error:
        return "", [str(error)]
    except SnapshotDamaged as error:
        return "", [f"the snapshot is damaged (serve will rebuild it): {error}"]
    found = f"{manifest['maps']} {noun(manifest['maps'], 'map')}, revision {manifest['revision']}"
    if manifest["store"] == store.lineage(manifest["revision"]):
        return found, []
    return found, ["the snapshot was built from another store; serve will rebuild it"]
