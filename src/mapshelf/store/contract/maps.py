"""Maps: reading them and what they refer to, and writing them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from mapshelf.model import KeptFile, Map, MapDraft, Named, OriginalFile, Outcome


class Maps(Protocol):
    """Reads maps, their outlines and files, and the tables that maps refer to."""

    def maps(self, after: int, limit: int) -> list[Map]:
        """Return up to ``limit`` maps with a ``file_id`` above ``after``, in ascending order.

        Unlisted and private maps are among them, removed ones are not.
        """

    def outline(self, file_id: int) -> bytes | None:
        """Return the encoded outline of a map, ``None`` if it has none."""

    def content(self, file_id: int) -> OriginalFile | None:
        """Return the file a map was read from, ``None`` if it is not kept."""

    def kept_file(self, file_id: int) -> KeptFile | None:
        """Return what is known of that file, without reading its content."""

    def content_piece(self, file_id: int, digest: bytes, start: int, size: int) -> bytes:
        """Return up to ``size`` bytes of the compressed content of a file, from ``start`` on.

        There are none after its end, and none if the file is no longer the one with ``digest``.
        """

    def has_image(self, file_id: int, digest: str) -> bool:
        """Tell whether the map has a picture with this ``Image.digest``."""

    def image_digests(self, file_id: int) -> list[str]:
        """Return the digests (``Image.digest``) of the pictures of a map, in ascending order."""

    def image(self, file_id: int, digest: str) -> bytes | None:
        """Return a picture of a map as it is in the file, ``None`` if there is no such picture.

        It is untrusted, and no client may get it as it is.
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

        A draft names its map by ``id``, otherwise by ``source.path``. A map that is not found is
        added. If a draft contradicts the store (a ``file_id`` that belongs to another map), that
        draft alone MUST be refused. A draft that changes nothing MUST NOT make a change in the
        feed.

        A known source keeps its name. A draft without a title MUST NOT make a new map. A new map
        gets the ``file_id`` above the highest that was ever used, and a random ``id`` of 8 letters
        and digits that no map ever had, unless the draft gives them. Unknown owners are
        registered. Unknown category and software names get the next id. A ``category_id`` is kept
        as given, under the name given with it.

        ``content`` is kept under the digest of its source; a draft with content but no source MUST
        be refused. If the digest is the one already kept, the content MUST NOT be written again,
        even if its compressed bytes differ. ``images`` replace those that the map had; those that
        it had already MUST NOT be written again. ``links`` are written with the outline: a draft
        without an outline keeps those that the map had.

        What people set of a map (``Map.set_by_people``) MUST stay as it is, and so MUST a removed
        map stay removed. Votes count besides what drafts say: a ``thumbs_up`` or ``thumbs_down``
        that the map has already changes nothing; any other replaces the part that is no votes.
        """

    def delete_maps(self, ids: Iterable[str]) -> int:
        """Delete maps by public id; return how many there were. Their ids are never reused."""
