"""Finds the processes of a running service."""

from contextlib import suppress
from pathlib import Path


def children(process: int) -> list[int]:
    """Return the children of a process that run our code, without Python's helper processes."""
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found += map(int, thread.read_text("ascii").split())
    return [child for child in found if "resource_tracker" not in _words(child)]


def workers(service: int) -> list[int]:
    """Return the workers of the service whose first process is ``service``."""
    return [child for child in children(service) if name_of(child) == "worker"]


def name_of(process: int) -> str:
    """Return the name of a process, as ``top`` shows it; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text("ascii").rstrip("\n")
    except OSError:
        return ""


def descendants(process: int) -> list[int]:
    """Return all descendants of a process."""
    found = children(process)
    return found + [further for child in found for further in descendants(child)]


def runs(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _words(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""
