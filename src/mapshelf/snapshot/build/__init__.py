"""Build snapshots from the store."""

from mapshelf.snapshot.build.builder import Builder
from mapshelf.snapshot.build.change_applier import Progress
from mapshelf.snapshot.build.map_preparation import GC_THRESHOLDS

__all__ = ["GC_THRESHOLDS", "Builder", "Progress"]
