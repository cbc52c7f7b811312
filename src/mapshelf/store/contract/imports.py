"""Imports: the files that they refused or skipped, and whose maps they are said to be."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Map, NotedRefusal, Refusal, RefusalKind


class Imports(Protocol):
    """Remembers what imports did not take, until it is taken or gone.

    Paths are as they are shown (``importer.report.printable``), and in the order of their bytes.
    """

    def note_refusals(self, refusals: Sequence[Refusal]) -> list[Refusal]:
        """Remember these, in one transaction; return those that are new.

        A file that was refused before is new if its time or the reason differs: then it is no
        longer dismissed.
        """

    def refusals_below(self, folder: str, after: str, limit: int) -> list[Refusal]:
        """Return up to ``limit`` refusals of ``folder`` or below it with a path above ``after``.

        Dismissed ones too, in ascending order of the path. ``folder`` ends with no slash.
        """

    def forget_refusals(self, paths: Sequence[str]) -> None:
        """Forget these files: they are taken now, or gone."""

    def open_refusals(self, kind: RefusalKind, limit: int) -> list[NotedRefusal]:
        """Return up to ``limit`` refusals that nobody has dismissed, the latest first."""

    def count_open_refusals(self) -> dict[RefusalKind, int]:
        """Return how many there are of each kind that nobody has dismissed."""

    def dismiss_refusal(self, digest: bytes) -> None:
        """Dismiss one (``NotedRefusal.digest``), if it is there."""

    def dismiss_refusals(self, kind: RefusalKind, until: int) -> int:
        """Dismiss all of a kind that were noted by this time; return how many there were."""

    def begin_import(self, folder: bytes, *, has_maps: bool) -> bool:
        """Note that a folder is imported; tell whether that is its first import.

        It is not if an import of it, or of a folder above it, has been finished; nor if it
        ``has_maps`` already and nothing was noted: then an older version imported it.
        """

    def finish_import(self, folder: bytes) -> None:
        """Note that an import of a folder has seen every file in it: the next is not the first."""

    def maps_attributed_otherwise(
        self, folder: bytes, owner: str | None, category: str | None, after: int, limit: int
    ) -> list[Map]:
        """Return maps read from files below ``folder`` that have another owner or category.

        ``None`` stands for any. They are up to ``limit`` with a ``file_id`` above ``after``,
        ascending. Removed maps are left out, and categories that people have set.
        """
