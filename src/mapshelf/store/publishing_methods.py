"""The methods of ``contract.Publishing``, for both databases: each is one transaction."""

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
    is_public_id,
)
from mapshelf.store import publishing, publishing_queries, uploads
from mapshelf.store.contract.publishing import (
    ChangeTags,
    CheckRemoved,
    CheckUsage,
    undoable,
    unlimited,
)
from mapshelf.store.former_contents import purge_former_contents
from mapshelf.store.former_places import purge_former_places
from mapshelf.store.shared_methods import SharedMethods


class PublishingMethods(SharedMethods):
    """See ``contract.Publishing``."""

    def find_map(self, public_id: str) -> Map | None:
        """See ``Store``."""
        if not is_public_id(public_id):  # PostgreSQL rejects NULs
            return None
        return publishing_queries.find_map(self._read_even_if_away, "m.id", public_id)

    def origin(self, file_id: int) -> Origin:
        """See ``Store``."""
        return publishing_queries.origin(self._read, file_id)

    def removed_maps(self, owner_id: int | None) -> list[RemovedMap]:
        """See ``Store``."""
        return publishing_queries.removed_maps(self._read, owner_id)

    def usage(self, user_id: int, replacing: int = 0) -> Usage:
        """See ``Store``."""
        return publishing_queries.usage(self._read, user_id, self._now(), replacing)

    def uploaded(self, digest: bytes, owner_id: int, key: bytes | None) -> Map | None:
        """See ``Store``."""
        return publishing_queries.uploaded(self._read, self._now(), digest, owner_id, key)

    def publish(
        self,
        file: UploadedFile,
        details: MapDetails,
        owner_id: int,
        key: bytes | None,
        check: CheckUsage = unlimited,
    ) -> tuple[Map, bool]:
        """See ``Store``."""
        with self._changing() as database:
            return uploads.publish(database, file, details, owner_id, key, check)

    def replace_file(
        self, file_id: int, file: UploadedFile, user_id: int, check: CheckUsage = unlimited
    ) -> Map:
        """See ``Store``."""
        with self._changing() as database:
            return uploads.replace_file(database, file_id, file, user_id, check)

    def note_refused_upload(self, user_id: int) -> None:
        """See ``Store``."""
        with self._changing() as database:
            uploads.note_refused_upload(database, user_id)

    def versions(self, file_id: int) -> list[Version]:
        """See ``Store``."""
        return publishing_queries.versions(self._read, file_id)

    def version_file(self, file_id: int, number: int) -> OriginalFile | None:
        """See ``Store``."""
        return publishing_queries.version_file(self._read, file_id, number)

    def map_revision(self, public_id: str) -> int:
        """See ``Store``."""
        return publishing_queries.map_revision(self._read, public_id)

    def edit_map(
        self, file_id: int, details: MapDetails, change_tags: ChangeTags | None = None
    ) -> Map:
        """See ``Store``."""
        with self._changing() as database:
            return publishing.edit_map(database, file_id, details, change_tags)

    def remove_map(self, file_id: int, user_id: int) -> None:
        """See ``Store``."""
        with self._changing() as database:
            publishing.remove_map(database, file_id, user_id)

    def undo_removal(
        self, file_id: int, check: CheckUsage = unlimited, permit: CheckRemoved = undoable
    ) -> Map:
        """See ``Store``."""
        with self._changing() as database:
            return publishing.undo_removal(database, file_id, check, permit)

    def purge_removed(self, before: int) -> int:
        """See ``Store``."""
        with self._changing() as database:
            purge_former_contents(database.rows, before)
            purge_former_places(database.rows, before)
            return publishing.purge_removed(database, before)

    def set_vote(self, file_id: int, user_id: int, vote: Vote) -> Map:
        """See ``Store``."""
        with self._changing() as database:
            return publishing.set_vote(database, file_id, user_id, vote)

    def vote_of(self, file_id: int, user_id: int) -> Vote:
        """See ``Store``."""
        return publishing_queries.vote_of(self._read, file_id, user_id)
