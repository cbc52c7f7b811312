"""Publishing: what users do with single maps, on web pages and through programs.

Permissions are checked in the layers above: the store enforces only the rules that concurrent
requests could break. Every method is one transaction. A change to a map is one change in the feed.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from mapshelf.model import (
    Map,
    MapDetails,
    Origin,
    OriginalFile,
    RemovedMap,
    UploadedFile,
    Usage,
    Version,
    Visibility,
    Vote,
)

ChangeTags = Callable[[Sequence[str]], tuple[str, ...]]
"""Returns the new tags of a map for the present ones."""

CheckUsage = Callable[[Usage], None]
"""Raises an error to refuse an upload, given the user's previous usage."""


CheckMap = Callable[[Map | None], None]
"""Raises an error to refuse a change of a map, given its current state."""

CheckRemoved = Callable[[RemovedMap], None]
"""Raises an error to refuse to undo a removal."""


def unlimited(usage: Usage) -> None:
    """Refuse nothing."""


def undoable(removed: RemovedMap) -> None:
    """Refuse nothing."""


class MapsOfPeople(Protocol):
    """Finds unpublished maps, which are not in the change feed."""

    def find_map(self, public_id: str) -> Map | None:
        """Return the map with this public id, ``None`` if there is none or it is removed.

        MUST be up to date, except that a store whose primary is down MAY answer from a replica.
        """

    def unpublished_ids(self, owner_id: int) -> list[tuple[int, Visibility]]:
        """Return the ``file_id`` and the visibility of each unlisted or private map of a user.

        In ascending order of ``file_id``.
        """

    def unpublished_counts(
        self, owner_id: int, field: str
    ) -> list[tuple[int, str, Visibility, int]]:
        """Return a field of each unlisted or private map of a user: a count or a time.

        Args:
            owner_id: the user.
            field: ``views``, ``downloads`` or ``date_added``.

        Returns:
            For each map, in ascending order of ``file_id``: ``file_id``, public id, visibility, and
            the field.
        """

    def unpublished_maps(self, owner_id: int, file_ids: Sequence[int] | None = None) -> list[Map]:
        """Return the unlisted and private maps of a user, in ascending order of ``file_id``.

        If ``file_ids`` are given, a few hundred at most, only those of them.
        """

    def origin(self, file_id: int) -> Origin:
        """Return the origin of a map, an empty one if it has no file."""

    def origins(self, file_ids: Sequence[int]) -> dict[int, Origin]:
        """Return the origins of these maps, a few hundred at most, by their ``file_id``."""

    def outline_sizes(self, file_ids: Sequence[int]) -> dict[int, int]:
        """Return the size in bytes of the encoded outline of each of these maps that has one."""

    def outlines(self, file_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded outlines of those of these maps that have one.

        All of them must fit into memory: ask for ``outline_sizes`` before.
        """

    def removed_maps(self, owner_id: int | None) -> list[RemovedMap]:
        """Return the removed maps, of ``owner_id`` if given, last removed first.

        Maps whose files are missing are left out: they come back with their files.
        """

    def usage(self, user_id: int, replacing: int = 0) -> Usage:
        """Return how much a user has uploaded.

        ``replacing`` is the ``file_id`` of a map whose file is about to be replaced. The pictures
        of that map are not counted: they go with its file, which stays as a version.
        """


class Uploads(Protocol):
    """Accepts uploaded files. An uploaded map keeps its ten newest files as versions."""

    def uploaded(self, digest: bytes, owner_id: int, key: bytes | None) -> Map | None:
        """Return the map that ``publish`` would return without a change, ``None`` if it is new.

        Args:
            digest: the digest of the file.
            owner_id: id of the author.
            key: see ``publish``.
        """

    def publish(
        self,
        file: UploadedFile,
        details: MapDetails,
        owner_id: int,
        key: bytes | None,
        check: CheckUsage = unlimited,
    ) -> tuple[Map, bool]:
        """Add the map of an uploaded file; return it, and whether it is new.

        It is not new if the same user uploaded the same file, or sent the same ``key``, within a
        day and that map still exists: then nothing changes, whatever the ``details``. Of concurrent
        identical uploads, exactly one MUST be new.

        Args:
            file: the file.
            details: the author's description. Imports MUST NOT change what it says (as in
                ``edit_map``). A title is required here or in the file.
            owner_id: id of the author.
            key: digest of the client's idempotency key, if it sent one.
            check: called in the transaction if the map is new, so that concurrent uploads cannot
                all pass as the last one allowed. Its exceptions propagate.

        Raises:
            NotFound: there is no such user, or no such category.
            Conflict: there is no title, or the user is disabled.
        """

    def replace_file(
        self, file_id: int, file: UploadedFile, user_id: int, check: CheckUsage = unlimited
    ) -> Map:
        """Replace the file of a map with a new version; return the map.

        Outline, links, pictures, size and software come from the file; what users entered (title,
        description …) is preserved. An unchanged file changes nothing.

        To restore an earlier version, read its file (``version_file``) and pass it here. ``check``
        works as for ``publish``, for the user ``user_id``; see ``replacing`` in ``usage``.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: the map was not uploaded: its file belongs to a folder.
        """

    def note_refused_upload(self, user_id: int) -> None:
        """Count a refused file as an upload of its author: reading it cost as much as any other.

        The file is discarded, so nothing is written to the audit log (``AuditLog.auditing``).

        Raises:
            NotFound: there is no such user.
        """

    def versions(self, file_id: int) -> list[Version]:
        """Return the files of an uploaded map, newest first; none if it was not uploaded."""

    def version_file(self, file_id: int, number: int) -> OriginalFile | None:
        """Return the file of a version, ``None`` if the version does not exist or was deleted."""


class MapEditing(Protocol):
    """Edits the details of maps, and removes and restores maps."""

    def map_revision(self, public_id: str) -> int:
        """Return the revision in which a map was last changed, 0 if there is no such map.

        It rises with each change of the map, its file, its votes and its counts.
        """

    def edit_map(
        self, file_id: int, details: MapDetails, change_tags: ChangeTags | None = None
    ) -> Map:
        """Update a map with ``details``, and return it.

        If ``change_tags`` is given, its result for the present tags MUST replace them; nobody else
        changes them meanwhile. What it raises ends the change.

        The given fields are recorded in ``Map.set_by_people``, even if their values did not change,
        and imports MUST NOT change them from then on. A map that an administrator has hidden is
        private; if ``details`` say so too, it stays private when that is undone.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such category.
            MapHidden: an administrator has hidden it, and ``details`` would show it.
            Conflict: title or template of a map that was read from a file in a folder, where both
                come from the file; or ``details`` would remove the map.
        """

    def remove_map(self, file_id: int, user_id: int) -> None:
        """Remove a map until ``undo_removal``. It cannot be found, and imports do not restore it.

        Raises:
            NotFound: there is no such map, or it is removed already; or there is no such user.
        """

    def undo_removal(
        self, file_id: int, check: CheckUsage = unlimited, permit: CheckRemoved = undoable
    ) -> Map:
        """Restore the previous visibility of a removed map, and return it.

        Args:
            file_id: the map.
            permit: called in the transaction before anything is written. Its exceptions propagate.
            check: called in the transaction with the owner's usage including the map. Its
                exceptions propagate, and the map stays removed.

        Raises:
            NotFound: there is no such removed map, or its file is missing.
        """

    def purge_removed(self, before: int) -> int:
        """Delete the maps that were removed before this time; return how many.

        Each call deletes at most a few hundred: repeat it until it returns 0. These are uploaded
        maps. Other maps stay removed, since the next import would otherwise add them again; see
        ``Sources.purge_missing``. What files contained, and where they were, until before then is
        forgotten, too; see ``MapWriter.put_maps``.
        """


class Voting(Protocol):
    """Counts votes: one per user and map, included in the counts that the map shows."""

    def set_vote(self, file_id: int, user_id: int, vote: Vote) -> Map:
        """Set the vote of a user on a map, and return the map with its counts.

        MUST count a vote once, however often it is set.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: it is the user's own map.
        """

    def vote_of(self, file_id: int, user_id: int) -> Vote:
        """Return the vote of a user on a map."""


class Publishing(MapsOfPeople, Uploads, MapEditing, Voting, Protocol):
    """All publishing protocols."""
