"""What every read of the catalogue is answered from: immutable files, built from the store."""

from mapshelf.snapshot.builder import Builder
from mapshelf.snapshot.directory import SnapshotDirectory, verify
from mapshelf.snapshot.facets import Facets
from mapshelf.snapshot.snapshot import Hits, Page, Record, Snapshot
from mapshelf.snapshot.soundness import SoundSnapshots

__all__ = [
    "Builder",
    "Facets",
    "Hits",
    "Page",
    "Record",
    "Snapshot",
    "SnapshotDirectory",
    "SoundSnapshots",
    "verify",
]
