"""Sources: the files that maps were read from, so that an importer can recognize them."""

from collections.abc import Collection, Sequence
from typing import Protocol

from mapshelf.model import Source


class Sources(Protocol):
    """Finds, renames and removes the files that maps were read from."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """Return, by path, the sources known among ``paths``, including missing ones."""

    def sources_below(
        self, folder: bytes, after: bytes, limit: int, *, missing: bool = False
    ) -> list[Source]:
        """Return up to ``limit`` sources below ``folder`` with a path above ``after``.

        They are sorted bytewise by path. ``missing`` ones are left out if not asked for. ``folder``
        has no trailing slash.
        """

    def sources_of(self, digest: bytes) -> list[Source]:
        """Return the sources with this content, even missing ones, sorted bytewise by path."""

    def move_source(self, old: bytes, new: Source, *, uncertain: bool = False) -> bool:
        """Record that the file at ``old`` is now ``new``; return whether ``old`` was known.

        The map itself is unchanged, but there is a change in the feed, because the name of the
        source is searchable. If that is ``uncertain``, the map becomes private, as if its draft
        were (``MapDraft.uncertain``). If there is already a source at ``new.path``, it MUST NOT be
        lost, and nothing is moved; but a missing file leaves its path, and is only found by its
        content then.
        """

    def note_lost(self, sources: Sequence[Source]) -> None:
        """Remember for an hour those of some lost files whose maps are not published."""

    def lost_lately(self, digest: bytes, limit: int) -> list[tuple[bytes, int]]:
        """Return the paths of these files with this content, and their times of the last change.

        Those are left out whose maps are published by now. At most ``limit`` are returned.
        """

    def follow_former_places(self, former: bytes, now: bytes) -> None:
        """Let the places that files left below ``former`` count below ``now``, too.

        They are those in which new files are not published; see ``MapWriter.put_maps``. Neither
        folder has a trailing slash. A place below ``now`` that counts already stays as it is.
        """

    def unpublished_places(self, paths: Sequence[bytes]) -> set[bytes]:
        """Return those of ``paths`` where new files are not published; see ``MapWriter.put_maps``.

        The file of a map that is not published was there lately.
        """

    def unpublished_sources(self, paths: Sequence[bytes], *, missing: bool = False) -> set[bytes]:
        """Return those of ``paths`` whose maps are not published.

        ``missing`` ones are left out if not asked for. They are as visible as they will be again.
        """

    def unpublished_named(self, names: Collection[str], limit: int) -> list[Source]:
        """Return the files with these names whose maps are not published.

        Names are compared without regard to the case of English letters, which MUST be in lower
        case in ``names``. Files that have been missing for over an hour are left out. At most
        ``limit`` are returned for each name.
        """

    def adopt_copy(self, missing: Source, copies: Sequence[Source]) -> Source | None:
        """Record that a missing file is now one of its ``copies``, if it was moved by copying it.

        Returns that copy; its own map is deleted. There is a change in the feed, as if it had been
        moved (``move_source``). Nothing happens (``None``) unless the map of the missing file is
        not published and has no other file, and the map of the copy was made later with the same
        content and owner, inherited that it is not published (``MapWriter.put_maps``) or had an
        ``initial_visibility`` although there were equal maps, no draft has said its ``visibility``,
        and nobody has edited, collected, reported or voted for it.
        Or it is published, because an older map with this content was, was added within the last
        hour, and both files have one name.

        If the map of the missing file is not published, other maps of its owner that were added
        after it, and within the last hour, with its content, become private if they are published
        for this reason and nobody has touched them: any may be of that file. They inherit that
        like ``uncertain`` ones.

        The file may have been missing before. Its map comes back when the copy is imported again.
        """

    def remove_sources(self, paths: Sequence[bytes]) -> int:
        """Record that these files are missing; return how many maps are removed by that.

        A map without any other file is removed until one of its files is imported again. It MUST
        NOT be among ``removed_maps``, nor can its removal be undone. With its file, it gets back
        its visibility, unless a user had removed it; see ``MapWriter.put_maps``.
        """

    def long_missing(self, folder: bytes, before: int, after: bytes, limit: int) -> list[Source]:
        """Return up to ``limit`` missing files whose maps have been missing since ``before``.

        They are below ``folder``, with a path above ``after``, sorted bytewise by path. ``before``
        is in milliseconds since 1970-01-01 UTC; ``folder`` has no trailing slash.
        """

    def purge_missing(self, sources: Sequence[Source], before: int) -> int:
        """Delete the maps of these files that have been missing since ``before``; return how many.

        A map stays that has another file, even if that is missing, too.
        """
