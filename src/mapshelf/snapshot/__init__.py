"""Snapshots: immutable files, built from the store, that serve all reads of the catalogue.

``build`` writes them, ``read`` queries them, and ``format`` defines the file formats both share.
Import from these subpackages: this one imports none of them, so a process loads only what it uses.
"""

from mapshelf.snapshot.format.directory import SnapshotDirectory

__all__ = ["SnapshotDirectory"]
