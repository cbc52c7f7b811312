"""Map files into the store, each once: a file that is known and unchanged is not even opened."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from mapshelf.exchange import size_of
from mapshelf.importer.report import Report, printable
from mapshelf.importer.scan import Candidate
from mapshelf.model import MapDraft, Source, Verdict
from mapshelf.readers.sandbox import ReadFile, RefusedFile, SandboxedReader
from mapshelf.store import Store

LOOKED_UP: Final = 500
"""Files whose earlier state is asked of the store at a time."""

WRITTEN: Final = 100
"""Most maps written in one transaction."""

WRITE_INTERVAL: Final = 0.5
"""Seconds after which what was read is written, so that it shows while the rest is read."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the operator says of all maps of an import; ``None`` leaves it open."""

    owner: str | None = None
    category: str | None = None


def import_maps(
    store: Store,
    candidates: Iterable[Candidate],
    reader: SandboxedReader,
    attribution: Attribution,
    report: Report,
) -> None:
    """Bring the maps in ``candidates`` into ``store``, and note in ``report`` what became of each.

    Without a category of its own a map gets the one named like its folder, if there is one.

    Raises:
        StoreError: the store failed; what was noted as added or changed until then is safe.
    """
    _Import(store, attribution, report).run(candidates, reader)


class _Import:
    """One import: the maps read and not yet written, and what is known of them."""

    def __init__(self, store: Store, attribution: Attribution, report: Report) -> None:
        self._store = store
        self._attribution = attribution
        self._report = report
        self._categories = {row.name.casefold(): row.name for row in store.categories()}
        self._known: set[str] = set()
        self._drafts: dict[str, MapDraft] = {}
        self._written = time.monotonic()

    def run(self, candidates: Iterable[Candidate], reader: SandboxedReader) -> None:
        for result in reader.read(self._to_read(candidates)):
            if isinstance(result, RefusedFile):
                self._report.note(Verdict.REFUSED, printable(result.path), result.reason)
                continue
            self._drafts[result.path] = self._draft(result)
            late = time.monotonic() - self._written > WRITE_INTERVAL
            if late or len(self._drafts) >= WRITTEN:
                self._write()
        self._write()

    def _to_read(self, candidates: Iterable[Candidate]) -> Iterator[str]:
        """Yield the paths of files that may change something; note the others as unchanged."""
        pending = iter(candidates)
        # What is attributed anew may change a map although its file is what it was.
        attributed = self._attribution != Attribution()
        while some := list(islice(pending, LOOKED_UP)):
            known = self._store.sources([os.fsencode(candidate.path) for candidate in some])
            for candidate in some:
                source = known.get(os.fsencode(candidate.path))
                if source is not None:
                    self._known.add(candidate.path)
                if attributed or not candidate.is_still(source):
                    yield candidate.path
                else:
                    self._report.note(Verdict.UNCHANGED, printable(candidate.path))

    def _draft(self, found: ReadFile) -> MapDraft:
        folder = Path(found.path).parent.name.casefold()
        return MapDraft(
            title=found.title,
            description=found.description,
            category=self._attribution.category or self._categories.get(folder),
            # A map that is edited stays where it is among those by date.
            date_added=None if found.path in self._known else found.modified_ns // 1_000_000,
            owner=self._attribution.owner,
            size=size_of(found.size),
            software=found.software or None,
            template=found.template,
            source=Source(os.fsencode(found.path), found.size, found.modified_ns, found.digest),
            outline=found.outline,
        )

    def _write(self) -> None:
        if self._drafts:
            outcomes = self._store.put_maps(list(self._drafts.values()))
            self._report.note_all(map(printable, self._drafts), outcomes)
            self._known.difference_update(self._drafts)
            self._drafts.clear()
        self._written = time.monotonic()
