"""The file that names the current snapshot.

It is not in the package ``snapshot``, because the libraries of that package take a second to load
and the supervisor only asks whether a snapshot exists.
"""

from pathlib import Path
from typing import Final

POINTER: Final = "current"
"""Name of the file in the folder of the snapshots."""


def snapshot_exists(snapshots: Path) -> bool:
    """Tell whether a snapshot was published in the folder ``snapshots``."""
    return (snapshots / POINTER).exists()
