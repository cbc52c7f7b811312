"""The result of an import: what was added, changed, unchanged and refused."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final
from unicodedata import category

from mapshelf.model import Outcome, Verdict

_JOINERS: Final = "\u200c\u200d"
"""Invisible characters that join emoji and separate Persian letters."""


@dataclass(slots=True)
class ImportReport:
    """The counts of an import, and every refusal with its reason.

    Attributes:
        counts: how many files or records got each verdict.
        refusals: refused files or records, and why.
        skipped: files that turned out not to be maps, and why; they are not counted.
        vanished: paths of files that were deleted or renamed while they were imported; they are not
            counted.
        interrupted: paths of refused files whose reading was ended from outside.
        may_be_moved: those of them that are new, and that permissions let this process read: each
            may be a missing one.
        ignored: unknown keys of records, and how often they occurred.
        unpublished: how many maps inherited that they are not published.
        notify: called after each file or record, to show progress.
    """

    notify: Callable[[], None] = lambda: None
    counts: Counter[Verdict] = field(default_factory=Counter)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    may_be_moved: list[str] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    unpublished: int = 0

    def note(self, verdict: Verdict, name: str, reason: str = "") -> None:
        """Count one file or record."""
        self.counts[verdict] += 1
        if verdict is Verdict.REFUSED:
            self.refusals.append((name, reason))
        self.notify()

    def skip(self, name: str, reason: str) -> None:
        """Record a file that is not a map and need not be one."""
        self.skipped.append((name, reason))

    def note_vanished(self, path: str) -> None:
        """Record a file that was deleted or renamed while it was imported."""
        self.vanished.append(path)
        self.notify()

    @property
    def maps(self) -> int:
        """How many maps the import has read or found unchanged."""
        return self.counts.total() - self.counts[Verdict.REFUSED]

    def note_all(self, outcomes: Iterable[tuple[str, Outcome]]) -> None:
        """Count the outcomes of a written batch, each with the name of its file or record."""
        for name, outcome in outcomes:
            self.note(outcome.verdict, name, outcome.reason)
            self.unpublished += outcome.unpublished

    def note_ignored(self, keys: Iterable[str]) -> None:
        """Count unknown keys of a record that was imported."""
        self.ignored.update(keys)

    @property
    def complete(self) -> bool:
        """Whether nothing was refused."""
        return not self.counts[Verdict.REFUSED]

    def summary(self) -> str:
        """Return the counts as one line."""
        return ", ".join(f"{verdict.value} {self.counts[verdict]}" for verdict in Verdict)


def printable(path: str | bytes) -> str:
    """Escape a path for display: names can contain control characters, or not be UTF-8."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in text)


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in _JOINERS or category(character) == "Zs"
