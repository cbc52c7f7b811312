"""Read a snapshot: lists, searches, facets, folders, tags and single maps."""

from mapshelf.snapshot.format.records import Details
from mapshelf.snapshot.read.browsing import Folder, Tag
from mapshelf.snapshot.read.facets import Facets
from mapshelf.snapshot.read.snapshot import Alike, Hits, Page, Record, Snapshot

__all__ = ["Alike", "Details", "Facets", "Folder", "Hits", "Page", "Record", "Snapshot", "Tag"]
