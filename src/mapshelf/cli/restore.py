"""``mapshelf restore``: replace a SQLite catalogue with a backup."""

import argparse
import sys
from pathlib import Path
from typing import Final

from mapshelf.cli.backup import Megabytes
from mapshelf.cli.catalogue_options import add_catalogue_options, sqlite_database
from mapshelf.importer.progress_bar import ProgressBar
from mapshelf.plurals import noun
from mapshelf.service.restoring import restore
from mapshelf.store.restoring import Restored
from mapshelf.store.sqlite.regained_access import Regained

INSTEAD: Final = "pg_restore --clean --if-exists"
"""The command to use instead for a catalogue in PostgreSQL, for the error message."""

SIGN_OUT: Final = "mapshelf user sign-out-all --tokens"
"""The command that ends what may be valid again."""

UNKNOWN_FILES: Final = (
    "files that are newer than the backup may be published although they were private; to prevent"
    " that, serve or import their folders with --visibility private"
)
"""What is said if no catalogue knows which of them are not to be published."""

NAMED: Final = 20
"""How many users are named of those who have more access than before."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="a file written by backup")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    database = sqlite_database(given.database, INSTEAD)
    with ProgressBar() as bar:
        done = restore(given.data, database, given.file, Megabytes(bar, "Verifying (MB)").show)
    held = done.facts.held
    print(f"restored {held.maps} {noun(held.maps, 'map')}, revision {held.revision}")
    if done.aside is not None:
        print(f"the former catalogue is now in {done.aside}")
    print(
        "mapshelf: everybody has to sign in again. Changes since the backup, such as disabling a"
        f" user, are lost; {_said_of_access(done)}",
        file=sys.stderr,
    )
    if done.compared.regained is not None:
        _name_users(done.compared.regained)
    if not done.compared.files_known:
        print(f"mapshelf: {UNKNOWN_FILES}", file=sys.stderr)
    return 0


def _said_of_access(done: Restored) -> str:
    if done.compared.regained is None:
        missing = done.aside is None
        why = "there was no former catalogue" if missing else "the former one cannot be read"
        ended = "tokens and programs that were revoked since then are valid again"
    elif not done.compared.complete:
        why = "the former catalogue is another one, or comes from before this backup"
        ended = (
            "tokens, programs, passkeys and linked accounts that ended since then may be valid"
            " again"
        )
    else:
        return (
            "tokens revoked in the former catalogue stay revoked, and so do authorizations of"
            " programs, passkeys and linked accounts that ended there"
        )
    return f"{why}, so {ended}. To revoke all tokens and programs, run: {SIGN_OUT}"


def _name_users(regained: Regained) -> None:
    for what, names in (
        ("whose deleted accounts are back", regained.accounts),
        ("who are enabled again", regained.enabled),
        ("who are administrators again", regained.administrators),
        ("who have a former password again", regained.passwords),
    ):
        if names:
            more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
            print(f"mapshelf: users {what}: {', '.join(names[:NAMED] + more)}", file=sys.stderr)
