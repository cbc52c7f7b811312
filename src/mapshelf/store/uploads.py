"""Publish uploaded maps and replace their files: the rules and SQL that both databases share."""

from dataclasses import replace
from typing import Any, Final

from mapshelf.errors import Conflict
from mapshelf.formats.ndjson_records import size_of
from mapshelf.model import Map, MapDetails, MapDraft, UploadedFile, Verdict, about_map
from mapshelf.store.batch import Batch, BatchRows
from mapshelf.store.contract.publishing import CheckUsage
from mapshelf.store.publishing import (
    Transaction,
    refuse_removal,
    require_category,
    require_map,
    require_user,
    said_fields,
    settled_keys,
)
from mapshelf.store.publishing_queries import REPEATED, uploaded, usage

VERSIONS_KEPT: Final = 10
"""Versions stored of each map, including the current one."""

_NO_MAP: Final = 0
"""Stands for the map of a refused file; no map has this id."""


def publish(  # noqa: PLR0913, PLR0917 - those of the contract
    database: Transaction,
    file: UploadedFile,
    details: MapDetails,
    owner_id: int,
    key: bytes | None,
    check: CheckUsage,
) -> tuple[Map, bool]:
    """See ``contract.Uploads``."""
    owner = require_user(database, owner_id)
    if owner.disabled:
        raise Conflict(f"the user {owner.name} is disabled")
    said = said_fields(details)
    given = {**_of_upload(file), **said}
    if given["title"] is None:
        raise Conflict("a new map needs a title")
    refuse_removal(details)
    known = uploaded(database.rows, database.now, file.digest, owner_id, key)
    if known is not None:
        database.audit_entries.drop()
        return known, False
    check(usage(database.rows, owner_id, database.now))
    draft = replace(_draft(file), **given, owner=owner.name)
    with database.batch(draft) as rows:
        require_category(rows, details)
        new = _put(rows, draft, database.now)
        if settled := settled_keys(said):
            new = replace(new, set_by_people=settled)
            rows.write_map(new, owner)
        rows.write_content(new.file_id, file.digest, file.content)
    _add_version(database, new.file_id, 1, file, owner_id)
    _note_upload(database, new.file_id, owner_id, key)
    database.audit_entries.about(about_map(new.id))
    return new, True


def replace_file(
    database: Transaction, file_id: int, file: UploadedFile, user_id: int, check: CheckUsage
) -> Map:
    """See ``contract.Uploads``."""
    found = require_map(database, file_id)
    require_user(database, user_id)
    current = database.rows(
        "SELECT number, digest FROM versions WHERE file_id = ? AND content IS NULL", (file_id,)
    )
    if not current:
        raise Conflict("this map was not uploaded: its file belongs to a folder")
    ((number, digest),) = current
    if bytes(digest) == file.digest:
        database.audit_entries.drop()
        return found
    check(usage(database.rows, user_id, database.now, file_id))
    database.execute(
        "UPDATE versions SET content = (SELECT content FROM files WHERE file_id = ?)"
        " WHERE file_id = ? AND number = ?",
        (file_id, file_id, number),
    )
    draft = replace(_draft(file), id=found.id)
    with database.batch(draft) as rows:
        rows.write_content(file_id, file.digest, file.content)
        changed = _put(rows, draft, database.now)
    _add_version(database, file_id, number + 1, file, user_id)
    database.execute(
        "DELETE FROM versions WHERE file_id = ? AND number <= ?",
        (file_id, number + 1 - VERSIONS_KEPT),
    )
    _note_upload(database, file_id, user_id, None)
    return changed


def note_refused_upload(database: Transaction, user_id: int) -> None:
    """See ``contract.Uploads``."""
    require_user(database, user_id)
    database.audit_entries.drop()  # they describe an upload that did not happen
    _note_upload(database, _NO_MAP, user_id, None)


def _draft(file: UploadedFile) -> MapDraft:
    """Return the draft for an uploaded file, leaving out what users describe better."""
    return MapDraft(
        size=size_of(file.size),
        software=file.software,
        outline=file.outline,
        images=file.images,
        links=file.links,
    )


def _put(rows: BatchRows, draft: MapDraft, now: int) -> Map:
    (outcome,) = Batch(rows, now).put([draft])
    found = rows.map_with_id(outcome.id)
    if outcome.verdict is Verdict.REFUSED or found is None:
        raise Conflict(outcome.reason)
    if outcome.verdict is Verdict.UNCHANGED:  # a new file is a change even if its map is equal
        rows.write_map(found, rows.user(found.owner, now))
    return found


def _add_version(
    database: Transaction, file_id: int, number: int, file: UploadedFile, user_id: int
) -> None:
    database.execute(
        "INSERT INTO versions (file_id, number, name, digest, size, created, created_by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (file_id, number, file.name, file.digest, file.size, database.now, user_id),
    )


def _note_upload(database: Transaction, file_id: int, user_id: int, key: bytes | None) -> None:
    database.execute("DELETE FROM uploads WHERE created <= ?", (database.now - REPEATED,))
    database.execute(
        "INSERT INTO uploads (user_id, file_id, key, created) VALUES (?, ?, ?, ?)",
        (user_id, file_id, key, database.now),
    )


def _of_upload(file: UploadedFile) -> dict[str, Any]:
    """Return the fields of ``Map`` that a user may leave to the file."""
    names = ("title", "description", "template", "tags")
    return {name: getattr(file, name) for name in names}
