"""``mapshelf migrate``: copy the catalogue to another database, for example to PostgreSQL."""

import argparse
import re
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from mapshelf.cli.home_folders import expanded
from mapshelf.importer.progress_bar import ProgressBar
from mapshelf.plurals import noun
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.transfer import differences, export_digest, transfer_catalogue

_PARAMETERS: Final = re.compile(r"\b(host|hostaddr|dbname|user|password|service)\s*=")
"""A connection string of libpq that is no URL; as a folder, it would contain the password."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    where = "a data folder, or the URL of a database"
    parser.add_argument(
        "--from", dest="source", metavar="CATALOGUE", required=True, type=_url, help=where
    )
    parser.add_argument(
        "--to", dest="target", metavar="CATALOGUE", required=True, type=_url, help=where
    )
    parser.set_defaults(run=_run)


def _url(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of the catalogue is empty")
    if "://" not in text and _PARAMETERS.search(text):
        raise argparse.ArgumentTypeError("use a URL: postgresql://user@host/database")
    return text if "://" in text else sqlite_url(expanded(Path(text)))


def _run(given: argparse.Namespace) -> int:
    with (
        closing(open_store(given.source, create=False)) as source,
        closing(open_store(given.target)) as target,
    ):
        _move(source, target)
        faults = list(differences(source, target))
        count, digest = export_digest(target)
    for fault in faults:
        print(f"mapshelf: {fault}; migrate again", file=sys.stderr)
    if faults:
        return 1
    print(f"moved {count} {noun(count, 'map')}; both exports have the SHA-256 {digest}")
    return 0


def _move(source: Store, target: Store) -> None:
    with ProgressBar() as bar:
        bar.begin("Moving maps")
        transfer_catalogue(source, target, bar.advance)
