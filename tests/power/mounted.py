"""A mounted disk whose power can be cut, served by a process of its own.

A process that uses a disk which it serves itself would block.

A cut interrupts nothing: at a chosen change, the disk writes into a folder what a cut would leave,
with what was acknowledged by then, and all programs go on. So one run of a service gives the
results of many cuts, which tests check later. A program acknowledges something by looking up a file
called ``.mark-SOMETHING`` in the top folder.
"""

import ctypes
import errno
import json
import multiprocessing
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from tests.power.disk import Facts, Fate, Folder, left_behind, loaded
from tests.power.fuse import MOST, ROOT, Protocol

DETACH: Final = 2
_context = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Cuts:
    """Settings of cuts.

    Attributes:
        folder: where what they leave is written: ``7-lost``, ``7-marks.json``.
        apart: changes between two cuts, at most; 1 is a cut before each change.
        count: how many.
        seed: of everything that is left to chance.
        torn: in how many ways, besides everything and nothing, what was not synced may be left.
    """

    folder: str
    apart: int
    count: int
    seed: str
    torn: int = 1


@dataclass(slots=True)
class Fault:
    """Changes that fail.

    Attributes:
        first: the number of the first change that fails, from 0 for the next.
        count: how many fail.
        code: with which error.
        kinds: which kinds of changes are counted and fail; see ``fuse.Step``.
    """

    first: int
    count: int = 1
    code: int = errno.EIO
    kinds: tuple[str, ...] = ("name", "write", "size", "sync", "open")


class _Disk:
    """The disk in its own process."""

    def __init__(self, folder: Path | None) -> None:
        root = loaded(folder) if folder else Folder(Facts(ROOT, 0o700))
        self.protocol = Protocol(root, self._step, self._mark)
        self.lock = threading.Lock()
        self.marks: list[str] = []
        self._cuts: Cuts | None = None
        self._made = self._until_cut = 0
        self._chance = random.Random()
        self._fault: Fault | None = None
        self._failed = 0
        self.changes = 0

    def set(self, what: str, value: Any) -> Any:
        """Run a command of the test."""
        match what:
            case "cuts":
                self._cuts, self._made = value, 0
                if value:
                    self._chance.seed(value.seed)
                    self._until_cut = self._chance.randint(0, value.apart - 1)
            case "made":
                return self._made
            case "fault":
                self._fault, self._failed = value, 0
            case "failed":
                return self._failed
            case "changes":
                return self.changes
            case "syncs":
                self.protocol.syncs = value
            case "free":
                self.protocol.free = value
            case "cut":
                self._cut(Path(value.folder), value, self._made)
        return None

    def _mark(self, name: str) -> None:
        self.marks.append(name)

    def _step(self, kind: str) -> None:
        self.changes += 1
        cuts = self._cuts
        if cuts and kind != "open" and self._made < cuts.count:
            if self._until_cut == 0:
                self._cut(Path(cuts.folder), cuts, self._made)
                self._made += 1
                self._until_cut = self._chance.randint(1, cuts.apart)
            self._until_cut -= 1
        self._fail(kind)

    def _fail(self, kind: str) -> None:
        fault = self._fault
        if fault is None or kind not in fault.kinds:
            return
        fault.first -= 1
        if fault.first < 0 and self._failed < fault.count:
            self._failed += 1
            raise OSError(fault.code, "")

    def _cut(self, folder: Path, cuts: Cuts, number: int) -> None:
        fates = [Fate.LOST, Fate.KEPT, *[Fate.TORN] * cuts.torn]
        for variant, fate in enumerate(fates):
            target = folder / f"{number}-{variant}-{fate.value}"
            left_behind(self.protocol.root, target, fate, self._chance)
        (folder / f"{number}-marks.json").write_text(json.dumps(self.marks), "utf-8")


def _serve(device: int, pipe: Connection, folder: Path | None) -> None:
    disk = _Disk(folder)
    threading.Thread(target=_obey, args=(disk, pipe), daemon=True).start()
    while True:
        try:
            message = os.read(device, MOST + 65_536)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                continue
            return  # it is no longer mounted
        with disk.lock:
            answer = disk.protocol.answer(message)
        if answer is not None:
            with suppress(FileNotFoundError):  # the process that asked was killed
                os.write(device, answer)


def _obey(disk: _Disk, pipe: Connection) -> None:
    with suppress(EOFError, OSError):
        while True:
            what, value = pipe.recv()
            with disk.lock:
                pipe.send(disk.set(what, value))


def _child(pipe: Connection, folder: Path | None, target: Path) -> None:
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40700,user_id=0,group_id=0,allow_other"
    _mount(target, options)
    pipe.send(None)
    _serve(device, pipe, folder)


def _mount(target: Path, options: str) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(b"power", bytes(target), b"fuse", 0, options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(target))


class MountedDisk:
    """A mounted disk, for tests.

    Attributes:
        path: where it is mounted.
    """

    def __init__(self, path: Path, pipe: Connection) -> None:
        self.path = path
        self._pipe = pipe

    def mark(self, name: str) -> None:
        """Note that something has been acknowledged."""
        (self.path / f"{Protocol.MARK}{name}").exists()

    def cut_at(self, cuts: Cuts | None) -> None:
        """Start making cuts, or stop."""
        self._ask("cuts", cuts)

    def cuts_made(self) -> int:
        """Return how many have been made."""
        return int(self._ask("made"))

    def cut_now(self, cuts: Cuts) -> None:
        """Make one more cut at once."""
        self._ask("cut", cuts)

    def fail(self, fault: Fault | None) -> None:
        """Make changes fail from now on, or stop."""
        self._ask("fault", fault)

    def failed(self) -> int:
        """Return how many changes have failed since ``fail``."""
        return int(self._ask("failed"))

    def changes(self) -> int:
        """Return how many changes were tried."""
        return int(self._ask("changes"))

    def lie(self) -> None:
        """Ignore syncs from now on."""
        self._ask("syncs", False)

    def tell_free(self, size: int) -> None:
        """Report ``size`` free bytes."""
        self._ask("free", size)

    def _ask(self, what: str, value: Any = None) -> Any:
        self._pipe.send((what, value))
        return self._pipe.recv()


def can_mount() -> bool:
    """Return whether this user may mount such a disk here."""
    return os.geteuid() == 0 and os.path.exists("/dev/fuse")


@contextmanager
def mounted(path: Path, content: Path | None = None) -> Iterator[MountedDisk]:
    """Give a disk that is mounted at the empty folder ``path``.

    Args:
        path: where.
        content: a folder; what is in it is on the disk, and safe.

    Raises:
        PermissionError: this user may not mount here.
    """
    path.mkdir(exist_ok=True)
    pipe, other = _context.Pipe()
    process = _context.Process(target=_child, args=(other, content, path), daemon=True)
    process.start()
    other.close()
    try:
        try:
            pipe.recv()
        except EOFError as error:
            raise PermissionError(f"{path} cannot be mounted") from error
        yield MountedDisk(path, pipe)
    finally:
        ctypes.CDLL(None).umount2(bytes(path), DETACH)
        process.terminate()
        process.join()
        pipe.close()
