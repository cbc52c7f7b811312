"""Reading a snapshot: lists, searches, facets, single maps."""

from mapshelf.snapshot.read.facets import Facets
from mapshelf.snapshot.read.snapshot import Hits, Page, Record, Snapshot

__all__ = ["Facets", "Hits", "Page", "Record", "Snapshot"]
