"""Imports map files and records into the store, and exports records."""

from mapshelf.importer.folder_sync import FolderSync
from mapshelf.importer.map_files import Attribution, ImportStore, import_maps
from mapshelf.importer.records import export_records, import_records
from mapshelf.importer.renewal import renew_outlines
from mapshelf.importer.report import Report
from mapshelf.importer.scan import Candidate, scan

__all__ = [
    "Attribution",
    "Candidate",
    "FolderSync",
    "ImportStore",
    "Report",
    "export_records",
    "import_maps",
    "import_records",
    "renew_outlines",
    "scan",
]
