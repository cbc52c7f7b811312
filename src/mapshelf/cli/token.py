"""``mapshelf token``: create, list and revoke the access tokens of the API."""

import argparse
from typing import Final

from mapshelf.cli.argument_types import one_line, user_name, whole_number
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.clock import milliseconds
from mapshelf.errors import Conflict
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import LARGEST_ID, Token
from mapshelf.store.contract import Accounts
from mapshelf.tokens import new_token, token_digest

DEFAULT_LIFETIME: Final = 90
"""Days until a token expires unless the command says otherwise."""

SCOPES: Final = "read"
"""The only scope there is so far."""

DAY: Final = 86_400_000
"""Milliseconds."""

MAX_LIFETIME: Final = 36_500
"""Days until a token expires at most."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    create = actions.add_parser("create", help="create a token and print it, this one time")
    add_catalogue_options(create)
    create.add_argument("user", metavar="USER", type=user_name)
    create.add_argument("--label", default="", type=one_line, help="what the token is for")
    create.add_argument(
        "--expires",
        metavar="DAYS",
        type=whole_number(MAX_LIFETIME),
        default=DEFAULT_LIFETIME,
        help=f"days until it expires, default {DEFAULT_LIFETIME}",
    )
    create.set_defaults(run=_create)
    listing = actions.add_parser("list", help="show the tokens of a user")
    add_catalogue_options(listing)
    listing.add_argument("user", metavar="USER", type=user_name)
    listing.set_defaults(run=_list)
    revoke = actions.add_parser("revoke", help="revoke a token")
    add_catalogue_options(revoke)
    revoke.add_argument("token_id", metavar="TOKEN_ID", type=whole_number(LARGEST_ID))
    revoke.set_defaults(run=_revoke)


def _create(given: argparse.Namespace) -> int:
    now = milliseconds()
    secret = new_token()
    with open_catalogue(given) as store:
        _refuse_disabled(store, given.user)
        store.add_token(
            given.user,
            token_digest(secret),
            label=given.label,
            scopes=SCOPES,
            expires=now + given.expires * DAY,
        )
    print(secret)
    return 0


def _refuse_disabled(store: Accounts, name: str) -> None:
    for user in store.users():
        if user.disabled and user.name.casefold() == name.casefold():
            raise Conflict(f"the user {name} is disabled")


def _list(given: argparse.Namespace) -> int:
    now = milliseconds()
    with open_catalogue(given) as store:
        for token in store.tokens(given.user):
            print_row(
                token.id,
                token.label,
                _state(token, now),
                f"created {format_date(token.created)}",
                f"expires {_date(token.expires)}",
                f"last used {_date(token.last_used)}",
            )
    return 0


def _revoke(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        store.revoke_token(given.token_id)
    return 0


def _state(token: Token, now: int) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= now else "active"


def _date(milliseconds: int | None) -> str:
    return "never" if milliseconds is None else format_date(milliseconds)
