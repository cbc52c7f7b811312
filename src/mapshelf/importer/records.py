"""Import and export of records: a catalogue as NDJSON, one JSON object per line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from mapshelf.errors import InvalidRecord, UnreadableFile
from mapshelf.formats.ndjson_records import LONGEST_LINE, format_record, parse_record
from mapshelf.importer.report import ImportReport, printable
from mapshelf.model import MapDraft, Verdict, Visibility
from mapshelf.store.contract import Maps, MapWriter

BATCH_SIZE: Final = 500
"""Records written in one transaction."""

PAGE_SIZE: Final = 1000
"""Maps read from the store at a time."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def import_records(
    store: MapWriter, path: Path, report: ImportReport, visibility: Visibility | None = None
) -> None:
    """Import the records in the file at ``path`` into ``store``.

    An invalid line is recorded in ``report`` with its number; the others are imported. New maps
    have this ``visibility`` unless their record has one.

    Raises:
        UnreadableFile: the file cannot be opened or read; records reported so far are stored.
        StoreError: the store failed; records reported as added or changed so far are stored.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise _unreadable(path, "opened", error) from error
    with file:
        drafts: dict[str, MapDraft] = {}
        for name, line in _lines(file, path):
            try:
                draft, unknown_keys = parse_record(line)
            except InvalidRecord as error:
                report.note(Verdict.REFUSED, name, str(error))
                continue
            report.note_ignored(unknown_keys)
            drafts[name] = replace(draft, initial_visibility=visibility)
            if len(drafts) >= BATCH_SIZE:
                _write(store, drafts, report)
        _write(store, drafts, report)


def export_records(store: Maps, file: BinaryIO) -> None:
    """Write every map of ``store`` to ``file``, one per line."""
    after = 0
    while page := store.maps(after, PAGE_SIZE):
        file.writelines(format_record(found) + b"\n" for found in page)
        after = page[-1].file_id


def _unreadable(path: Path, done: str, error: OSError) -> UnreadableFile:
    reason = error.strerror or "input/output error"
    return UnreadableFile(f"{printable(str(path))} cannot be {done}: {reason}")


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the non-blank lines, each with file name and line number.

    An overlong line is truncated, but stays long enough to be rejected.

    Raises:
        UnreadableFile: the file cannot be read further.
    """
    number, name = 0, printable(str(path))
    while line := _line(file, path, LONGEST_LINE + 2):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = _line(file, path, LONGEST_LINE)
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.strip():
            yield f"{name}, line {number}", line.rstrip(b"\r\n")


def _line(file: BinaryIO, path: Path, most: int) -> bytes:
    try:
        return file.readline(most)
    except OSError as error:
        raise _unreadable(path, "read", error) from error


def _write(store: MapWriter, drafts: dict[str, MapDraft], report: ImportReport) -> None:
    if drafts:
        report.note_all(zip(drafts, store.put_maps(list(drafts.values())), strict=True))
        drafts.clear()
