"""Places that files have left: the rules and SQL of both databases.

Whether a file is a known one, moved, is a guess: its disk may be disconnected, or another process
may follow its folder. A wrong guess may cost a map its id, but must not publish anything. So if a
file is new where the file of another map was, its map inherits from that, like a copy, whatever the
new file contains: it may be the file that was there, back with its disk.

What a map inherits from its place it keeps until somebody decides about it. It does not get rid of
that by becoming another map, as a copy does: a file is still in its place when it changes.

The last map at a place counts. If it is deleted because its file has been missing for long, its
visibility is remembered instead; if a user or an administrator deletes it, nothing is.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from mapshelf.model import MapDraft, Visibility
from mapshelf.store.inherited_visibility import EFFECTIVE, Inherited, inherited_of_row
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import Row

PLACES_AT_ONCE: Final = 500
"""Places looked up in one statement."""

_NO_MAP: Final = 0
"""Stands for the original of a map that inherits from its place; no map has this id."""

_STATES: Final = (
    "LEFT JOIN removed AS r ON r.file_id = m.file_id"
    " LEFT JOIN missing AS g ON g.file_id = m.file_id"
)
"""What ``EFFECTIVE`` needs."""

_FIND: Final = (
    f"SELECT * FROM (SELECT p.digest, coalesce(p.visibility, {EFFECTIVE}) AS effective,"
    f" {_NO_MAP} AS original, r.visibility, r.removed, r.removed_by FROM former_places AS p"
    f" LEFT JOIN maps AS m ON m.file_id = p.file_id {_STATES} WHERE p.digest IN ({{}})) AS found"
    " WHERE effective <> 'published'"
)
"""Places whose maps are not published, each with the columns of ``Inherited``."""

_NOTE: Final = (
    "INSERT INTO former_places (digest, file_id) VALUES (?, ?) ON CONFLICT (digest)"
    " DO UPDATE SET file_id = excluded.file_id, visibility = NULL RETURNING digest"
)

_PASS_ON: Final = "UPDATE former_places SET file_id = ? WHERE file_id = ? RETURNING digest"

_KEEP: Final = (
    "UPDATE former_places SET file_id = NULL, visibility = ? WHERE file_id = ? RETURNING digest"
)

_FILES: Final = "SELECT path FROM sources WHERE file_id = ?"

_VISIBILITY: Final = f"SELECT {EFFECTIVE} FROM maps AS m {_STATES} WHERE m.file_id = ?"


def note_former_place(read: Read, file_id: int, path: bytes) -> None:
    """Remember that the file of a map was at this place until now."""
    read(_NOTE, (_digest(path), file_id))


def pass_on_former_places(read: Read, former: int, file_id: int) -> None:
    """Give the former places of the map ``former`` to another one, which replaces it."""
    read(_PASS_ON, (file_id, former))


def keep_former_places(read: Read, file_id: int) -> None:
    """Remember the places of a map that is deleted now, because its files are missing.

    Nothing is remembered of a published map. The removal of a map ends with it: there would be
    nothing to restore.
    """
    for (path,) in read(_FILES, (file_id,)):
        note_former_place(read, file_id, path)
    ((found,),) = read(_VISIBILITY, (file_id,))
    if Visibility(found) is not Visibility.PUBLISHED:
        unlisted = Visibility(found) is Visibility.UNLISTED
        kept = Visibility.UNLISTED if unlisted else Visibility.PRIVATE
        read(_KEEP, (kept.value, file_id))


def inherited_at_places(read: Read, drafts: Iterable[MapDraft]) -> dict[bytes, Inherited]:
    """Return what maps inherit whose files are new at the places of ``drafts``, by place."""
    places = list({_digest(draft.source.path) for draft in drafts if draft.source and draft.folder})
    pages = (
        places[start : start + PLACES_AT_ONCE] for start in range(0, len(places), PLACES_AT_ONCE)
    )
    rows = (row for page in pages for row in _rows_at(read, page))
    return {digest: inherited_of_row(row) for digest, *row in rows}


def with_place(
    inherited: Inherited | None, places: Mapping[bytes, Inherited], draft: MapDraft
) -> Inherited | None:
    """Return what a map inherits whose file is new at its place: the strictest of both.

    ``inherited`` is what it inherits because of its content; ``places`` are from
    ``inherited_at_places``.
    """
    place = places.get(_digest(draft.source.path)) if draft.source and draft.folder else None
    if place is None:
        return inherited
    if inherited is not None and inherited.is_stricter_than(place.visibility):
        return inherited._replace(original=_NO_MAP)
    return place


def _rows_at(read: Read, digests: list[bytes]) -> list[Row]:
    return read(_FIND.format(", ".join("?" for _ in digests)), tuple(digests))


def _digest(path: bytes) -> bytes:
    return sha256(path).digest()
