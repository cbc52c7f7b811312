"""Readers that misbehave in every way a child process must survive.

They run in real child processes: a mock would prove nothing about how the operating system treats
a process that exceeds its limits.
"""

import os
import signal
import time

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers import READERS, Reader
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB


def spin(_: Content) -> Outline:
    """Use processor time forever."""
    while True:
        pass


def sleep(_: Content) -> Outline:
    """Sleep, so that time passes without using the processor."""
    time.sleep(600)
    raise AssertionError("nobody ended this process")


def swallow(_: Content) -> Outline:
    """Allocate more memory than the limit; the pages are never touched."""
    hoard = bytearray(4096 * MIB)
    return Outline(sheets_of((Topic(f"{len(hoard)} bytes"),)))


def segfault(_: Content) -> Outline:
    """Crash as a parser written in C would."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return sleep(_)


def killed(_: Content) -> Outline:
    """Die as a process that is killed because the machine runs out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return sleep(_)


def leave(_: Content) -> Outline:
    """Exit without a message."""
    os._exit(7)


def mistake(_: Content) -> Outline:
    """Fail as a reader with a bug would."""
    raise KeyError("a bug\nof two lines")


def write(_: Content) -> Outline:
    """Try to write a file, and return what happened."""
    path = f"/tmp/mapshelf-{os.getpid()}"
    try:
        with open(path, "w") as file:
            file.write("escaped")
            file.flush()
    except OSError as error:
        return Outline(sheets_of((Topic(f"refused: {type(error).__name__}"),)))
    finally:
        os.unlink(path)
    return Outline(sheets_of((Topic("written"),)))


def open_many(_: Content) -> Outline:
    """Open descriptors until that fails, and return their number."""
    opened: list[int] = []
    try:
        while len(opened) < 1_000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return Outline(sheets_of((Topic(f"{len(opened)}"),)))
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return Outline(sheets_of((Topic("any number"),)))


def work(_: Content) -> Outline:
    """Use 0.2 seconds of processor time, and return."""
    start = time.process_time()
    while time.process_time() - start < 0.2:
        pass
    return Outline(sheets_of((Topic("worked"),)))


BEHAVIOURS = (work, spin, sleep, swallow, segfault, killed, leave, mistake, write, open_many)


def hostile_readers() -> tuple[Reader, ...]:
    """Return the table of readers, with a reader for files that name a function above first."""

    def sniff(content: Content) -> bool:
        return content.data.startswith(b"!")

    def misbehave(content: Content) -> Outline:
        wanted = content.data[1:].decode()
        return next(act for act in BEHAVIOURS if act.__name__ == wanted)(content)

    return (Reader("hostile", (), sniff, misbehave), *READERS)
