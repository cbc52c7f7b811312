"""The default number of workers, and of helpers of the builder.

One worker per processor gives the highest throughput, but a small machine with many processors,
such as a Raspberry Pi with 1 GB, lacks the memory for that. In a container or a systemd unit, the
limits of its control group (version 2) apply, if there is one.
"""

import os
import sys
from math import ceil
from pathlib import Path
from typing import Final

WORKER_MEMORY: Final = 400 << 20
"""Bytes per worker: about 80 MB for itself, plus the child processes that render and pack for it.
The files of a snapshot are memory-mapped and shared by all workers."""

WORKER_TASKS: Final = 64
"""Tasks (threads and processes) per worker. Under all kinds of load, one has about fifty."""

MOST_HELPERS: Final = 4
"""Maximum number of helpers: more would wait for the builder, which writes what they prepare."""

_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUP: Final = Path("/proc/self/cgroup")


def own_control_group(groups: Path = _CONTROL_GROUPS, own: Path = _OWN_GROUP) -> Path:
    """Return the cgroup folder with the limits of this process; it may lack them, or not exist.

    Args:
        groups: the folder of all groups. In a container, it is the own group.
        own: names the group of this process.
    """
    for line in _limit(own).splitlines():
        hierarchy, _, path = line.partition("::/")
        if hierarchy == "0" and (groups / path).is_dir():
            return groups / path
    return groups


def default_workers(control_group: Path | None = None) -> int:
    """Return one worker per processor, or as many as memory and tasks suffice for; at least one.

    Args:
        control_group: the cgroup folder with the limits of this process.
    """
    group = control_group or own_control_group()
    others = 1  # the builder, its helpers and the importer together need the tasks of one worker
    most = _memory(group) // WORKER_MEMORY, _tasks(group) // WORKER_TASKS - others
    return max(1, min(_processors(group), *most))


def default_helpers(control_group: Path | None = None) -> int:
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


def _tasks(control_group: Path) -> int:
    """Return how many threads and processes this service may have at once."""
    limit = _limit(control_group / "pids.max")
    return int(limit) if limit.isdigit() else sys.maxsize


def _limit(file: Path) -> str:
    """Return the content of a file, such as numbers, or "max" for no limit."""
    try:
        return file.read_text("ascii").strip()
    except OSError:
        return ""
