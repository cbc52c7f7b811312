"""``mapshelf audit``: who did what to what, and from where."""

import argparse
from collections.abc import Iterator
from typing import Final

import orjson

from mapshelf.accounts.audit import KEPT
from mapshelf.cli.argument_types import user_name, whole_number
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.table_output import print_row
from mapshelf.clock import milliseconds
from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import (
    DAY,
    AuditEvent,
    AuditRecord,
    about_map,
    about_user,
    composed_name,
    name_key,
)
from mapshelf.store.contract import AuditLog

AT_ONCE: Final = 1000
"""Records read at a time."""

LONGEST: Final = KEPT // DAY
"""How many days the log goes back."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "--user", metavar="NAME", type=user_name, help="only entries by or about this user"
    )
    parser.add_argument(
        "--since",
        metavar="DAYS",
        type=whole_number(LONGEST),
        default=LONGEST,
        help=f"only the last DAYS days; default: {LONGEST}, all that is kept",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    show = _print_json if given.json else _print_line
    since = milliseconds() - given.since * DAY
    with open_catalogue(given) as store:
        for record in _records(store, since):
            if given.user is None or _is_about(record, given.user):
                show(record)
    return 0


def _records(store: AuditLog, since: int) -> Iterator[AuditRecord]:
    after = 0
    while some := store.audit_records(since, after, AT_ONCE):
        yield from some
        after = some[-1].id


def _is_about(record: AuditRecord, name: str) -> bool:
    entry, key = record.entry, _key(name)
    about = _key(about_user(name))
    target = _key(entry.target)
    if entry.target.startswith(about_map("")):
        _, _, target = target.partition(", ")
    of_user = entry.event is AuditEvent.TOKEN_MADE and target.startswith(f"{about}, ")
    return _key(entry.user) == key or target == about or of_user


def _key(text: str) -> str:
    return name_key(composed_name(text))


def _print_line(record: AuditRecord) -> None:
    entry = record.entry
    repeated = f"{record.count} times" if record.count > 1 else ""
    print_row(
        format_date(record.at), entry.event, entry.user, entry.target, entry.address, repeated
    )


def _print_json(record: AuditRecord) -> None:
    entry = record.entry
    values = {
        "at": format_date(record.at),
        "last": format_date(record.last),
        "count": record.count,
        "event": entry.event,
        "user": entry.user,
        "target": entry.target,
        "address": entry.address,
    }
    print(orjson.dumps(values).decode())
