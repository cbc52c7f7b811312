"""Small disks in memory."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int, *options: str) -> Iterator[Path]:
    """Mount a new disk; skip the test if this user may not."""
    folder.mkdir()
    chosen = ",".join((f"size={megabytes}m", *options))
    words = ("mount", "-t", "tmpfs", "-o", chosen, "tmpfs", folder)
    if os.geteuid() != 0 or not mounted(*words):
        pytest.skip("this test needs permission to mount a disk")
    try:
        yield folder
    finally:
        assert mounted("umount", "--lazy", folder)


def mounted(*words: str | Path) -> bool:
    """Run a command that mounts or unmounts; return whether it succeeded."""
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
