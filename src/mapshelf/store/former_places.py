"""Places that files have left: the rules and SQL of both databases.

Whether a file is a known one, moved, is a guess: its disk may be disconnected, or another process
may follow its folder. A wrong guess may cost a map its id, but must not publish anything. So if a
file is new where the file of an unpublished map was until lately, its map inherits from that, like
a copy, whatever the new file contains: it may be the file that was there, back with its disk.

What a map inherits from its place it keeps until somebody decides about it. It does not get rid of
that by becoming another map, as a copy does: a file is still in its place when it changes.

Many files are new in places that others have left because programs suggest the same name for each.
So a place counts for a while only, and only if the map was unpublished when its file left. If that
map only inherited this from a place, its own place counts no longer than that one, or such names
would hide files for ever.

The paths are kept, too, because a folder may be somewhere else when its files are back
(``importer/moved_folders.py``). They have no index: paths may be longer than PostgreSQL allows.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from mapshelf.model import MapDraft, Visibility
from mapshelf.store.inherited_visibility import EFFECTIVE, JOIN_STATES, NO_MAP, UNCERTAIN, Inherited
from mapshelf.store.publishing_queries import Read

MOST_FORMER_PLACES: Final = 100
"""Places kept of a map, so that one that is moved all the time does not fill the table."""

_FIND: Final = (
    f"SELECT p.digest, CASE {EFFECTIVE} WHEN 'unlisted' THEN 'unlisted' ELSE 'private' END"
    f" FROM former_places AS p JOIN maps AS m ON m.file_id = p.file_id {JOIN_STATES}"
    f" WHERE p.digest IN ({{}}) AND {EFFECTIVE} <> 'published'"
)
"""Places whose maps are not published, each with what is inherited there. In the place of a removed
map, a new one is private: nobody has removed it."""

_SINCE: Final = (
    "CASE WHEN EXISTS (SELECT 1 FROM inherited AS i"
    f" WHERE i.file_id = m.file_id AND i.original = {NO_MAP})"
    " THEN (SELECT max(p.since) FROM former_places AS p"
    " WHERE p.digest = ? OR p.file_id = m.file_id) ELSE ? END"
)
"""When a map left its place or, if it inherited from a place, when others left that: ``NULL`` if
that no longer counts."""

_NOTE: Final = (
    "INSERT INTO former_places (digest, path, file_id, since)"
    f" SELECT ?, ?, m.file_id, {_SINCE} FROM maps AS m"
    f" {JOIN_STATES} WHERE m.file_id = ? AND {EFFECTIVE} <> 'published' AND {_SINCE} IS NOT NULL"
    " ON CONFLICT (digest, file_id) DO UPDATE SET path = excluded.path, since = excluded.since"
    " RETURNING digest"
)

_BELOW: Final = "SELECT path, file_id, since FROM former_places WHERE path > ? AND path < ?"

_COPY: Final = (
    "INSERT INTO former_places (digest, path, file_id, since) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (digest, file_id) DO NOTHING RETURNING digest"
)

_PASS_ON: Final = (
    "INSERT INTO former_places (digest, path, file_id, since)"
    " SELECT digest, path, ?, since FROM former_places WHERE file_id = ?"
    " ON CONFLICT (digest, file_id) DO NOTHING RETURNING digest"
)

_DROP_OLDEST: Final = (
    "DELETE FROM former_places WHERE file_id = ? AND digest NOT IN (SELECT p.digest"
    " FROM former_places AS p WHERE p.file_id = ? ORDER BY p.since DESC, p.digest LIMIT ?)"
    " RETURNING digest"
)

_PURGE: Final = "DELETE FROM former_places WHERE since < ? RETURNING digest"


def note_former_place(read: Read, file_id: int, path: bytes, now: int) -> None:
    """Remember that the file of a map was at this place until now, unless the map is published."""
    digest = _digest(path)
    if read(_NOTE, (digest, path, digest, now, file_id, digest, now)):
        _drop_oldest(read, file_id)


def pass_on_former_places(read: Read, former: int, file_id: int) -> None:
    """Give the former places of the map ``former`` to another one, which replaces it."""
    if read(_PASS_ON, (file_id, former)):
        _drop_oldest(read, file_id)


def unpublished_places(read: Read, paths: Sequence[bytes]) -> set[bytes]:
    """Return those of ``paths`` that count as places of maps which are not published."""
    places = {_digest(path): path for path in paths}
    if not places:
        return set()
    rows = read(_FIND.format(", ".join("?" * len(places))), tuple(places))
    return {places[bytes(digest)] for digest, _ in rows}


def follow_former_places(read: Read, former: bytes, now: bytes) -> None:
    """Let the places below a folder count below another, too; see ``contract.Sources``."""
    # "0" is the character after the slash.
    rows = read(_BELOW, (former + b"/", former + b"0"))
    for path, file_id, since in rows:
        moved = now + path.removeprefix(former)
        read(_COPY, (_digest(moved), moved, file_id, since))
    for file_id in {file_id for _, file_id, _ in rows}:
        _drop_oldest(read, file_id)


def _drop_oldest(read: Read, file_id: int) -> None:
    read(_DROP_OLDEST, (file_id, file_id, MOST_FORMER_PLACES))


def purge_former_places(read: Read, before: int) -> None:
    """Forget the places that files left before this time."""
    read(_PURGE, (before,))


def inherited_at_places(read: Read, drafts: Iterable[MapDraft]) -> dict[bytes, Inherited]:
    """Return what maps inherit whose files are new at the places of ``drafts``, by place."""
    digests = tuple({digest for draft in drafts for digest in _places_of(draft)})
    if not digests:
        return {}
    found: dict[bytes, Inherited] = {}
    for digest, visibility in read(_FIND.format(", ".join("?" * len(digests))), digests):
        inherited = Inherited(Visibility(visibility), NO_MAP, None, None, None)
        other = found.get(digest)
        if other is None or inherited.is_stricter_than(other.visibility):
            found[digest] = inherited
    return found


def with_place(
    inherited: Inherited | None, places: Mapping[bytes, Inherited], draft: MapDraft
) -> Inherited | None:
    """Return what a map inherits whose file is new at its place: the strictest of both.

    ``inherited`` is what it inherits because of its content; ``places`` are from
    ``inherited_at_places``. A file that may be another one, which is not published, is private.
    """
    if draft.uncertain and not (inherited and inherited.is_stricter_than(Visibility.PRIVATE)):
        inherited = UNCERTAIN
    for place in _places_of(draft):
        found = places.get(place)
        if found is None:
            continue
        if inherited is not None and inherited.is_stricter_than(found.visibility):
            found = inherited._replace(original=NO_MAP)
        inherited = found
    return inherited


def _places_of(draft: MapDraft) -> list[bytes]:
    """Return the digests of the places of a file that is new there."""
    if draft.source is None or draft.folder is None:
        return []
    return [_digest(path) for path in (draft.source.path, *draft.other_places)]


def _digest(path: bytes) -> bytes:
    return sha256(path).digest()
