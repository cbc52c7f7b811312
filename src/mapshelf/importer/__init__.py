"""Getting maps into the store: folders of map files, and files of records."""

from mapshelf.importer.follow import Follower
from mapshelf.importer.maps import Attribution, ImportStore, import_maps
from mapshelf.importer.records import export_records, import_records
from mapshelf.importer.report import Report
from mapshelf.importer.scan import Candidate, scan

__all__ = [
    "Attribution",
    "Candidate",
    "Follower",
    "ImportStore",
    "Report",
    "export_records",
    "import_maps",
    "import_records",
    "scan",
]
