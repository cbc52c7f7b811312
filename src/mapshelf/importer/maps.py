"""Map files into the store, each once: a file that is known and unchanged is not even opened."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Protocol

from mapshelf.formats.ndjson_records import size_of
from mapshelf.importer.report import Report, printable
from mapshelf.importer.scan import Candidate, folder_of, is_gone, time_of
from mapshelf.model import UNCATEGORISED, MapDraft, Source, Verdict, name_key
from mapshelf.readers.sandboxed_reader import ReadFile, RefusedFile, SandboxedReader
from mapshelf.store.contract import Maps, MapWriter, Sources

LOOKED_UP: Final = 500
"""Files whose earlier state is asked of the store at a time."""

WRITTEN: Final = 100
"""Most maps written in one transaction."""

WRITTEN_BYTES: Final = 32 << 20
"""Bytes of files after which what was read is written: files may be large."""

WRITE_INTERVAL: Final = 0.5
"""Seconds after which what was read is written, so that it shows while the rest is read."""

NEVER: Final = -1
"""A modification time that files do not have."""


class ImportStore(Maps, MapWriter, Sources, Protocol):
    """What importing files needs of a store."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the operator says of all maps of an import; ``None`` leaves it open."""

    owner: str | None = None
    category: str | None = None


def import_maps(
    store: ImportStore,
    candidates: Iterable[Candidate],
    reader: SandboxedReader,
    attribution: Attribution,
    report: Report,
) -> None:
    """Bring the maps in ``candidates`` into ``store``, and note in ``report`` what became of each.

    Without a category of its own a new map gets the one named like its folder, if there is one. A
    file that was renamed or moved is the same map still: it is known by its content.

    Raises:
        StoreError: the store failed; what was noted as added or changed until then is safe.
    """
    _Import(store, attribution, report).run(candidates, reader)


class _Import:
    """One import: the files under way, and the maps read and not yet written."""

    def __init__(self, store: ImportStore, attribution: Attribution, report: Report) -> None:
        self._store = store
        self._attribution = attribution
        self._report = report
        self._categories = {name_key(row.name): row.name for row in store.categories()}
        self._reading: dict[str, _Reading] = {}
        self._drafts: dict[str, MapDraft] = {}
        self._bytes = 0
        self._written = time.monotonic()

    def run(self, candidates: Iterable[Candidate], reader: SandboxedReader) -> None:
        for result in reader.read(self._to_read(candidates)):
            reading = self._reading.pop(result.path)
            if isinstance(result, RefusedFile):
                self._report.note(Verdict.REFUSED, printable(result.path), result.reason)
                continue
            self._drafts[result.path] = self._draft(result, reading)
            self._bytes += len(result.content)
            late = time.monotonic() - self._written > WRITE_INTERVAL
            if late or len(self._drafts) >= WRITTEN or self._bytes >= WRITTEN_BYTES:
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
                if attributed or not candidate.is_still(source):
                    followed = source is not None and source.modified != NEVER
                    self._reading[candidate.path] = _Reading(candidate.name, followed)
                    yield candidate.path
                else:
                    self._report.note(Verdict.UNCHANGED, printable(candidate.path))

    def _draft(self, found: ReadFile, reading: "_Reading") -> MapDraft:
        source = Source(
            path=os.fsencode(found.path),
            name=reading.name,
            size=found.size,
            modified=time_of(found.modified_ns),
            digest=found.digest,
        )
        category = self._attribution.category
        if not reading.known:
            self._take_over(source)
            folder = name_key(folder_of(found.path))
            category = category or self._categories.get(folder, UNCATEGORISED)
        return MapDraft(
            title=found.title,
            description=found.description,
            category=category,
            date_added=time_of(found.modified_ns) // 1_000_000,
            owner=self._attribution.owner,
            size=size_of(found.size),
            software=found.software or None,
            template=found.template,
            source=source,
            outline=found.outline,
            content=found.content,
        )

    def _take_over(self, source: Source) -> None:
        """If ``source`` is a known file under a new name, let the map follow it.

        It has no time until the draft is written: if we end before that, the file is read again.
        """
        moved = replace(source, modified=NEVER)
        for known in self._store.sources_of(source.digest):
            if is_gone(known.path) and self._store.move_source(known.path, moved):
                return

    def _write(self) -> None:
        if self._drafts:
            outcomes = self._store.put_maps(list(self._drafts.values()))
            self._report.note_all(map(printable, self._drafts), outcomes)
            self._drafts.clear()
        self._bytes = 0
        self._written = time.monotonic()


@dataclass(frozen=True, slots=True)
class _Reading:
    """A file under way: its name below the folder that is imported, and whether it is known."""

    name: str
    known: bool
