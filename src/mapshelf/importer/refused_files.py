"""Remembers in the store which files imports did not take, so that each is told once.

It is forgotten when the file is taken, or gone, or when nobody looks for maps there any longer.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from mapshelf.importer.report import Report, printable
from mapshelf.importer.scan import resolve_path, storable_time
from mapshelf.model import Refusal, RefusalKind
from mapshelf.store.contract import Imports

T = TypeVar("T")

PAGE_SIZE: Final = 500
"""Files read from the store, and written to it, at a time."""

MOST_SKIPPED: Final = 1000
"""Files remembered that were skipped: a folder may be full of them, and nobody reads more."""


def refusals_of(report: Report) -> list[Refusal]:
    """Return what an import did not take, each file once."""
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
    """Have the store know exactly these refusals in what was imported; return those that are new.

    Args:
        store: the store.
        tops: the folders and files that were imported.
        now: what was not taken from there.

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
    except (OSError, ValueError):  # in an archive, under a name with escapes, or gone
        modified = 0
    line = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in reason)
    return Refusal(name, line, kind, modified)
