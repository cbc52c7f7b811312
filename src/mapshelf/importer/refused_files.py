"""Record refused files in the store, so that each refusal is reported only once.

A refusal is deleted when the file is imported or deleted, or its folder is no longer imported.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from mapshelf.importer.report import ImportReport, printable
from mapshelf.importer.scan import resolve_path, storable_time
from mapshelf.model import Refusal, RefusalKind
from mapshelf.store.contract import Imports

T = TypeVar("T")

PAGE_SIZE: Final = 500
"""Files read from the store, and written to it, at a time."""

MOST_SKIPPED: Final = 1000
"""Maximum number of skipped files recorded: a folder may be full of them."""


def refusals_of(report: ImportReport) -> list[Refusal]:
    """Return the files that an import refused or skipped, without duplicates."""
    refused, skipped = dict(report.refusals), dict(report.skipped[:MOST_SKIPPED])
    return [
        *(_refusal(name, reason, RefusalKind.REFUSED) for name, reason in refused.items()),
        *(
            _refusal(name, reason, RefusalKind.SKIPPED)
            for name, reason in skipped.items()
            if name not in refused
        ),
    ]


def remember(store: Imports, tops: Iterable[Path], now: Iterable[Refusal]) -> list[Refusal]:
    """Replace the stored refusals of the imported folders and files; return the new ones.

    Args:
        store: the store.
        tops: the folders and files that were imported.
        now: their current refusals.

    Raises:
        StoreError: the store failed.
    """
    present = {one.path: one for one in now}
    places = {printable(resolve_path(top)) for top in tops}
    known = [one for place in sorted(places) for one in _known(store, place)]
    gone = [one.path for one in known if one.path not in present]
    for paths in _pages(gone):
        store.forget_refusals(paths)
    same = set(known)
    changed = [one for one in present.values() if one not in same]
    return [one for page in _pages(changed) for one in store.note_refusals(page)]


def _known(store: Imports, place: str) -> Iterator[Refusal]:
    after = ""
    while page := store.refusals_below(place, after, PAGE_SIZE):
        yield from page
        after = page[-1].path


def _pages(of: list[T]) -> Iterator[list[T]]:
    rest = iter(of)
    while page := list(islice(rest, PAGE_SIZE)):
        yield page


def _refusal(name: str, reason: str, kind: RefusalKind) -> Refusal:
    try:
        modified = storable_time(os.lstat(name).st_mtime_ns)
    except (OSError, ValueError):  # inside an archive, an escaped name, or deleted
        modified = 0
    line = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in reason)
    return Refusal(name, line, kind, modified)
