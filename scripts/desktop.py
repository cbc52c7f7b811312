"""A virtual screen and session for programs with windows, controlled by key presses or D-Bus.

Needs Xvfb, xdotool, D-Bus and gdbus (Debian: ``xvfb xdotool dbus libglib2.0-bin``).
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

Found = TypeVar("Found")

_NAP: Final = 0.1


class TooSlow(Exception):
    """The awaited event did not happen in time."""


class Desktop:
    """A running screen with a session bus."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Control the programs that run with ``environment``."""
        self.environment = dict(environment)

    def start(self, command: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
        """Start a program with its output in ``log``, and all its other files next to that."""
        with log.open("wb") as output:
            return subprocess.Popen(
                command,
                cwd=log.parent,
                env={**self.environment, "HOME": str(log.parent)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self, *command: str) -> str:
        """Return the output of a short command; nothing if it fails."""
        done = subprocess.run(
            command, env=self.environment, check=False, capture_output=True, text=True, timeout=30
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def windows(self, title: str) -> list[str]:
        """Return the visible windows whose titles contain ``title``."""
        return self.said("xdotool", "search", "--onlyvisible", "--name", title).split()

    def press(self, window: str, *keys: str) -> None:
        """Press keys in a window."""
        self.said("xdotool", "windowfocus", "--sync", window)
        self.said("xdotool", "key", "--window", window, *keys)

    def type(self, window: str, text: str) -> None:
        """Replace the text of the focused entry, and press Return."""
        self.said("xdotool", "windowfocus", "--sync", window)
        self.said("xdotool", "key", "ctrl+a")
        self.said("xdotool", "type", "--delay", "4", text)
        self.said("xdotool", "key", "Return")


def wait_for(look: Callable[[], Found], seconds: float) -> Found:
    """Call ``look`` until it finds something, and return that.

    Raises:
        TooSlow: it found nothing within ``seconds``.
    """
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise TooSlow
        time.sleep(_NAP)
    return found


def end(program: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> None:
    """End a program."""
    program.terminate()
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


@contextmanager
def desktop(folder: Path) -> Iterator[Desktop]:
    """Yield a desktop that keeps its sockets in ``folder``."""
    reading, writing = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1200x24", "-noreset"],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert bus.stdout is not None
    try:
        with os.fdopen(reading) as answer:
            display = answer.readline().strip()
        folder.chmod(0o700)
        yield Desktop(
            {
                "PATH": os.environ["PATH"],
                "LANG": "C.UTF-8",
                "DISPLAY": f":{display}",
                "DBUS_SESSION_BUS_ADDRESS": bus.stdout.readline().strip(),
                "XDG_RUNTIME_DIR": str(folder),
                "GDK_BACKEND": "x11",
                "NO_AT_BRIDGE": "1",
            }
        )
    finally:
        end(bus)
        bus.stdout.close()
        end(screen)
