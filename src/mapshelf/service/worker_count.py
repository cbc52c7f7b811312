"""The default number of workers, and of helpers of the builder.

One worker per processor gives the highest throughput, but a small machine with many processors,
such as a Raspberry Pi with 1 GB, lacks the memory for that. In a container, the limits of its
control group (version 2) apply, if there is one.
"""

import os
from math import ceil
from pathlib import Path
from typing import Final

WORKER_MEMORY: Final = 400 << 20
"""Bytes per worker: about 80 MB for itself, plus the child processes that render and pack for it.
The files of a snapshot are memory-mapped and shared by all workers."""

MOST_HELPERS: Final = 4
"""Maximum number of helpers: more would wait for the builder, which writes what they prepare."""

CONTROL_GROUP: Final = Path("/sys/fs/cgroup")


def default_workers(control_group: Path = CONTROL_GROUP) -> int:
    """Return one worker per processor, or as many as fit into memory; at least one.

    Args:
        control_group: the cgroup folder with the limits of this process.
    """
    return max(1, min(_processors(control_group), _memory(control_group) // WORKER_MEMORY))


def default_helpers(control_group: Path = CONTROL_GROUP) -> int:
    """Return how many processes help with a full build: as many as workers, none with one worker.

    Args:
        control_group: the cgroup folder with the limits of this process.
    """
    workers = default_workers(control_group)
    return min(workers, MOST_HELPERS) if workers > 1 else 0


def _processors(control_group: Path) -> int:
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        available = os.cpu_count() or 1
    quota, _, period = _limit(control_group / "cpu.max").partition(" ")
    return min(available, ceil(int(quota) / int(period))) if quota.isdigit() else available


def _memory(control_group: Path) -> int:
    """Return the memory available to this service, in bytes."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _limit(control_group / "memory.max")
    return min(installed, int(limit)) if limit.isdigit() else installed


def _limit(file: Path) -> str:
    """Return the content of a limit file: numbers, or "max" for no limit."""
    try:
        return file.read_text("ascii").strip()
    except OSError:
        return ""
