"""What a new file inherits from others with the same content: the rules and SQL of both databases.

Synchronizing programs, and ``mv`` between file systems, copy a file and delete the original later.
So a copy of a file whose map is not published must not be published as a new map, unless another
map with the same content is published: then everybody can see it anyway. What is in the folders
that are imported together decides that, and if nothing is, what is in any folder: the file may have
been moved out of one that another process follows.

A copy may also be the beginning of another map. But it may as well be the file itself, moved, so
what it inherits stays, whatever is written into it, until somebody decides about its visibility: a
user, an administrator, or a record. Only a removal becomes private: nobody has removed what is
written then. Until somebody decides, the map has a mark in the table ``inherited``: it may be
replaced by the map of the file of which it is a copy (see ``copied_files``). A map without a mark
stays as it is, because who decided that cannot be seen in the map itself.

Operators may let new maps begin unpublished (``MapDraft.initial_visibility``). Then a copy has a
mark, too, even if it inherits nothing because it is as hidden already, or because another equal map
is published: it may be the file of an unpublished map, moved.

A file may also have been read while it was being copied. If it becomes a copy soon after its map
was added, the map inherits like a new one, unless people have done something with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from mapshelf.model import GONE, HOUR, SYSTEM_USER, Map, MapDraft, Source, Visibility, name_key
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import INHERITED, Row

EFFECTIVE: Final = (
    "CASE WHEN r.file_id IS NULL THEN coalesce(g.visibility, m.visibility) ELSE 'removed' END"
)
"""The visibility of a map, or the one that it gets back if its file is missing."""

JOIN_STATES: Final = (
    "LEFT JOIN removed AS r ON r.file_id = m.file_id"
    " LEFT JOIN missing AS g ON g.file_id = m.file_id"
)
"""The joins that ``EFFECTIVE`` needs."""

_WITH_CONTENT: Final = (
    "SELECT file_id, path, modified, 0 AS formerly FROM sources WHERE digest = {digest} UNION ALL"
    f" SELECT o.file_id, o.path, {GONE}, 1 FROM former_contents AS f JOIN sources AS o"
    " ON o.file_id = f.file_id WHERE f.digest = {digest}"
)
"""The files with a content. One that had it formerly counts like a missing one."""

FIND_INHERITED: Final = (
    f"SELECT {EFFECTIVE}, m.file_id, r.visibility, r.removed, r.removed_by"
    f" FROM ({_WITH_CONTENT}) AS s"
    " JOIN maps AS m ON m.file_id = s.file_id JOIN users AS u ON u.id = m.owner_id"
    f" {JOIN_STATES} WHERE CASE m.visibility"
    f" WHEN 'published' THEN s.modified <> {GONE} ELSE {EFFECTIVE} <> 'published' END"
    " AND (substr(s.path, 1, length({folder})) = {folder} OR u.name_key = {owner})"
    " AND (length({folder}) > 0 OR m.visibility = 'published'"
    f" OR (s.modified = {GONE} AND u.name_key = '{name_key(SYSTEM_USER)}'))"
    f" ORDER BY {EFFECTIVE} <> 'published', formerly,"
    f" CASE {EFFECTIVE} WHEN 'removed' THEN 1 WHEN 'private' THEN 2 ELSE 3 END,"
    " m.file_id LIMIT 1"
)
"""The columns of ``Inherited``; the names in braces stand for the parts of ``keys_of``.

A published map whose file is there comes first: nothing is inherited then. Former contents come
last: a copy of a template is not a copy of every map that was begun from it. ``EVERYWHERE``, only
files of ``SYSTEM_USER`` count that are missing: the new file may be one of them, moved."""


UNTOUCHED: Final = "m.set_by_people = ''" + "".join(
    f" AND NOT EXISTS (SELECT 1 FROM {name} AS o WHERE o.file_id = m.file_id)"
    for name in ("votes", "collected_maps", "decisions", "reports")
)
"""Whether nobody has edited, collected, reported or voted for a map, nor decided about it."""

COPIED_WITHIN: Final = HOUR
"""Milliseconds after a map was added in which its file may still be being copied."""

_CHANGED_NEW_UNTOUCHED: Final = (
    "SELECT 1 FROM maps AS m JOIN sources AS s ON s.file_id = m.file_id"
    " JOIN additions AS a ON a.file_id = m.file_id"
    f" WHERE m.file_id = ? AND s.path = ? AND s.digest <> ? AND {UNTOUCHED}"
    f" AND abs(a.added - ?) < {COPIED_WITHIN}"
    " AND NOT EXISTS (SELECT 1 FROM sources AS t WHERE t.file_id = m.file_id AND t.path <> s.path)"
)

_REMOVED_COPY: Final = (
    "SELECT 1 FROM inherited AS i JOIN removed AS r ON r.file_id = i.file_id"
    " WHERE i.file_id = ? AND i.digest <> ?"
    " AND NOT EXISTS (SELECT 1 FROM missing AS g WHERE g.file_id = i.file_id)"
)

_HIDE: Final = (
    "UPDATE {} SET visibility = ? WHERE file_id = ?"
    " AND visibility IN ('published', 'unlisted') RETURNING file_id"
)

_FORGET: Final = "DELETE FROM inherited WHERE file_id = ? RETURNING file_id"

NO_MAP: Final = 0
"""Stands for the original of a map that inherits from its place; no map has this id."""

EVERYWHERE: Final = b""
"""The beginning of all paths, as a folder in ``keys_of``."""

_STRICTNESS: Final = (
    Visibility.PUBLISHED,
    Visibility.UNLISTED,
    Visibility.PRIVATE,
    Visibility.REMOVED,
)


class Inherited(NamedTuple):
    """What a map inherits whose file is new, comes back at a new place, or has become a copy.

    Attributes:
        visibility: its visibility.
        original: the ``file_id`` of the other map.
        before: the visibility before the removal, ``None`` if it is not removed, like the others.
        removed: time of the removal.
        removed_by: the user who removed the other map.
    """

    visibility: Visibility
    original: int
    before: str | None
    removed: int | None
    removed_by: int | None

    def is_stricter_than(self, visibility: Visibility) -> bool:
        """Return whether fewer people see maps with what is inherited than with ``visibility``."""
        return _STRICTNESS.index(self.visibility) > _STRICTNESS.index(visibility)

    def is_not_looser_than(self, visibility: Visibility) -> bool:
        """Return whether what is inherited shows maps to nobody who does not see them already.

        It is false for a published map, from which nothing is inherited.
        """
        if self.visibility is Visibility.PUBLISHED:
            return False
        return self.visibility is visibility or self.is_stricter_than(visibility)

    def mark_row(self, found: Map, digest: bytes) -> Row:
        """Return the row of ``tables.INHERITED`` for a map with this content that inherits this.

        ``found`` is the map as it would be without that. Only nodes of former versions read its
        visibility from there.
        """
        return (found.file_id, self.original, digest, found.visibility.value)

    def removed_row(self, found: Map) -> Row | None:
        """Return the row of ``tables.REMOVED`` for a map, ``None`` if it is not removed.

        Whoever restores it does not say that it is to be more visible than ``found``, which is the
        map as it would be without that.
        """
        if self.before is None:
            return None
        before = _strictest(Visibility(self.before), found.visibility)
        return (found.file_id, before.value, self.removed, self.removed_by)


UNCERTAIN: Final = Inherited(Visibility.PRIVATE, -1, None, None, None)
"""What a map inherits whose file may be that of another, which is not published. Of several, it is
not known which; no map has this id either."""


class Inheritance(Protocol):
    """What maps inherit whose files a batch finds at new places."""

    def of(self, draft: MapDraft) -> Inherited | None:
        """Return what the map of this draft inherits, or a published map with its content.

        Because of a published one, nothing is inherited.
        """

    def of_new(self, draft: MapDraft) -> Inherited | None:
        """Like ``of``, if the file of this draft is new at its place; see ``former_places``."""

    def write_removed(self, row: Row) -> None:
        """Write a row of ``tables.REMOVED`` for a map."""

    def write_mark(self, row: Row) -> None:
        """Write a row of ``tables.INHERITED`` for a map."""

    def write_addition(self, row: Row) -> None:
        """Write a row of ``tables.ADDITIONS`` for a new map."""

    def forget(self, file_id: int) -> None:
        """Delete the mark of a map, if any, because its visibility is decided otherwise."""

    def note_former_content(self, file_id: int, now: int, source: Source) -> None:
        """Remember the content that a file had before, if ``source`` has another one.

        This MUST happen before ``source`` is written.
        """


def as_inherited(found: Map, inherited: Inherited | None) -> Map:
    """Return a map with the visibility that it inherits, if that is stricter than its own."""
    if inherited is None or not inherited.is_stricter_than(found.visibility):
        return found
    return replace(found, visibility=inherited.visibility)


def hide_uncertain(read: Read, file_id: int, digest: bytes) -> None:
    """Let a map be private, also when its file is back, whose file may be that of another map."""
    values = (UNCERTAIN.visibility.value, file_id)
    hidden = [row for table in ("maps", "missing") for row in read(_HIDE.format(table), values)]
    if hidden:
        mark = (file_id, UNCERTAIN.original, digest, Visibility.PUBLISHED.value)
        read(f"{INHERITED.upsert('?')} RETURNING file_id", mark)


def without_inherited_removal(read: Read, found: Map, draft: MapDraft) -> Map:
    """Return a map that only inherited its removal as a private one, if its content changes.

    Nobody has removed what it contains now, and nobody would find it.
    """
    if draft.source is None or found.visibility is not Visibility.REMOVED:
        return found
    if not read(_REMOVED_COPY, (found.file_id, draft.source.digest)):
        return found
    read("DELETE FROM removed WHERE file_id = ? RETURNING file_id", (found.file_id,))
    return replace(found, visibility=Visibility.PRIVATE)


def _strictest(*some: Visibility) -> Visibility:
    return max(some, key=_STRICTNESS.index)


def forget_inherited(read: Read, file_id: int) -> None:
    """Record that a map did not only inherit its visibility: somebody has decided about it."""
    read(_FORGET, (file_id,))


def may_inherit_again(read: Read, found: Map, draft: MapDraft, now: int) -> bool:
    """Return whether a map inherits like a new one: its file has another content now.

    That is a published map, or one with the visibility that the draft says new maps have.
    A file may have been read while it was being copied. Later, its map may be known to people, and
    must not disappear because somebody else has a private copy of what it contains now.
    """
    source = draft.source
    if source is None or found.visibility not in (Visibility.PUBLISHED, draft.initial_visibility):
        return False
    values = (found.file_id, source.path, source.digest, now)
    return bool(read(_CHANGED_NEW_UNTOUCHED, values))


def keys_of(draft: MapDraft) -> list[Row]:
    """Return what decides what a new map inherits: digest, folder and owner, for each folder.

    Empty if it inherits nothing, because its file is not from a folder. Nobody is the owner of the
    maps of ``SYSTEM_USER``, so these inherit from the folders that are imported together, or else
    from missing files ``EVERYWHERE``.
    """
    if draft.source is None or draft.folder is None:
        return []
    owner = name_key(draft.owner or SYSTEM_USER)
    if owner != name_key(SYSTEM_USER):
        return [(draft.source.digest, draft.folder, owner)]
    folders = [EVERYWHERE, *sorted({draft.folder, *draft.other_folders})]
    return [(draft.source.digest, folder, "") for folder in folders]


def strictest(found: Mapping[Row, Inherited], draft: MapDraft) -> Inherited | None:
    """Return what ``keys_of(draft)`` find: a published map, if any, or else the strictest.

    What is found ``EVERYWHERE`` only counts if nothing is found nearer.
    """
    keys = [key for key in keys_of(draft) if key in found]
    near = [key for key in keys if key[1] != EVERYWHERE]
    some = [found[key] for key in near or keys]
    published = (one for one in some if one.visibility is Visibility.PUBLISHED)
    if shown := next(published, None):
        return shown
    return max(some, key=lambda one: _STRICTNESS.index(one.visibility), default=None)


def inherited_of_row(row: Sequence[object]) -> Inherited:
    """Return what is in a row with the columns of ``FIND_INHERITED``."""
    visibility, *others = row
    return Inherited(Visibility(visibility), *others)  # type: ignore[arg-type]
