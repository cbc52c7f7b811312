"""``mapshelf client``: register, list and remove programs that people may authorize (OAuth 2)."""

import argparse
import sys

from mapshelf.accounts.audit import done_by_command
from mapshelf.accounts.oauth_programs import NewProgram, register
from mapshelf.cli.argument_types import one_line
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.clock import milliseconds
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import AuditEvent, Program, about_client

FROM_INPUT = "-"
"""The value of ``--secret`` that means: read it from standard input."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("add", help="register a program and print its ID and secret, once")
    add_catalogue_options(add)
    add.add_argument("name", metavar="NAME", type=one_line, help="name shown to users")
    add.add_argument(
        "--redirect-uri",
        dest="redirect_uris",
        metavar="URI",
        type=one_line,
        action="append",
        default=[],
        help="redirect URI; may be repeated",
    )
    add.add_argument("--id", default="", type=one_line, help="client ID; default: a new one")
    add.add_argument(
        "--secret",
        default="",
        type=one_line,
        help="client secret; default: a new one; - reads it from standard input",
    )
    add.add_argument(
        "--public",
        action="store_true",
        help="public client without a secret, which runs in a browser or on the user's machine",
    )
    add.add_argument(
        "--legacy", action="store_true", help="exempt from the rules of RFC 9700, for old programs"
    )
    add.set_defaults(run=_add)
    listing = actions.add_parser("list", help="show all programs")
    add_catalogue_options(listing)
    listing.set_defaults(run=_list)
    remove = actions.add_parser("remove", help="remove a program; its tokens are refused")
    add_catalogue_options(remove)
    remove.add_argument("id", metavar="ID", type=one_line)
    remove.set_defaults(run=_remove)


def _add(given: argparse.Namespace) -> int:
    secret = sys.stdin.readline().strip() if given.secret == FROM_INPUT else given.secret
    registration = NewProgram(
        given.name, tuple(given.redirect_uris), given.id, secret, given.public, given.legacy
    )
    added = done_by_command(AuditEvent.CLIENT_ADDED)
    with open_catalogue(given, create=True) as store, store.auditing(added):
        program, made = register(store, registration, milliseconds())
    print_row("client_id", program.id)
    if made and not secret:
        print_row("client_secret", made)
    return 0


def _list(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        for program in store.programs():
            print_row(
                program.id,
                program.name,
                _kind(program),
                f"registered {format_date(program.created)}",
                " ".join(program.redirect_uris),
            )
    return 0


def _remove(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        entry = done_by_command(AuditEvent.CLIENT_REMOVED, about_client(given.id))
        with store.auditing(entry):
            store.remove_program(given.id)
    return 0


def _kind(program: Program) -> str:
    if program.legacy:
        return "legacy"
    if program.is_dynamic:
        return "dynamic"
    return "public" if program.is_public else "confidential"
