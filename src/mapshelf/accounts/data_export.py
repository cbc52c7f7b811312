"""Exports all data about a user as a ZIP file that is streamed in pieces.

At most one map file is in memory at a time. Data about other people is left out: their votes and
reports, and the addresses from which they tried to sign in.
"""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import orjson

from mapshelf.errors import StoreDamaged
from mapshelf.formats.file_names import file_name, split_name
from mapshelf.formats.ndjson_records import format_date, format_record
from mapshelf.model import (
    AuditEvent,
    AuditRecord,
    Grant,
    Identity,
    Map,
    OriginalFile,
    Passkey,
    Token,
    User,
    Version,
)
from mapshelf.store import Store

T = TypeVar("T")

FORMAT: Final = "mapshelf-account"
VERSION: Final = 1

AT_ONCE: Final = 500
"""Rows read at a time."""

MOST_BYTES: Final = 2 << 30
"""Maximum bytes of map files in a ZIP: twice a member's default quota. Others are left out, and
``account.json`` counts them."""

LEVEL: Final = 1
"""Compression level. Most map files are already compressed."""


class PieceSink(io.RawIOBase):
    """A writable stream for ``zipfile`` that buffers bytes until they are read by ``taken``."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any) -> int:
        """Buffer some bytes."""
        self._pieces.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece


@dataclass(slots=True)
class _Files:
    """Progress of the map files: the room left in the ZIP, and how many files did not fit."""

    room: int
    left_out: int = 0


def export_data(store: Store, user: User, now: int, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Yield a ZIP file with all data about a user.

    Args:
        store: the store to read.
        user: the user.
        now: milliseconds since 1970-01-01 UTC.
        most: maximum total size of map files, in bytes.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    sink, files = PieceSink(), _Files(most)
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        for name, lines in (
            ("maps.ndjson", _maps(store, user)),
            ("votes.ndjson", _votes(store, user)),
            ("reports.ndjson", chain(_reports(store, user), _collection_reports(store, user))),
            ("collections.ndjson", _collections(store, user)),
            ("searches.ndjson", _searches(store, user)),
            ("audit.ndjson", _audit(store, user)),
        ):
            with packed.open(name, "w") as file:
                for line in lines:
                    file.write(orjson.dumps(line) + b"\n")
                    yield sink.taken()
        for found in _owned(store, user):
            for path, kept in _files(store, found):
                if not _is_owned(store, user, found):  # what was read may be of the next owner
                    break
                _put_file(packed, path, kept, files)
                yield sink.taken()
        packed.writestr("account.json", _account(store, user, now, files))
    yield sink.taken()


def _account(store: Store, user: User, now: int, files: _Files) -> bytes:
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "exported": format_date(now),
        "user": {
            "name": user.name,
            "registered": format_date(user.registered),
            "role": user.role,
        },
        "tokens": [_token(token) for token in store.tokens(user.name)],
        "sessions": [_token(token) for token in store.sessions(user.id)],
        "programs": [_program(grant) for grant in store.grants(user.id, now)],
        "passkeys": [_passkey(one) for one in store.passkeys(user.id)],
        "identities": [_identity(one) for one in store.identities(user.id)],
        "files_left_out": files.left_out,
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2)


def _owned(store: Store, user: User) -> Iterator[Map]:
    yield from _all(
        lambda after: store.maps_of(user.id, after, AT_ONCE), lambda found: found.file_id
    )


def _is_owned(store: Store, user: User, found: Map) -> bool:
    """Return whether a map is still the user's; it may be removed."""
    still = store.maps_of(user.id, found.file_id - 1, 1)
    return [one.file_id for one in still] == [found.file_id]


def _maps(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    for found in _owned(store, user):
        versions = store.versions(found.file_id)
        if _is_owned(store, user, found):
            yield {
                **orjson.loads(format_record(found)),
                "visibility": found.visibility.value,
                "versions": [_version(one) for one in versions],
            }


def _votes(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    rows = _all(lambda after: store.votes_of(user.id, after, AT_ONCE), lambda row: row[0])
    for _, public_id, vote in rows:
        yield {"map": public_id, "vote": vote.name.lower()}


def _reports(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    rows = _all(lambda after: store.reports_of(user.id, after, AT_ONCE), lambda row: row[0])
    for _, public_id, report in rows:
        yield {
            "map": public_id,
            "reason": report.reason,
            "note": report.note,
            "created": format_date(report.created),
        }


def _collection_reports(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    for public_id, report in store.collection_reports_of(user.id):
        yield {
            "collection": public_id,
            "reason": report.reason,
            "note": report.note,
            "created": format_date(report.created),
        }


def _collections(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    for found in store.collections_of(user.id):
        yield {
            "id": found.id,
            "title": found.title,
            "text": found.text,
            "visibility": found.visibility.value,
            "created": format_date(found.created),
            "changed": format_date(found.changed),
            "maps": [one.id for one in store.collected_maps(found.id)],
        }


def _searches(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    for found in store.saved_searches_of(user.id):
        yield {
            "id": found.id,
            "name": found.name,
            "parameters": dict(parse_qsl(found.parameters)),
            "created": format_date(found.created),
            "changed": format_date(found.changed),
        }


def _audit(store: Store, user: User) -> Iterator[Mapping[str, Any]]:
    records: Iterable[AuditRecord] = _all(
        lambda after: store.audit_records_of(user.id, after, AT_ONCE), lambda one: one.id
    )
    for record in records:
        entry = record.entry
        failed = entry.event is AuditEvent.SIGN_IN_FAILED
        yield {
            "at": format_date(record.at),
            "last": format_date(record.last),
            "count": record.count,
            "event": entry.event,
            "target": entry.target,
            "address": "" if failed else entry.address,
        }


def _files(store: Store, found: Map) -> Iterator[tuple[str, OriginalFile]]:
    """Yield the file of a map and of its earlier versions, each with its folder in the ZIP."""
    folder = f"files/{found.id}"
    if kept := store.content(found.file_id):
        yield folder, kept
    for version in store.versions(found.file_id):
        if not version.current and (kept := store.version_file(found.file_id, version.number)):
            yield f"{folder}/versions/{version.number}", kept


def _put_file(packed: zipfile.ZipFile, folder: str, kept: OriginalFile, files: _Files) -> None:
    try:
        content = kept.decompressed()
    except StoreDamaged:  # a damaged file must not stop the export
        files.left_out += 1
        return
    if len(content) > files.room:
        files.left_out += 1
        return
    files.room -= len(content)
    packed.writestr(f"{folder}/{file_name(*split_name(kept.name))}", content)


def _version(version: Version) -> Mapping[str, Any]:
    return {
        "number": version.number,
        "name": version.name,
        "size": version.size,
        "sha256": version.digest.hex(),
        "created": format_date(version.created),
        "current": version.current,
    }


def _token(token: Token) -> Mapping[str, Any]:
    return {
        "label": token.label,
        "scopes": token.scopes,
        "created": format_date(token.created),
        "expires": _date(token.expires),
        "revoked": _date(token.revoked),
        "last_used": _date(token.last_used),
    }


def _program(grant: Grant) -> Mapping[str, Any]:
    return {
        "program": grant.program,
        "scopes": grant.scopes,
        "created": format_date(grant.created),
        "expires": format_date(grant.expires),
        "last_used": _date(grant.last_used),
    }


def _passkey(passkey: Passkey) -> Mapping[str, Any]:
    return {
        "name": passkey.name,
        "created": format_date(passkey.created),
        "last_used": _date(passkey.last_used),
    }


def _identity(identity: Identity) -> Mapping[str, Any]:
    return {
        "issuer": identity.issuer,
        "subject": identity.subject,
        "name": identity.name,
        "created": format_date(identity.created),
    }


def _date(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else format_date(milliseconds)


def _all(read: Callable[[int], list[T]], number: Callable[[T], int]) -> Iterator[T]:
    after = 0
    while some := read(after):
        yield from some
        after = number(some[-1])
