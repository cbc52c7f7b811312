"""The plan for daily backups.

It is apart from the code that carries it out, so that only one process of ``mapshelf serve`` need
import that.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """Where to back up to, and how many backups to keep there."""

    folder: Path
    keep: int
