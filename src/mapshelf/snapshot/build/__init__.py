"""Build snapshots from the store."""

from mapshelf.snapshot.build.builder import Builder

__all__ = ["Builder"]
