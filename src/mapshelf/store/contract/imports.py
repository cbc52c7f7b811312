"""Imports: refused and skipped files, first imports, and the attribution of maps."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Map, NotedRefusal, Refusal, RefusalKind


class Imports(Protocol):
    """Records files that imports refused, until they are imported or deleted.

    Paths are in printable form (``importer.report.printable``) and sorted bytewise.
    """

    def note_refusals(self, refusals: Sequence[Refusal]) -> list[Refusal]:
        """Record refusals in one transaction; return the new ones.

        A file refused before counts as new if its time or the reason differs; this also undoes a
        dismissal.
        """

    def refusals_below(self, folder: str, after: str, limit: int) -> list[Refusal]:
        """Return up to ``limit`` refusals in or below ``folder`` with a path above ``after``.

        Includes dismissed ones, in ascending order of path. ``folder`` has no trailing slash.
        """

    def forget_refusals(self, paths: Sequence[str]) -> None:
        """Delete the refusals of files that have been imported or deleted since."""

    def open_refusals(self, kind: RefusalKind, limit: int) -> list[NotedRefusal]:
        """Return up to ``limit`` refusals that have not been dismissed, newest first."""

    def count_open_refusals(self) -> dict[RefusalKind, int]:
        """Return the number of refusals of each kind that have not been dismissed."""

    def dismiss_refusal(self, digest: bytes) -> None:
        """Dismiss a refusal by ``NotedRefusal.digest``, if it exists."""

    def dismiss_refusals(self, kind: RefusalKind, until: int) -> int:
        """Dismiss all refusals of a kind recorded up to this time; return how many."""

    def begin_import(self, folder: bytes, *, has_maps: bool) -> bool:
        """Record the start of a folder import; return whether it is the folder's first.

        It is not the first if an import of the folder, or of a parent folder, has finished, or if
        the folder ``has_maps`` but no import was recorded: then an older version imported it.
        """

    def finish_import(self, folder: bytes) -> None:
        """Record that an import has seen every file of a folder, so the next is not the first."""

    def place_of(self, folder: bytes) -> bytes | None:
        """Return the canonical path noted for a served folder, ``None`` if there is none.

        ``folder`` is the path as it was given, which may lead through links.
        """

    def note_place(self, folder: bytes, place: bytes) -> None:
        """Record the canonical path of a served folder, replacing an earlier one."""

    def maps_attributed_otherwise(
        self, folder: bytes, owner: str | None, category: str | None, after: int, limit: int
    ) -> list[Map]:
        """Return maps read from files below ``folder`` whose owner or category differs.

        ``None`` matches any. Returns at most ``limit`` maps with a ``file_id`` above ``after``,
        ascending. Removed maps and categories set by users are left out.
        A reserved ``owner`` stands for ``SYSTEM_USER``, as in ``MapWriter.put_maps``.
        """

    def is_reserved(self, name: str) -> bool:
        """Return whether a name is reserved since its user was deleted, ignoring case.

        See ``ClosedAccounts.finish_closing``.
        """
