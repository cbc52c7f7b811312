"""Publishing: what people do with single maps, on pages and by programs.

Who may do what is decided above: the store keeps only the rules that two requests at the same
moment could break. Every method is one transaction. A change of a map is one change in the feed.
"""

from collections.abc import Callable
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
    Vote,
)

CheckUsage = Callable[[Usage], None]
"""Raises what refuses an upload, given what the user has uploaded before it."""


def unlimited(usage: Usage) -> None:
    """Refuse nothing."""


class MapsOfPeople(Protocol):
    """Finds maps that are not published, of which the feed does not tell."""

    def find_map(self, public_id: str) -> Map | None:
        """Return the map with this public id, ``None`` if there is none or it is removed.

        MUST be up to date, but for a store whose primary is away: that MAY give what a copy knows.
        """

    def unpublished_maps(self, owner_id: int) -> list[Map]:
        """Return the unlisted and the private maps of a user, in ascending order of ``file_id``."""

    def origin(self, file_id: int) -> Origin:
        """Return what is known of the file of a map, nothing of one that has none."""

    def removed_maps(self, owner_id: int | None) -> list[RemovedMap]:
        """Return the removed maps, those removed last first; with ``owner_id``, of this user."""

    def usage(self, user_id: int, replacing: int = 0) -> Usage:
        """Return what a user has uploaded.

        With ``replacing``, the ``file_id`` of a map whose file is about to be replaced, without the
        pictures of that map: those go with its file, which stays as a version.
        """


class Uploads(Protocol):
    """Takes uploaded files. A map that was uploaded keeps its ten newest files as versions."""

    def uploaded(self, digest: bytes, owner_id: int, key: bytes | None) -> Map | None:
        """Return the map that ``publish`` would return without a change, ``None`` if it is new.

        Args:
            digest: of the file.
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

        It is not new if the same user has a map with the same file that was uploaded within a day,
        or has sent the same ``key`` within a day, and the map is still there: then nothing changes,
        whatever ``details`` say. Of two equal uploads at the same moment, exactly one MUST be new.

        Args:
            file: the file.
            details: what its author says about it; it needs a title.
            owner_id: id of the author.
            key: digest of what the client calls this upload, if it does.
            check: called in the transaction, unless the map is not new: so several uploads at the
                same moment do not all count as the last one allowed. What it raises is raised.

        Raises:
            NotFound: there is no such user, or no such category.
            Conflict: there is no title, or the user is disabled.
        """

    def replace_file(
        self, file_id: int, file: UploadedFile, user_id: int, check: CheckUsage = unlimited
    ) -> Map:
        """Give a map another file, as a new version; return the map.

        Outline, links, pictures, size and software come from the file; what people say of the map
        (title, description …) stays. The file that the map has already changes nothing.

        A former version is restored by reading its file (``version_file``) and giving it here.
        ``check`` is as for ``publish``, of the user with ``user_id``; see ``usage``, ``replacing``.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: the map was not uploaded: its file belongs to a folder.
        """

    def note_refused_upload(self, user_id: int) -> None:
        """Count a file that was refused as an upload of its author: it was read like any other.

        Nothing is done with the file, so the audit log (``AuditLog.auditing``) says nothing of it.

        Raises:
            NotFound: there is no such user.
        """

    def versions(self, file_id: int) -> list[Version]:
        """Return the files of an uploaded map, newest first; none if it was not uploaded."""

    def version_file(self, file_id: int, number: int) -> OriginalFile | None:
        """Return the file of a version, ``None`` if there is no such version (any longer)."""


class MapEditing(Protocol):
    """Changes what is said of maps, and removes them."""

    def edit_map(self, file_id: int, details: MapDetails) -> Map:
        """Set what ``details`` give, and return the map.

        What was set is noted (``Map.set_by_people``), even if it is what the map had, and no import
        MUST change it from then on.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such category.
            Conflict: title or template of a map that was read from a file in a folder, where both
                come from the file; or ``details`` would remove the map.
        """

    def remove_map(self, file_id: int, user_id: int) -> None:
        """Remove a map, until ``undo_removal``. Nobody finds it, and no import brings it back.

        Raises:
            NotFound: there is no such map, or it is removed already; or there is no such user.
        """

    def undo_removal(self, file_id: int, check: CheckUsage = unlimited) -> Map:
        """Give a removed map the visibility that it had before, and return it.

        Args:
            file_id: the map.
            check: called in the transaction with what its owner has with the map; what it raises is
                raised, and the map stays removed.

        Raises:
            NotFound: there is no such removed map.
        """

    def purge_removed(self, before: int) -> int:
        """Delete the uploaded maps that were removed before this time; return how many.

        It deletes a few hundred at most: call it again as long as there are any. Other maps stay
        hidden, or the next import would bring them back.
        """


class Voting(Protocol):
    """Counts votes: one of each person for each map, as part of what the map shows."""

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
    """All that publishing takes."""
