"""Apply a batch of map drafts: the import rules that every store follows.

A store passes its ``BatchRows``: look-ups and writes inside one exclusive write transaction. The
batch decides which map a draft refers to, which ids a new map gets, and which drafts are refused,
so an import behaves the same in both databases.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

from mapshelf.errors import Conflict
from mapshelf.model import (
    LARGEST_ID,
    SYSTEM_USER,
    UNCATEGORISED,
    Map,
    MapDraft,
    MapLink,
    Named,
    Outcome,
    Source,
    User,
    Verdict,
    Visibility,
    Votes,
    name_key,
)
from mapshelf.store.columns import SELECT_RENAMED_TAGS
from mapshelf.store.inherited_visibility import (
    UNCERTAIN,
    Inheritance,
    Inherited,
    as_inherited,
    keys_of,
    may_inherit_again,
    without_inherited_removal,
)
from mapshelf.store.merge import (
    NO_VOTES,
    References,
    created,
    current_tags,
    updated,
    without_settled,
)
from mapshelf.store.missing_maps import as_before, note_return
from mapshelf.store.named_rows import NamedRows
from mapshelf.store.tables import Row


class BatchRows(Protocol):
    """The database operations of a batch. Look-ups MUST see earlier writes of the batch.

    Attributes:
        inheritance: what maps inherit from others with the same content.
    """

    inheritance: Inheritance

    def read(self, sql: str, values: Row) -> list[Row]:
        """Return the rows of a statement with ``?`` for each value."""

    def map_with_id(self, public_id: str) -> Map | None:
        """Return the map with this public id."""

    def map_from(self, path: bytes) -> Map | None:
        """Return the map that was read from the file at ``path``."""

    def deleted_file_id(self, public_id: str) -> int | None:
        """Return the ``file_id`` that the deleted map with this public id had."""

    def unused_id(self) -> str:
        """Return a random public id that no map ever had, from ``merge.new_id``."""

    def forget_deletion(self, public_id: str) -> None:
        """Forget that the map with this public id was deleted, if it was."""

    def id_with_file_id(self, file_id: int, other_than: str) -> str | None:
        """Return the id of the map with ``file_id``, or of a deleted map ``other_than`` this id."""

    def last_file_id(self) -> int:
        """Return the highest ``file_id`` ever used."""

    def use_file_id(self, file_id: int) -> None:
        """Record that ``file_id`` is used."""

    def user(self, name: str, now: int) -> User:
        """Return the user with this name, ignoring case; register one if missing."""

    def has_outline(self, file_id: int, outline: bytes) -> bool:
        """Return whether the map has this outline."""

    def has_content(self, file_id: int, digest: bytes) -> bool:
        """Return whether the stored file of the map has this digest."""

    def image_digests(self, file_id: int) -> Set[str]:
        """Return the digests of the pictures of the map."""

    def votes(self, file_id: int) -> Votes:
        """Return the votes for and against the map."""

    def write_map(self, new: Map, owner: User) -> None:
        """Write a map as one change, leaving rows that refer to it unchanged."""

    def write_outline(self, file_id: int, outline: bytes, links: Sequence[MapLink]) -> None:
        """Write the outline and links of a map, replacing any earlier ones."""

    def write_content(self, file_id: int, digest: bytes, content: bytes) -> None:
        """Write the file of a map, replacing the one it had."""

    def write_images(self, file_id: int, images: Mapping[str, bytes]) -> None:
        """Replace the pictures of the map, keyed by digest; unchanged ones are not rewritten."""

    def write_source(self, file_id: int, source: Source) -> None:
        """Record that a map was read from ``source``; a known path keeps its name."""


class Batch:
    """The drafts of one transaction. They share look-ups of owners, software and categories."""

    def __init__(self, rows: BatchRows, now: int) -> None:
        self._rows = rows
        self._named = NamedRows(rows.read)
        self._now = now
        self._owners: dict[str, User] = {}
        self._software: dict[str, Named | None] = {}
        self._categories: dict[str, Named] = {}
        self._renamed: Mapping[str, str] | None = None

    def put(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """Apply ``drafts`` in order; return the outcome of each."""
        return [self._outcome(draft) for draft in drafts]

    def _outcome(self, draft: MapDraft) -> Outcome:
        try:
            return self._put(draft)
        except Conflict as conflict:
            return Outcome(Verdict.REFUSED, draft.id or "", str(conflict))

    def _put(self, draft: MapDraft) -> Outcome:
        if draft.content is not None and draft.source is None:
            raise Conflict("the content of a file needs the file it is from")
        if draft.tags:
            draft = replace(draft, tags=current_tags(draft.tags, self._renamed_tags()))
        existing = self._existing(draft)
        if existing is None:
            if draft.is_known:
                raise Conflict("the map of this file was moved or deleted while it was read")
            return self._add(draft)
        if draft.file_id not in (None, existing.file_id):
            raise Conflict(
                f"ID {existing.id} has File_ID {existing.file_id} here, not {draft.file_id}"
            )
        if draft.visibility is not None:
            self._rows.inheritance.forget(existing.file_id)
        may_return = existing.visibility is Visibility.REMOVED and draft.title is not None
        if draft.source is not None and existing.visibility is not Visibility.PUBLISHED:
            self._rows.inheritance.note_former_content(existing.file_id, self._now, draft.source)
        former = self._former(existing, draft, may_return=may_return)
        draft = without_settled(draft, former)
        changed = updated(former, draft, self._references(draft, existing))
        if may_return:
            note_return(self._rows.read, existing.file_id)
        self._keep_source(existing.file_id, draft)
        differs = self._keep_content(existing.file_id, draft)
        differs |= self._keep_images(existing.file_id, draft.images)
        differs |= self._outline_differs(existing.file_id, draft.outline)
        if changed == existing and not differs:
            return Outcome(Verdict.UNCHANGED, existing.id)
        self._write(changed, draft)
        was_published = existing.visibility is Visibility.PUBLISHED
        unpublished = was_published and former.visibility is not Visibility.PUBLISHED
        return Outcome(Verdict.CHANGED, existing.id, unpublished=unpublished)

    def _former(self, existing: Map, draft: MapDraft, *, may_return: bool) -> Map:
        """Return what an existing map is before the draft changes it."""
        begun = without_inherited_removal(self._rows.read, existing, draft)
        if begun is not existing:
            return begun
        overwrite = self._returned if may_return else self._overwritten
        former = overwrite(existing, draft)
        if draft.uncertain and UNCERTAIN.is_stricter_than(former.visibility):
            self._keep_inherited(former, UNCERTAIN, draft)
            return as_inherited(former, UNCERTAIN)
        return former

    def _overwritten(self, existing: Map, draft: MapDraft) -> Map:
        """Return a map with what it inherits if its file has become a copy of another."""
        found = self._rows.inheritance.of(draft)
        if found is None or found.original == existing.file_id:
            return existing
        if not found.is_not_looser_than(existing.visibility):
            return existing
        if not may_inherit_again(self._rows.read, existing, draft, self._now):
            return existing
        self._keep_inherited(existing, found, draft)
        return as_inherited(existing, found)

    def _returned(self, existing: Map, draft: MapDraft) -> Map:
        """Return a removed map as it is with its file, if that was missing."""
        former = as_before(self._rows.read, existing)
        return existing if former is existing else self._as_inherited(former, draft)

    def _as_inherited(self, found: Map, draft: MapDraft) -> Map:
        """Return an existing map with the visibility that it inherits, if any."""
        inherited = self._rows.inheritance.of(draft)
        if inherited is None or not inherited.is_stricter_than(found.visibility):
            return found
        self._keep_inherited(found, inherited, draft)
        return as_inherited(found, inherited)

    def _keep_inherited(self, found: Map, inherited: Inherited | None, draft: MapDraft) -> None:
        """Record that a map inherits, from which one, and who removed that, if it is removed."""
        if inherited is None or draft.source is None:
            return
        self._rows.inheritance.write_mark(inherited.mark_row(found, draft.source.digest))
        if row := inherited.removed_row(found):
            self._rows.inheritance.write_removed(row)

    def _renamed_tags(self) -> Mapping[str, str]:
        if self._renamed is None:
            self._renamed = dict(self._rows.read(SELECT_RENAMED_TAGS, ()))
        return self._renamed

    def _existing(self, draft: MapDraft) -> Map | None:
        if draft.id is not None:
            return self._rows.map_with_id(draft.id)
        if draft.source is not None:
            return self._rows.map_from(draft.source.path)
        return None

    def _add(self, draft: MapDraft) -> Outcome:
        if draft.title is None:
            raise Conflict("a new map needs a Title")
        file_id, public_id = self._identity(draft)
        references = self._references(draft, None)
        new = created(
            draft, file_id=file_id, public_id=public_id, now=self._now, references=references
        )
        found = self._rows.inheritance.of_new(draft)
        inherited = found if found and found.is_stricter_than(new.visibility) else None
        self._write(as_inherited(new, inherited), draft)
        # Nobody has decided about a new map that is unpublished because all are. So it must be
        # known as a copy: if it is the file of the other map, moved, that map is to move to it.
        undecided = draft.visibility is None and new.visibility is not Visibility.PUBLISHED
        self._keep_inherited(new, inherited or (found if undecided else None), draft)
        if keys_of(draft):
            self._rows.inheritance.write_addition((file_id, self._now))
        self._keep_source(file_id, draft)
        self._keep_content(file_id, draft)
        self._keep_images(file_id, draft.images)
        return Outcome(Verdict.ADDED, public_id, unpublished=inherited is not None)

    def _identity(self, draft: MapDraft) -> tuple[int, str]:
        """Allocate the ``file_id`` and ``id`` of a new map."""
        public_id = draft.id or self._rows.unused_id()
        former = self._rows.deleted_file_id(public_id)
        file_id = draft.file_id
        if file_id is None:
            file_id = self._next_file_id() if former is None else former
        if former not in (None, file_id):
            raise Conflict(f"ID {public_id} had File_ID {former} here, not {file_id}")
        holder = self._rows.id_with_file_id(file_id, public_id)
        if holder is not None:
            raise Conflict(f"File_ID {file_id} belongs to the map with ID {holder}")
        self._rows.forget_deletion(public_id)
        self._rows.use_file_id(file_id)
        return file_id, public_id

    def _next_file_id(self) -> int:
        following = self._rows.last_file_id() + 1
        if following > LARGEST_ID:
            raise Conflict(f"no File_ID is left: there is a map with {LARGEST_ID}")
        return following

    def _references(self, draft: MapDraft, existing: Map | None) -> References:
        """Find or add the rows that ``draft`` refers to, with defaults from ``existing``."""
        owner = draft.owner or (existing.owner if existing else SYSTEM_USER)
        software = draft.software
        if software is None and existing is not None:
            software = existing.software
        return References(
            owner=self._owner(owner).name,
            category=self._category(draft, existing),
            software=self._software_named(software) if software and software.strip() else None,
            votes=self._votes(draft, existing),
        )

    def _votes(self, draft: MapDraft, existing: Map | None) -> Votes:
        """Return the votes of a map if the counts in the draft differ from its own."""
        if existing is None:
            return NO_VOTES
        shown = (existing.thumbs_up, existing.thumbs_down)
        given = (draft.thumbs_up, draft.thumbs_down)
        changes = any(new not in (None, old) for new, old in zip(given, shown, strict=True))
        return self._rows.votes(existing.file_id) if changes else NO_VOTES

    def _owner(self, name: str) -> User:
        key = name_key(name)
        if key not in self._owners:
            self._owners[key] = self._rows.user(name, self._now)
        return self._owners[key]

    def _software_named(self, name: str) -> Named | None:
        key = name_key(name)
        if key not in self._software:
            self._software[key] = self._named.software(name)
        return self._software[key]

    def _category(self, draft: MapDraft, existing: Map | None) -> Named:
        name = draft.category
        if existing is not None and not name and draft.category_id in (None, existing.category_id):
            return Named(existing.category_id, existing.category)
        if draft.category_id is not None:
            return self._category_with_id(draft.category_id, name)
        if name and name.strip():
            return self._category_named(name)
        return self._category_named(UNCATEGORISED)

    def _category_with_id(self, category_id: int, name: str | None) -> Named:
        found = self._named.category_with_id(category_id)
        if found is None:
            known = name if name and name.strip() else f"Category {category_id}"
            found = self._named.add_category(category_id, known)
        return Named(found.id, name or found.name)

    def _category_named(self, name: str) -> Named:
        key = name_key(name)
        if key not in self._categories:
            found = self._named.category_named(name)
            self._categories[key] = found or self._named.add_category(None, name)
        return self._categories[key]

    def _outline_differs(self, file_id: int, outline: bytes | None) -> bool:
        return outline is not None and not self._rows.has_outline(file_id, outline)

    def _keep_source(self, file_id: int, draft: MapDraft) -> None:
        if draft.source is not None:
            # A known source keeps its name: the new one may be relative to another folder.
            self._rows.write_source(file_id, draft.source)

    def _keep_content(self, file_id: int, draft: MapDraft) -> bool:
        """Store the file of a draft; return whether it differs from the stored one."""
        if draft.content is None or draft.source is None:
            return False
        if self._rows.has_content(file_id, draft.source.digest):
            return False
        self._rows.write_content(file_id, draft.source.digest, draft.content)
        return True

    def _keep_images(self, file_id: int, images: Mapping[str, bytes] | None) -> bool:
        """Store the pictures of a draft; return whether they differ from the stored ones."""
        if images is None or images.keys() == self._rows.image_digests(file_id):
            return False
        self._rows.write_images(file_id, images)
        return True

    def _write(self, new: Map, draft: MapDraft) -> None:
        self._rows.write_map(new, self._owner(new.owner))
        if draft.outline is not None:
            self._rows.write_outline(new.file_id, draft.outline, draft.links)
