"""``mapshelf import``: import folders, map files and records into the catalogue."""

import argparse
import sys
from pathlib import Path
from typing import Final

from mapshelf.cli.argument_types import category_name, user_name
from mapshelf.cli.catalogue_options import add_catalogue_options, open_catalogue
from mapshelf.cli.progress_bar import ProgressBar
from mapshelf.errors import UnreadableFile
from mapshelf.importer.map_files import Attribution, ImportStore, import_maps
from mapshelf.importer.records import import_records
from mapshelf.importer.report import Report
from mapshelf.importer.scan import scan
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store.contract import MapWriter

RECORDS: Final = ".ndjson"
"""Extension of files with records."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=Path,
        help=f"a folder, a map file, or a file of records ({RECORDS})",
    )
    parser.add_argument("--owner", metavar="NAME", type=user_name, help="owner of the maps")
    parser.add_argument(
        "--category", metavar="NAME", type=category_name, help="category of the maps"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    for path in given.paths:
        if not path.exists():
            raise UnreadableFile(f"there is no {path}")
    records = [path for path in given.paths if path.suffix.lower() == RECORDS and path.is_file()]
    maps = [path for path in given.paths if path not in records]
    report = Report()
    with open_catalogue(given, create=True) as store:
        try:
            _import(store, records, maps, Attribution(given.owner, given.category), report)
        finally:
            _print_report(report)  # also after a failure: what was imported before it stays
    return 0 if report.complete else 1


def _import(
    store: ImportStore,
    records: list[Path],
    maps: list[Path],
    attribution: Attribution,
    report: Report,
) -> None:
    with ProgressBar() as progress:
        for path in records:
            _import_records(store, path, report, progress)
        if maps:
            _import_maps(store, maps, attribution, report, progress)


def _import_records(store: MapWriter, path: Path, report: Report, progress: ProgressBar) -> None:
    progress.begin(path.name)
    report.notify = progress.advance
    import_records(store, path, report)


def _import_maps(
    store: ImportStore,
    paths: list[Path],
    attribution: Attribution,
    report: Report,
    progress: ProgressBar,
) -> None:
    progress.begin("Looking for maps")
    with SandboxedReader() as reader:
        candidates = list(scan(paths, report, reader.members))
        reader.expect(len(candidates))
        progress.expect("Reading maps", len(candidates))
        report.notify = progress.advance
        import_maps(store, candidates, reader, attribution, report)


def _print_report(report: Report) -> None:
    print(report.summary())
    for name, reason in report.refusals:
        print(f"mapshelf: refused {name}: {reason}", file=sys.stderr)
    for key, count in report.ignored.items():
        print(f"mapshelf: ignored the unknown key {key!r} of {count} records", file=sys.stderr)
