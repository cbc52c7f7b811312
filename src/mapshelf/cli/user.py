"""``mapshelf user``: who may read the catalogue over the API."""

import argparse
from typing import TYPE_CHECKING

from mapshelf.cli.common import opened, table_line, user_name
from mapshelf.exchange import format_date

if TYPE_CHECKING:
    from mapshelf.cli.common import Commands


def register(commands: "Commands", where: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    user = commands.add_parser("user", help="add, list and disable users")
    actions = user.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("add", parents=[where], help="register a user")
    add.add_argument("name", metavar="NAME", type=user_name)
    add.set_defaults(run=_add)
    listing = actions.add_parser("list", parents=[where], help="show all users")
    listing.set_defaults(run=_list)
    disable = actions.add_parser("disable", parents=[where], help="refuse the tokens of a user")
    disable.add_argument("name", metavar="NAME", type=user_name)
    disable.set_defaults(run=_disable)


def _add(given: argparse.Namespace) -> int:
    with opened(given) as store:
        store.add_user(given.name)
    return 0


def _list(given: argparse.Namespace) -> int:
    with opened(given) as store:
        for user in store.users():
            state = "disabled" if user.disabled else "active"
            print(table_line(user.id, user.name, format_date(user.registered), state))
    return 0


def _disable(given: argparse.Namespace) -> int:
    with opened(given) as store:
        store.disable_user(given.name)
    return 0
