"""``mapshelf token``: create, list and revoke the access tokens of the API."""

import argparse

from mapshelf.accounts.audit import done_by_command
from mapshelf.accounts.feed_addresses import opens_feeds
from mapshelf.accounts.personal_tokens import (
    DEFAULT_LIFETIME,
    MAX_LIFETIME,
    NewToken,
    add_token,
    text_of_scopes,
)
from mapshelf.cli.argument_types import one_line, user_name, whole_number
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.clock import milliseconds
from mapshelf.errors import Conflict
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import LARGEST_ID, AuditEvent, Token, about_token, about_user
from mapshelf.store.contract import Passwords
from mapshelf.tokens import DEFAULT_SCOPES, FEEDS, SCOPES, scopes_of


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    create = actions.add_parser("create", help="create a token and print it, once")
    add_catalogue_options(create)
    create.add_argument("user", metavar="USER", type=user_name)
    create.add_argument("--label", default="", type=one_line, help="what the token is for")
    create.add_argument(
        "--expires",
        metavar="DAYS",
        type=whole_number(MAX_LIFETIME),
        default=DEFAULT_LIFETIME,
        help=f"days until the token expires; default: {DEFAULT_LIFETIME}",
    )
    create.add_argument(
        "--scope",
        dest="scopes",
        metavar="NAME",
        action="append",
        choices=SCOPES,
        help=f"what the token allows: {', '.join(SCOPES)}; may be repeated;"
        f" default: {' and '.join(DEFAULT_SCOPES)}",
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
    new = NewToken(given.label, given.scopes or DEFAULT_SCOPES, given.expires)
    with open_catalogue(given) as store:
        _refuse_disabled(store, given.user)
        with store.auditing(done_by_command(AuditEvent.TOKEN_MADE, _about(given.user, new.label))):
            secret = add_token(store, given.user, new, milliseconds())
    print(secret)
    return 0


def _refuse_disabled(store: Passwords, name: str) -> None:
    record = store.password_of(name)
    if record is not None and record.user.disabled:
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
                FEEDS if opens_feeds(token) else text_of_scopes(scopes_of(token.scopes)),
            )
    return 0


def _revoke(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        target = about_token(str(given.token_id))
        with store.auditing(done_by_command(AuditEvent.TOKEN_REVOKED, target)):
            store.revoke_token(given.token_id)
    return 0


def _about(user: str, label: str) -> str:
    """Return the name of a token in the audit log."""
    return f"{about_user(user)}, {about_token(label)}"


def _state(token: Token, now: int) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= now else "active"


def _date(milliseconds: int | None) -> str:
    return "never" if milliseconds is None else format_date(milliseconds)
