"""The default number of workers, and of helpers of the builder.

One worker per processor gives the highest throughput, but a small machine with many processors,
such as a Raspberry Pi with 1 GB, lacks the memory for that. In a container or a systemd unit, the
limits of its control groups apply: those of version 2, and of version 1 on older systems.
"""

import logging
import os
import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Final

from mapshelf.plurals import noun

WORKER_MEMORY: Final = 400 << 20
"""Bytes per worker: about 80 MB for itself, plus the child processes that render and pack for it.
The files of a snapshot are memory-mapped and shared by all workers."""

WORKER_TASKS: Final = 128
"""Tasks (threads and processes) per worker. Under all kinds of load, one has about fifty, and one
for each large response that waits for its turn (``streaming.MOST_BODIES``)."""

OTHER_TASKS: Final = 64
"""Tasks of the builder, its helpers and the importer together."""

MOST_HELPERS: Final = 4
"""Maximum number of helpers: more would wait for the builder, which writes what they prepare."""

_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUPS: Final = Path("/proc/self/cgroup")

log = logging.getLogger(__name__)


def own_control_groups(root: Path = _CONTROL_GROUPS, own: Path = _OWN_GROUPS) -> list[Path]:
    """Return the cgroup folders whose limits apply to this process, those of parents included.

    Args:
        root: the folder of all groups. In a container, it is the own group.
        own: names the groups of this process, one for each hierarchy (``cgroups(7)``).
    """
    found = [root]
    for line in _content(own).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        version_2 = number == "0"
        hierarchy = root / ("" if version_2 else controllers.removeprefix("name="))
        group = hierarchy / path.lstrip("/")
        found += [
            one
            for one in (group, *group.parents)
            if one.is_relative_to(hierarchy) and one.is_dir() and one not in found
        ]
    return found


def default_workers(groups: Sequence[Path] | None = None) -> int:
    """Return one worker per processor, or as many as memory and tasks suffice for; at least one.

    Args:
        groups: the cgroup folders with the limits of this process.
    """
    groups = own_control_groups() if groups is None else groups
    tasks = (_tasks(groups) - OTHER_TASKS) // WORKER_TASKS
    most = _memory(groups) // WORKER_MEMORY, tasks
    return max(1, min(_processors(groups), *most))


def default_helpers(groups: Sequence[Path] | None = None) -> int:
    """Return how many processes help with a full build: as many as workers, none with one worker.

    Args:
        groups: the cgroup folders with the limits of this process.
    """
    workers = default_workers(groups)
    return min(workers, MOST_HELPERS) if workers > 1 else 0


def warn_of_few_tasks(workers: int, groups: Sequence[Path] | None = None) -> None:
    """Log a warning if this process may have fewer tasks than so many workers need.

    Args:
        workers: the number of workers.
        groups: the cgroup folders with the limits of this process.
    """
    allowed = _tasks(own_control_groups() if groups is None else groups)
    needed = workers * WORKER_TASKS
    if needed > allowed:
        log.warning(
            "%d %s may need %d threads and processes, but the control group allows %d:"
            " requests may fail",
            workers,
            noun(workers, "worker"),
            needed,
            allowed,
        )


def _tasks(groups: Sequence[Path]) -> int:
    """Return how many threads and processes this service may have at once."""
    return _least(groups, "pids.max", sys.maxsize)


def _processors(groups: Sequence[Path]) -> int:
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        available = os.cpu_count() or 1
    for group in groups:
        quota, _, period = _content(group / "cpu.max").partition(" ")
        if not quota:
            quota = _content(group / "cpu.cfs_quota_us")
            period = _content(group / "cpu.cfs_period_us")
        if _is_number(quota) and _is_number(period) and int(period):
            available = min(available, ceil(int(quota) / int(period)))
    return available


def _memory(groups: Sequence[Path]) -> int:
    """Return the memory available to this service, in bytes."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _least(groups, "memory.max", _least(groups, "memory.limit_in_bytes", installed))


def _least(groups: Sequence[Path], name: str, otherwise: int) -> int:
    """Return the lowest limit in the files of this name, at most ``otherwise``."""
    limits = (_content(group / name) for group in groups)
    return min([int(limit) for limit in limits if _is_number(limit)] + [otherwise])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < len(str(2**64))


def _content(file: Path) -> str:
    """Return the content of a file, such as numbers, or "max" for no limit."""
    try:
        text = os.fsdecode(file.read_bytes()).strip()
    except (OSError, ValueError):  # a name with a NUL cannot exist
        return ""
    return text
