"""Finds the processes of a running service."""

from pathlib import Path


def children(process: int) -> list[int]:
    """Return the children of a process that run our code, without Python's helper processes."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    except OSError:
        return []
    return [int(child) for child in text.split() if "resource_tracker" not in _words(int(child))]


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
