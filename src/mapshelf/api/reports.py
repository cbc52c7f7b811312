"""``POST …/reports``: reporting a problem with a map or a collection to the administrators."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import orjson

from mapshelf.accounts.audit import done_by, noted
from mapshelf.accounts.permissions import owns
from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, BodyRule, Request, Response, json_response
from mapshelf.api.json_bodies import parse_object
from mapshelf.api.map_writing import sender_address, signed, with_map
from mapshelf.api.visible_collections import visible_collection
from mapshelf.api.visible_maps import visible_map
from mapshelf.errors import Forbidden, InvalidParameter
from mapshelf.model import NOTE_LENGTH, AuditEvent, Collection, Map, Reason, User, about_collection
from mapshelf.store import Store

REPORT: Final = BodyRule(16_384, ("application/json",))
"""The body rule of a report."""


async def report_map(context: Context, request: Request) -> Response:
    """Report a map."""
    async with context.bodies.content(request) as body:
        said = _read(body)
    reason, note = read_report(said)
    await with_map(
        context,
        request,
        context.queues.writing,
        partial(_report, reason, note),
        own=False,
        event=AuditEvent.MAP_REPORTED,
    )
    return json_response(201, orjson.dumps({"reason": reason, "note": note}), NO_STORE)


async def report_collection(context: Context, request: Request) -> Response:
    """Report a collection."""
    async with context.bodies.content(request) as body:
        said = _read(body)
    reason, note = read_report(said)
    user, public_id = signed(request), request.parts["id"]
    address = sender_address(context, request)
    entry = done_by(user, address, AuditEvent.COLLECTION_REPORTED, about_collection(public_id))
    work = partial(add_collection_report, public_id, user, reason, note)
    do = partial(noted, entry, work, context.store_for(request))
    await context.queues.writing.result(object(), do, owner=request.owner)
    return json_response(201, orjson.dumps({"reason": reason, "note": note}), NO_STORE)


def read_report(said: Mapping[str, Any]) -> tuple[Reason, str]:
    """Return the reason and the note of a report.

    Raises:
        InvalidParameter: one of them is invalid.
    """
    reason, note = said.get("reason"), said.get("note", "")
    if not isinstance(reason, str) or reason not in list(Reason):
        raise InvalidParameter(f"A report needs a reason, one of {', '.join(Reason)}.")
    if not isinstance(note, str) or len(note) > NOTE_LENGTH:
        raise InvalidParameter(f"The note has at most {NOTE_LENGTH} characters.")
    lines = note.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Reason(reason), "\n".join(map(_printable, lines)).strip()


def find_reportable(store: Store, public_id: str, user: User) -> Map:
    """Return a map that a user may report.

    Raises:
        NotFound: the user may see no such map.
        Forbidden: it is the user's own.
    """
    found = visible_map(store, public_id, user)
    _refuse_own(found, user)
    return found


def find_reportable_collection(store: Store, public_id: str, user: User) -> Collection:
    """Return a collection that a user may report; raises errors like ``find_reportable``."""
    found = visible_collection(store, public_id, user)
    _refuse_own(found, user)
    return found


def add_collection_report(
    public_id: str, user: User, reason: Reason, note: str, store: Store
) -> None:
    """Report a collection; raises errors like ``find_reportable``."""
    found = find_reportable_collection(store, public_id, user)
    store.report_collection(found.id, user.id, reason, note)


def _report(reason: Reason, note: str, store: Store, found: Map, user: User) -> None:
    _refuse_own(found, user)
    store.report_map(found.file_id, user.id, reason, note)


def _refuse_own(found: Map | Collection, user: User) -> None:
    if owns(found, user):
        raise Forbidden("report", "You cannot report your own map or collection.")


def _printable(line: str) -> str:
    """Return a line without control characters, lone surrogates and bidirectional marks."""
    return "".join(letter for letter in line if letter.isprintable() or letter == "\t")


def _read(body: bytes) -> dict[str, Any]:
    said = parse_object(body)
    if not said.keys() <= {"reason", "note"}:
        raise InvalidParameter("The keys of the body must be reason and, optionally, note.")
    return said
