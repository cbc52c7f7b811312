"""What every read of the catalogue is answered from: immutable files, built from the store."""

from mapshelf.snapshot.build.builder import Builder
from mapshelf.snapshot.format.directory import SnapshotDirectory, verify
from mapshelf.snapshot.format.verification import SoundSnapshots
from mapshelf.snapshot.read.facets import Facets
from mapshelf.snapshot.read.snapshot import Hits, Page, Record, Snapshot

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
