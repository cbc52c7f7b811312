"""Snapshots: immutable files, built from the store, that answer all reads of the catalogue.

``build`` builds them, ``read`` answers from them, and ``format`` has the files that both share.
Import from these: this package loads none of them, so that each process loads only what it uses.
"""

from mapshelf.snapshot.format.directory import SnapshotDirectory

__all__ = ["SnapshotDirectory"]
