"""Kill a process together with its descendants.

A killed process cannot end its own children. They would go on with what they inherited: web workers
would keep the listening socket, so that the service could not start again.
"""

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

PROCESSES: Final = Path("/proc")
"""Where Linux lists processes. Elsewhere no descendants are found."""


def kill_with_descendants(process_id: int) -> None:
    """Kill a process, then its children, their children and so on.

    The process must be a child that was not waited for, or its number may already be another's.
    """
    # Once a process ends, nothing tells whose child its children were.
    below = _descendants(process_id)
    for each in (process_id, *below):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)


def _descendants(process_id: int) -> list[int]:
    """Return the descendants of a process, parents before their children."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    with suppress(OSError):
        for name in os.listdir(PROCESSES):
            if name.isdigit():
                with suppress(OSError, ValueError):
                    children[_parent(int(name))].append(int(name))
    found = [process_id]
    for each in found:
        found += children[each]
    return found[1:]


def _parent(process_id: int) -> int:
    """Return the parent of a process.

    Raises:
        OSError: the process has ended.
    """
    status = (PROCESSES / str(process_id) / "stat").read_bytes()
    # Its name comes first, in parentheses, and may contain any character.
    return int(status.rpartition(b")")[2].split()[1])
