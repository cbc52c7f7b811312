"""``mapshelf user``: add, list and disable users of the API."""

import argparse

from mapshelf.cli.argument_types import user_name
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.formats.ndjson_records import format_date


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("add", help="register a user")
    add_catalogue_options(add)
    add.add_argument("name", metavar="NAME", type=user_name)
    add.set_defaults(run=_add)
    listing = actions.add_parser("list", help="show all users")
    add_catalogue_options(listing)
    listing.set_defaults(run=_list)
    disable = actions.add_parser("disable", help="refuse the tokens of a user")
    add_catalogue_options(disable)
    disable.add_argument("name", metavar="NAME", type=user_name)
    disable.set_defaults(run=_disable)


def _add(given: argparse.Namespace) -> int:
    with open_catalogue(given, create=True) as store:
        store.add_user(given.name)
    return 0


def _list(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        for user in store.users():
            state = "disabled" if user.disabled else "active"
            print_row(user.id, user.name, format_date(user.registered), state)
    return 0


def _disable(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        store.disable_user(given.name)
    return 0
