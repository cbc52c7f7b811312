"""``mapshelf backup``: write the whole catalogue to one file, verified, while it is in use."""

import argparse
from pathlib import Path
from typing import Final

from mapshelf.backup_status import BackupStatusFile
from mapshelf.cli.catalogue_options import DUMP, add_catalogue_options, sqlite_database
from mapshelf.errors import MapshelfError
from mapshelf.importer.progress_bar import ProgressBar
from mapshelf.plurals import noun
from mapshelf.store.backup_file import write_backup

MEGABYTE: Final = 1_000_000


class Megabytes:
    """A progress bar of bytes, shown as megabytes."""

    def __init__(self, bar: ProgressBar, description: str) -> None:
        self._bar = bar
        self._description = description
        self._shown = 0
        bar.begin(description)

    def show(self, done: int, total: int) -> None:
        """Show how many bytes are done."""
        if not total:
            return
        megabytes = -(-done // MEGABYTE)
        if megabytes < self._shown:  # another pass over the same bytes
            self._bar.begin("Verifying (MB)")
            self._description, self._shown = "Verifying (MB)", 0
        self._bar.expect(self._description, -(-total // MEGABYTE))
        self._bar.advance(megabytes - self._shown)
        self._shown = megabytes


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the file to write; it must not exist"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    database = sqlite_database(given.database, DUMP)
    status = BackupStatusFile(given.data)
    try:
        with ProgressBar() as bar:
            facts = write_backup(database, given.file, Megabytes(bar, "Copying (MB)").show)
    except MapshelfError as error:
        status.note_failure(str(error))
        raise
    status.note_success(facts.size)
    print(
        f"backed up {facts.held.maps} {noun(facts.held.maps, 'map')},"
        f" revision {facts.held.revision}, to {given.file}"
        f" ({facts.size / MEGABYTE:,.1f} MB); its SHA-256 is {facts.digest}"
    )
    return 0
