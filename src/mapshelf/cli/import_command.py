"""``mapshelf import``: import folders, map files and records into the catalogue."""

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TextIO

from mapshelf.cli.argument_types import named_path
from mapshelf.cli.attribution_options import add_attribution_options, attribution_of
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.durable import open_private
from mapshelf.errors import UnreadableFile
from mapshelf.import_status import StatusFile
from mapshelf.importer.attribution import Attribution, notice_of_owner
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import ImportStore, import_maps
from mapshelf.importer.progress import ImportProgress
from mapshelf.importer.records import import_records
from mapshelf.importer.refused_files import refusals_of, remember
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import ARCHIVE_SUFFIX, resolve_path, scan
from mapshelf.plurals import noun
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.service.worker_count import default_workers

RECORDS: Final = ".ndjson"
"""The extension of files with records."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=named_path,
        help=f"a folder, a map file, or a file of records ({RECORDS})",
    )
    add_attribution_options(parser)
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        help="write what was refused or skipped, and why, to this file: tab-separated lines",
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    for path in given.paths:
        if not path.exists():
            raise UnreadableFile(f"{path} does not exist")
    records = [path for path in given.paths if path.suffix.lower() == RECORDS and path.is_file()]
    maps = [path for path in given.paths if path not in records]
    report = ImportReport()
    with ExitStack() as stack:
        file = (
            stack.enter_context(open(given.report, "w", encoding="utf-8", opener=open_private))
            if given.report
            else None
        )
        store = stack.enter_context(open_catalogue(given, create=True))
        try:
            with ImportProgress(StatusFile(given.data)) as progress:
                attribution = attribution_of(given)
                for path in records:
                    progress.begin(path.name)
                    progress.follow(report)
                    import_records(store, path, report, attribution.visibility)
                if maps:
                    if notice := notice_of_owner(store, attribution):
                        print(f"mapshelf: {notice}", file=sys.stderr)
                    _import_maps(store, maps, attribution, report, progress)
        finally:  # also after a failure, because what was imported before it stays
            _print_report(report)
            if file:
                _write_report(report, file)
    return 0 if report.complete else 1


def _import_maps(
    store: ImportStore,
    paths: list[Path],
    attribution: Attribution,
    report: ImportReport,
    progress: ImportProgress,
) -> None:
    progress.begin("Looking for maps")
    before = len(report.refusals)  # those of records, which are not files
    with SandboxedReader(default_workers()) as reader:
        candidates = list(scan(paths, report, reader.members))
        folders = _folders_of(paths)
        seen = SeenFolders()
        seen.see(candidates)
        reader.expect(len(candidates))
        progress.follow(report, "Reading maps", len(candidates))
        import_maps(
            store,
            candidates,
            reader,
            attribution,
            report,
            folders=folders,
            lost=LostFiles(
                {candidate.path for candidate in candidates},
                {Path(folder): os.access(folder, os.R_OK | os.X_OK) for folder in folders},
                seen,
                store.unpublished_sources,
            ),
        )
    of_files = ImportReport(refusals=report.refusals[before:], skipped=report.skipped)
    remember(store, paths, refusals_of(of_files))


def _folders_of(paths: list[Path]) -> list[str]:
    """Return the folders and archives among ``paths``, without those inside others.

    Each of them costs a query for each new file: there may be thousands of named files.
    """
    named = sorted({Path(resolve_path(path)) for path in paths})
    folders: list[Path] = []
    for one in named:
        inside = bool(folders) and one.is_relative_to(folders[-1])
        if not inside and (one.is_dir() or one.suffix.lower() == ARCHIVE_SUFFIX):
            folders.append(one)
    return [str(one) for one in folders]


def _print_report(report: ImportReport) -> None:
    print(report.summary())
    if report.unpublished:
        print(
            "mapshelf: files that are not published, like the maps with their content or place:"
            f" {report.unpublished}",
            file=sys.stderr,
        )
    for name, reason in report.refusals:
        print(f"mapshelf: refused {name}: {reason}", file=sys.stderr)
    if count := len(report.vanished):
        files = f"{count} {noun(count, 'file was', 'files were')}"
        print(f"mapshelf: {files} deleted or renamed during the import", file=sys.stderr)
    for key, count in report.ignored.items():
        records = f"{count} {noun(count, 'record')}"
        print(f"mapshelf: ignored the unknown key {key!r} of {records}", file=sys.stderr)


def _write_report(report: ImportReport, file: TextIO) -> None:
    for one in refusals_of(report):
        file.write(f"{one.kind}\t{one.path}\t{one.reason}\n")
