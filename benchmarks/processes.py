"""Programs to measure against each other: started on one core, watched, ended."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.machine import ROOT

SERVER_CORE: Final = 0
CLIENT_CORE: Final = 1
NEEDED: Final = {"wrk": "wrk", "nginx": "nginx-light", "taskset": "util-linux"}
"""Programs, and the Debian package each comes in."""

_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Missing(Exception):
    """A program is not there and cannot be installed; the message says what to do."""


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def install_needed() -> None:
    """Install the programs that are missing, where this is ours to do.

    Raises:
        Missing: it is not, or it failed.
    """
    packages = [package for name, package in NEEDED.items() if shutil.which(name) is None]
    if not packages:
        return
    wanted = " ".join(packages)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Missing(f"install {wanted} first (on Debian: sudo apt-get install {wanted})")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", *packages]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")


def require_group(group: str) -> None:
    """Make sure that the packages of a dependency group are installed.

    Raises:
        Missing: one of them is not.
    """
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    for requirement in groups[group]:
        name = re.split(r"[^\w-]", requirement, maxsplit=1)[0]
        try:
            version(name)
        except PackageNotFoundError:
            raise Missing(
                f"{name} is not installed: run `make bench`, or `uv sync --group {group}` first"
            ) from None


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    core: int | None = SERVER_CORE,
    *,
    user: str | None = None,
    end: signal.Signals = signal.SIGTERM,
) -> Iterator[int]:
    """Run a program on one core while in the context; give its process id.

    Args:
        command: what to run.
        log: where its output goes.
        core: the core, ``None`` for all of them.
        user: who shall run it, ``None`` for whoever we are; then it starts in the root folder.
        end: the signal that ends it.
    """
    pinned = ["taskset", "-c", str(core), *command] if core is not None else list(command)
    with log.open("wb") as output:
        process = subprocess.Popen(
            pinned,
            cwd="/" if user else ROOT,
            user=user,
            stdout=output,
            stderr=output,
            # No session of its own: Linux shares the processor among sessions, and `nice` would
            # mean nothing between this program and those that measure and attack it.
            process_group=0,
        )
        try:
            yield process.pid
        finally:
            process.send_signal(end)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules."""
    return [sys.executable, "-m", module, *arguments]


def get(port: int, path: str, token: str) -> Answer:
    """Ask once, over a connection of its own, for exactly the headers that were sent."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request.encode())
        while chunk := connection.recv(1 << 16):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
    return Answer(int(first.split()[1]) if first else 0, headers, body)


def wait_until_ready(port: int, path: str, token: str, seconds: float = 60) -> None:
    """Wait for the first good answer.

    Raises:
        TimeoutError: none came.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if get(port, path, token).status == 200:
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise TimeoutError(f"no good answer for {path} within {seconds} seconds")


def free_port() -> int:
    """Return a port that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """Return the processes that a process started and that still run."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in found]


def tree(pid: int) -> list[int]:
    """Return a process and all that come from it."""
    found = [pid]
    for parent in found:
        found += children(parent)
    return found


def cpu_seconds(pid: int) -> float:
    """Return what a process and all that come from it have used of a core."""
    total = 0
    for process in tree(pid):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def memory(pid: int) -> dict[str, Any]:
    """Return the memory of a process in megabytes, by what Linux says of its pages.

    ``own`` is what it alone needs (written by it, never shared). ``uss`` adds pages of mapped
    files that no other process maps just now: with one worker, all it has touched.
    """
    kilobytes = _smaps(pid)
    own, clean = kilobytes["Private_Dirty"], kilobytes["Private_Clean"]
    return {
        "own_mb": round(own * 1024 / 1e6, 1),
        "uss_mb": round((own + clean) * 1024 / 1e6, 1),
        "pss_mb": round(kilobytes["Pss"] * 1024 / 1e6, 1),
        "rss_mb": round(kilobytes["Rss"] * 1024 / 1e6, 1),
    }


def memory_of_all(pids: Sequence[int]) -> dict[str, Any]:
    """Return the memory of several processes together, in megabytes; shared pages count once.

    ``kept_mb`` is what they have written, shared buffers included. ``mapped_mb`` are pages of
    files that can be dropped at any time and read again.
    """
    total: Counter[str] = Counter()
    for pid in pids:
        with suppress(OSError):
            total.update(_smaps(pid))
    kept = total["Pss_Anon"] + total["Pss_Shmem"]
    return {
        "processes": len(pids),
        "kept_mb": round(kept * 1024 / 1e6, 1),
        "mapped_mb": round(total["Pss_File"] * 1024 / 1e6, 1),
        "pss_mb": round(total["Pss"] * 1024 / 1e6, 1),
        "rss_mb": round(total["Rss"] * 1024 / 1e6, 1),
    }


def _smaps(pid: int) -> dict[str, int]:
    """Return what Linux says of the pages of a process, in kilobytes."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
