"""Build and read snapshots: immutable files, built from the store, that serve all catalogue reads.

``build`` writes them, ``read`` queries them, and ``format`` defines the file formats both share.
Import from these subpackages. This package itself imports only ``SnapshotDirectory``, which is
light, so that a process loads only what it uses.
"""

from mapshelf.snapshot.format.directory import SnapshotDirectory

__all__ = ["SnapshotDirectory"]
