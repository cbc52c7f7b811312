"""``mapshelf user``: add and list users, print links to choose passwords, change roles."""

import argparse
import sys
from collections.abc import Callable
from typing import Final

from mapshelf.accounts.audit import done_by_command
from mapshelf.accounts.names import is_unusable
from mapshelf.accounts.one_time_links import LIFETIMES, link_address, new_password_link
from mapshelf.cli.argument_types import user_name
from mapshelf.cli.base_url_option import DEFAULT_BASE_URL, add_base_url_option, base_url
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.clock import milliseconds
from mapshelf.errors import AlreadyExists, Conflict, InvalidSetting, NotFound, UnusableName
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import HOUR, AuditEvent, LinkKind, Role, User, about_user, composed_name
from mapshelf.service.data_folder_lock import base_url_in_use
from mapshelf.store import Store

LINK_HOURS: Final = LIFETIMES[LinkKind.PASSWORD] // HOUR
"""How many hours a link to choose a password is valid."""

AGAIN: Final = (
    " was a user who owned imported maps and deleted the account; imports that name this owner"
    " give their maps to the new user"
)
"""What ``add`` says of a reserved name, after the name."""

EVERYBODY: Final = "all users"
"""Whose access ends, in the audit log."""

ENDED: Final = "ended all sessions, and links to choose a password or register"
"""What ``sign-out-all`` says that it did."""

REVOKED: Final = (
    "; revoked all tokens and authorizations of programs. Passkeys and linked accounts stay"
)
"""What it says in addition with ``--tokens``."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="show all users")
    add_catalogue_options(listing)
    listing.set_defaults(run=_list)
    add = _of_one_user(actions, "add", "register a user, and print a link to choose a password")
    add.add_argument("--admin", action="store_true", help="make the user an administrator")
    add_base_url_option(add)
    add.set_defaults(run=_add)
    link = _of_one_user(actions, "link", "print another link to choose a password")
    add_base_url_option(link)
    link.set_defaults(run=_link)
    role = _of_one_user(actions, "role", "make a user a member or an administrator")
    role.add_argument(
        "role", metavar="ROLE", choices=[one.value for one in Role], help=" or ".join(Role)
    )
    role.set_defaults(run=_role)
    disable = _of_one_user(actions, "disable", "refuse the sessions and tokens of a user")
    disable.set_defaults(run=_disable)
    enable = _of_one_user(actions, "enable", "undo disable")
    enable.set_defaults(run=_enable)
    sign_out = actions.add_parser("sign-out-all", help="end all sessions and links of everybody")
    add_catalogue_options(sign_out)
    sign_out.add_argument(
        "--tokens", action="store_true", help="revoke all tokens and authorized programs, too"
    )
    sign_out.set_defaults(run=_sign_out_all)


def _of_one_user(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, purpose: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=purpose)
    add_catalogue_options(parser)
    parser.add_argument("name", metavar="NAME", type=user_name)
    return parser


def _add(given: argparse.Namespace) -> int:
    address, name = _address(given), composed_name(given.name)
    if is_unusable(name):
        raise InvalidSetting(str(UnusableName()))
    role = Role.ADMINISTRATOR if given.admin else Role.MEMBER
    with open_catalogue(given, create=True) as store:
        event, reserved = AuditEvent.USER_ADDED, store.is_reserved(name)
        with store.auditing(done_by_command(event, about_user(name))):
            user = _new_user(store, name, role)
        # Scripts take the link from the standard output, so nothing else is written there.
        print(f"mapshelf: added the {role} {user.name}", file=sys.stderr)
        if reserved:
            print(f"mapshelf: {user.name}{AGAIN}", file=sys.stderr)
        link = _new_link(store, user, address)
        print(
            f"mapshelf: send {user.name} this link to choose a password;"
            f" it works once, within {LINK_HOURS} hours:",
            file=sys.stderr,
            flush=True,
        )
        print(link)
    return 0


def _new_user(store: Store, name: str, role: Role) -> User:
    try:
        return store.add_user(name, role, even_if_reserved=True)
    except AlreadyExists as error:  # an import may have added them as an owner
        hint = f"{error}; for a link, run: mapshelf user link {name}"
        if role is Role.ADMINISTRATOR:
            hint += f"; for the role, run: mapshelf user role {name} {role}"
        raise AlreadyExists(hint) from error


def _link(given: argparse.Namespace) -> int:
    address = _address(given)
    with open_catalogue(given) as store:
        record = store.password_of(given.name)
        if record is None:
            raise NotFound(f"there is no user {given.name}")
        if record.user.disabled:
            raise Conflict(f"the user {record.user.name} is disabled")
        print(_new_link(store, record.user, address))
    return 0


def _address(given: argparse.Namespace) -> str:
    """Return the base URL for links; if none is given, the running service's."""
    return base_url(given, base_url_in_use(given.data) or DEFAULT_BASE_URL)


def _new_link(store: Store, user: User, address: str) -> str:
    with store.auditing(done_by_command(AuditEvent.LINK_MADE, about_user(user.name))):
        secret = new_password_link(store, user, milliseconds())
    return link_address(address, secret)


def _list(given: argparse.Namespace) -> int:
    with open_catalogue(given) as store:
        for user in store.users():
            state = "disabled" if user.disabled else "active"
            print_row(user.id, user.name, format_date(user.registered), state, user.role)
    return 0


def _role(given: argparse.Namespace) -> int:
    return _noted(
        given, AuditEvent.USER_ROLE, lambda store: store.set_role(given.name, Role(given.role))
    )


def _disable(given: argparse.Namespace) -> int:
    return _noted(given, AuditEvent.USER_DISABLED, lambda store: store.disable_user(given.name))


def _enable(given: argparse.Namespace) -> int:
    return _noted(given, AuditEvent.USER_ENABLED, lambda store: store.enable_user(given.name))


def _sign_out_all(given: argparse.Namespace) -> int:
    entries = [done_by_command(AuditEvent.SESSION_ENDED, EVERYBODY)]
    if given.tokens:
        entries.append(done_by_command(AuditEvent.ACCESS_ENDED, f"tokens, programs, {EVERYBODY}"))
    with open_catalogue(given) as store, store.auditing(*entries):
        store.end_all_access(tokens=given.tokens)
    print(f"mapshelf: {ENDED}{REVOKED if given.tokens else ''}", file=sys.stderr)
    return 0


def _noted(given: argparse.Namespace, event: AuditEvent, change: Callable[[Store], User]) -> int:
    """Change the given user, and add the event to the audit log."""
    entry = done_by_command(event, about_user(given.name))
    with open_catalogue(given) as store, store.auditing(entry):
        change(store)
    return 0
