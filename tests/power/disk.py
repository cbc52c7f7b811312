"""An in-memory disk that tracks what was synced, and so knows what a power cut would leave.

It guarantees only what POSIX does, which is less than most file systems: the content of a file is
safe after the file is synced, and its name after the folder is synced. Of everything else, a cut
may leave nothing, all, or any part.
"""

import os
import random
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

SECTOR: Final = 512
"""Bytes that a disk writes whole, or not at all."""

PAGE: Final = 4096
"""Bytes that a system writes at a time, in any order."""


class Fate(Enum):
    """What a cut leaves of what was not synced."""

    LOST = "lost"
    """Nothing: the worst that is allowed."""

    KEPT = "kept"
    """All, as when only processes are killed."""

    TORN = "torn"
    """Any part: the first of the names of each folder, and pages, sectors or sizes of files."""


@dataclass(slots=True)
class Facts:
    """The metadata of a file or folder.

    Attributes:
        number: of the inode.
        mode: permissions.
        owner: user and group.
        links: how many names there are.
        times: of the last access, modification and change, in nanoseconds.
    """

    number: int
    mode: int
    owner: tuple[int, int] = (0, 0)
    links: int = 1
    times: list[int] = field(default_factory=lambda: [time.time_ns()] * 3)

    def touch(self) -> None:
        """Set the modification time to now."""
        self.times[1] = self.times[2] = time.time_ns()


@dataclass(slots=True, eq=False)
class File:
    """A file: its present bytes, those that are safe, and the writes between the two.

    Writes are pairs of an offset and bytes; without bytes, the write set the size to the offset.
    """

    facts: Facts
    data: bytearray = field(default_factory=bytearray)
    safe: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    @property
    def kind(self) -> int:
        """What it is, as in ``st_mode``."""
        return stat.S_IFREG

    def write(self, offset: int, data: bytes | None) -> None:
        """Write bytes, or set the size if there are none."""
        _write(self.data, offset, data)
        self.pending.append((offset, data))
        self.facts.touch()

    def sync(self) -> None:
        """Make everything safe."""
        for offset, data in self.pending:
            _write(self.safe, offset, data)
        self.pending.clear()

    def left(self, fate: Fate, chance: random.Random) -> bytes:
        """Return what a cut would leave of it."""
        if fate is Fate.KEPT:
            return bytes(self.data)
        left = bytearray(self.safe)
        if fate is Fate.TORN and self.pending:
            for offset, data in _part(self.pending, chance):
                _write(left, offset, data)
        return bytes(left)


@dataclass(slots=True, eq=False)
class Folder:
    """A folder: its present names, those that are safe, and the changes between the two."""

    facts: Facts
    names: "dict[str, Node]" = field(default_factory=dict)
    safe: "dict[str, Node]" = field(default_factory=dict)
    pending: "list[dict[str, Node | None]]" = field(default_factory=list)

    @property
    def kind(self) -> int:
        """What it is, as in ``st_mode``."""
        return stat.S_IFDIR

    def change(self, changes: "dict[str, Node | None]") -> None:
        """Add and remove names; the changes of one call are atomic."""
        _rename(self.names, changes)
        self.pending.append(changes)
        self.facts.touch()

    def sync(self) -> None:
        """Make all names safe."""
        for changes in self.pending:
            _rename(self.safe, changes)
        self.pending.clear()

    def left(self, fate: Fate, chance: random.Random) -> "dict[str, Node]":
        """Return the names that a cut would leave."""
        kept = {
            Fate.LOST: 0,
            Fate.KEPT: len(self.pending),
            Fate.TORN: chance.randint(0, len(self.pending)),
        }
        left = dict(self.safe)
        for changes in self.pending[: kept[fate]]:
            _rename(left, changes)
        return left


Node: TypeAlias = File | Folder


def _write(target: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del target[offset:]
        target.extend(bytes(offset - len(target)))
        return
    target.extend(bytes(max(0, offset - len(target))))
    target[offset : offset + len(data)] = data


def _rename(names: dict[str, Node], changes: "dict[str, Node | None]") -> None:
    for name, node in changes.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _part(
    pending: list[tuple[int, bytes | None]], chance: random.Random
) -> list[tuple[int, bytes | None]]:
    """Return some of the writes: none, all, the first ones, or random pages."""
    match chance.randrange(4):
        case 0:
            return []
        case 1:
            return pending
        case 2:
            *whole, (offset, data) = pending[: chance.randint(1, len(pending))]
            if data is not None:
                data = data[: chance.randint(0, len(data) // SECTOR) * SECTOR]
            return [*whole, (offset, data)]
        case _:
            return [piece for one in pending for piece in _pages(*one) if chance.random() < 0.5]


def _pages(offset: int, data: bytes | None) -> list[tuple[int, bytes | None]]:
    if data is None:
        return [(offset, None)]
    return [(offset + start, data[start : start + PAGE]) for start in range(0, len(data), PAGE)]


def left_behind(root: Folder, target: Path, fate: Fate, chance: random.Random) -> None:
    """Write into the folder ``target`` what a cut would leave of a disk."""
    _write_folder(root, target, fate, chance, {})


def _write_folder(
    folder: Folder, target: Path, fate: Fate, chance: random.Random, files: dict[File, Path]
) -> None:
    target.mkdir(mode=0o700)
    for name, node in folder.left(fate, chance).items():
        path = target / name
        if isinstance(node, Folder):
            _write_folder(node, path, fate, chance, files)
        elif node in files:
            path.hardlink_to(files[node])
        else:
            path.write_bytes(node.left(fate, chance))
            os.chmod(path, node.facts.mode)
            files[node] = path


def loaded(source: Path) -> Folder:
    """Return a disk with the content of a folder, all of it safe."""
    return _read_folder(source, {}, iter(range(1, 1 << 62)))


def _read_folder(source: Path, files: dict[int, File], numbers: Iterator[int]) -> Folder:
    folder = Folder(Facts(next(numbers), 0o700))
    for path in sorted(source.iterdir()):
        node: Node
        found = path.lstat()
        if path.is_dir():
            node = _read_folder(path, files, numbers)
        elif found.st_ino in files:
            node = files[found.st_ino]
            node.facts.links += 1
        else:
            content = path.read_bytes()
            facts = Facts(next(numbers), stat.S_IMODE(found.st_mode))
            facts.times = [found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]
            node = files[found.st_ino] = File(facts, bytearray(content), bytearray(content))
        folder.names[path.name] = node
    folder.safe = dict(folder.names)
    return folder
