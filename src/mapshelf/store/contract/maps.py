"""Maps: read them and the tables they refer to, and write them in batches."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from mapshelf.model import KeptFile, Map, MapDraft, Named, OriginalFile, Outcome


class Maps(Protocol):
    """Reads maps, their outlines and files, and the tables that maps refer to.

    Outlines, files and pictures MAY be read from a replica that lags. But they MUST NOT be older
    than anything that was read of maps before: by ``open_ids``, ``find_map``, or from these.
    """

    def require_revision(self, revision: int) -> None:
        """Read no outline, file or picture from before this revision from now on."""

    def takeovers(self) -> int:
        """Return how often another server has taken over, as far as this process has noticed.

        The new server may lack changes that were read before. So where this has changed meanwhile,
        what was read first MUST NOT be shown because of what was read later.
        """

    def maps(self, after: int, limit: int) -> list[Map]:
        """Return up to ``limit`` maps with a ``file_id`` above ``after``, in ascending order.

        Includes unlisted and private maps but no removed ones.
        """

    def open_ids(self, public_ids: Sequence[str]) -> frozenset[str]:
        """Return the public ids of those of these maps that everybody may see by their addresses.

        The result MUST NOT be older than outlines, files and pictures that were read before.
        """

    def open_since(self, public_id: str) -> int | None:
        """Return the revision with which a map was last hidden, if everybody may see it by now.

        It is 0 if it was never hidden, and ``None`` if not everybody may see it. The result MUST
        NOT be older than outlines, files and pictures that were read before.
        """

    def outline(self, file_id: int) -> bytes | None:
        """Return the encoded outline of a map, ``None`` if it has none."""

    def content(self, file_id: int) -> OriginalFile | None:
        """Return the original file of a map, ``None`` if it is not stored."""

    def kept_file(self, file_id: int) -> KeptFile | None:
        """Return the metadata of the original file, without reading its content."""

    def content_piece(self, file_id: int, digest: bytes, start: int, size: int) -> bytes:
        """Return up to ``size`` bytes of the compressed content of a file, from ``start``.

        Returns nothing past the end, or if the file no longer has this ``digest``.
        """

    def has_image(self, file_id: int, digest: str) -> bool:
        """Return whether the map has a picture with this ``Image.digest``."""

    def image_digests(self, file_id: int) -> list[str]:
        """Return the digests (``Image.digest``) of the pictures of a map, in ascending order."""

    def image(self, file_id: int, digest: str) -> bytes | None:
        """Return a picture of a map as stored in the file, ``None`` if there is none.

        It is untrusted and must not be sent to clients unchanged.
        """

    def categories(self) -> list[Named]:
        """Return all categories in ascending order of id."""

    def software(self) -> list[Named]:
        """Return all programs in ascending order of id."""

    def licence_types(self) -> list[Named]:
        """Return all licence types in ascending order of id."""


class MapWriter(Protocol):
    """Adds, updates and deletes maps."""

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """Add or update maps, all in one transaction; return an outcome for each, in order.

        A draft identifies its map by ``id``, or else by ``source.path``. A map that does not exist
        is added. If a draft contradicts the store (a ``file_id`` that belongs to another map, or
        ``is_known`` of a file without a map), only that draft MUST be refused. A draft that changes
        nothing MUST NOT create a change in the feed.

        A known source keeps its name. A draft without a title MUST NOT create a map. Unless the
        draft gives them, a new map gets the next ``file_id`` above the highest ever used, and a
        random, never used ``id`` of 8 letters and digits. Unknown owners are registered; but the
        owner is ``SYSTEM_USER`` instead of a reserved name (``ClosedAccounts.finish_closing``).
        Unknown category and software names get the next id. A ``category_id`` is stored as given,
        with the name given for it.

        ``content`` is stored under the digest of its source; a draft with content but no source
        MUST be refused. If that digest is already stored, the content MUST NOT be written again,
        even if its compressed bytes differ. ``images`` replace the pictures of the map; unchanged
        ones MUST NOT be written again. ``links`` are written with the outline: a draft without an
        outline keeps the existing links.

        A map with a ``folder``, if it is new or was missing, inherits the strictest visibility of
        the maps that are not published, have a file with the same content, even a missing one, and
        either such a file in that folder or the same owner. Instead of the owner ``SYSTEM_USER``,
        the ``other_folders`` count, and if nothing is found in these, missing files of this owner
        in all folders. Maps whose file had that content before count like missing files, unless
        they were published then, or inherited because of that content from a map that still
        counts for it: the last 100 contents MUST be known until ``purge_removed``. But a map
        inherits nothing if such a map is published and has a present file with that content. All
        are as they were before the batch. A published map of one file inherits in the same way if
        that file has another content now, and nobody has edited, collected, reported, decided about
        or voted for the map. So does one that has the ``initial_visibility``, if it gets no looser.

        A map with a ``folder`` that is new also inherits from an unpublished map whose file has
        left its path, or one of the ``other_places`` (``Sources.move_source``,
        ``Sources.adopt_copy``), whatever both contain, if that is stricter. That ends with
        ``purge_removed``: if that map inherited from a path itself, when it ends for that path.
        Instead of a removal, ``PRIVATE`` is inherited.

        A map whose draft is ``uncertain`` inherits ``PRIVATE``, if that is stricter.

        A map that inherits the removal of another is removed too, at the same time and by the same
        user; restoring it makes it no more visible than it would be otherwise. A new map whose
        ``initial_visibility`` is stricter than what it would inherit keeps that, and is a copy
        nevertheless (``Sources.adopt_copy``). A map that inherited keeps that when its content
        changes, until somebody changes it, or a draft says its ``visibility``; but if it inherited
        a removal, it is ``PRIVATE`` then.

        Values set by users (``Map.set_by_people``) MUST be preserved, and a removed map MUST stay
        removed. A map that is removed because its files are missing comes back with a draft that
        has a title; see ``Sources.remove_sources``.

        Votes are counted separately from drafts: a ``thumbs_up`` or ``thumbs_down`` equal to the
        current count changes nothing; any other value replaces the part that is not votes.
        """

    def delete_maps(self, ids: Iterable[str]) -> int:
        """Delete maps by public id; return how many there were. Their ids are never reused."""
