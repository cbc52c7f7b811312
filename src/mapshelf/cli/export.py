"""``mapshelf export``: write the catalogue as records, one per line."""

import argparse
import os
import stat
import sys
from pathlib import Path

from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.durable import open_private
from mapshelf.errors import CannotWrite
from mapshelf.importer.records import export_records
from mapshelf.store.contract import Maps
from mapshelf.store.unfinished_file import unfinished_file


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="default: standard output"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        if given.file is None:
            export_records(store, sys.stdout.buffer)
            sys.stdout.flush()
        else:
            _export_to(store, given.file)
    return 0


def _export_to(store: Maps, path: Path) -> None:
    """Write the export to a file, or to what else is there under this name.

    A file is replaced only when the export is complete, so that a failed one leaves an earlier one
    intact, and on a full disk nothing. Devices, pipes and links are written to as they are.
    """
    try:
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            with open(path, "wb", opener=open_private) as file:
                export_records(store, file)
            return
        with unfinished_file(path, "export") as (unfinished, descriptor):
            with open(descriptor, "wb", closefd=False) as file:
                export_records(store, file)
            unfinished.replace(path)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
