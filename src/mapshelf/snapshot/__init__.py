"""What every read of the catalogue is answered from: immutable files, built from the store."""

from mapshelf.snapshot.builder import Builder
from mapshelf.snapshot.directory import SnapshotDirectory, verify
from mapshelf.snapshot.snapshot import Page, Record, Snapshot

__all__ = ["Builder", "Page", "Record", "Snapshot", "SnapshotDirectory", "verify"]
