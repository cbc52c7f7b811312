"""``mapshelf export``: the catalogue as records, a line each."""

import argparse
import sys
from pathlib import Path

from mapshelf.cli.common import catalogue_options, opened
from mapshelf.errors import CannotWrite
from mapshelf.importer import export_records
from mapshelf.store.contract import Maps


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    catalogue_options(parser)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="default: standard output"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    with opened(given) as store:
        if given.file is None:
            export_records(store, sys.stdout.buffer)
            sys.stdout.flush()
        else:
            _export_to(store, given.file)
    return 0


def _export_to(store: Maps, path: Path) -> None:
    """Write beside ``path`` first, so that an export that fails leaves an earlier one whole."""
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with unfinished.open("wb") as file:
            export_records(store, file)
        unfinished.replace(path)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
