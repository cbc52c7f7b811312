"""Connections and listeners of a service, as Linux reports them in ``/proc``."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

LISTENING: Final = "0A"


class Entry(NamedTuple):
    """A socket: local port, address of the peer, state, and inode (0: no process has it open)."""

    port: int
    peer: str
    state: str
    inode: int


def open_connections(port: int, peer: str) -> int:
    """Return how many connections from ``peer`` to a port are open in a process."""
    return sum(
        1 for entry in _entries() if (entry.port, entry.peer) == (port, peer) and entry.inode
    )


def listeners(port: int, pids: list[int]) -> list[int]:
    """Return the processes among ``pids`` that listen on a port."""
    entries = (entry for entry in _entries() if (entry.port, entry.state) == (port, LISTENING))
    inodes = {entry.inode for entry in entries}
    return [pid for pid in pids if inodes & set(_inodes(pid))]


def _entries() -> Iterator[Entry]:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote, state, inode = fields[1], fields[2], fields[3], int(fields[9])
        yield Entry(int(local.split(":")[1], 16), _address(remote.split(":")[0]), state, inode)


def _address(text: str) -> str:
    return ".".join(str(part) for part in reversed(bytes.fromhex(text)))


def _inodes(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for descriptor in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(descriptor.path))
                if found:
                    yield int(found[1])
