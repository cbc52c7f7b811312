"""How many workers a machine bears, when the operator does not say.

One for each processor answers most. A small machine with many processors, such as a Raspberry Pi
with 1 GB, has not the memory for that. In a container, what counts is what the container gets: its
control group (version 2) says so, and systems without one tell nothing.
"""

import os
from math import ceil
from pathlib import Path
from typing import Final

WORKER_MEMORY: Final = 400 << 20
"""Bytes for each worker: about 80 MB for itself, and the children that draw and pack for it. Files
of a snapshot are mapped, and count for all workers once."""

CONTROL_GROUP: Final = Path("/sys/fs/cgroup")


def default_workers(control_group: Path = CONTROL_GROUP) -> int:
    """Return as many workers as there are processors, or as fit into memory; at least one.

    Args:
        control_group: the folder in which the kernel tells the limits of this process.
    """
    return max(1, min(_processors(control_group), _memory(control_group) // WORKER_MEMORY))


def _processors(control_group: Path) -> int:
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        available = os.cpu_count() or 1
    quota, _, period = _limit(control_group / "cpu.max").partition(" ")
    return min(available, ceil(int(quota) / int(period))) if quota.isdigit() else available


def _memory(control_group: Path) -> int:
    """Return the bytes of memory that there are for this service."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _limit(control_group / "memory.max")
    return min(installed, int(limit)) if limit.isdigit() else installed


def _limit(file: Path) -> str:
    """Return what ``file`` says: numbers, or "max" where there is no limit."""
    try:
        return file.read_text("ascii").strip()
    except OSError:
        return ""
