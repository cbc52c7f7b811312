"""``mapshelf export``: write the catalogue as records, one per line."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.errors import CannotWrite
from mapshelf.importer.records import export_records
from mapshelf.store.contract import Maps


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
    """Write a temporary file first, so that a failed export leaves an earlier one intact."""
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with unfinished.open("wb") as file:
            export_records(store, file)
        unfinished.replace(path)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):  # renamed, or never there
            unfinished.unlink()  # on a full disk, it would keep the disk full
