"""Start programs on one core, measure their processor time and memory, and end them."""

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
"""Programs that the benchmark needs, and their Debian packages."""

_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Missing(Exception):
    """A program is missing and cannot be installed; the message says what to do."""


class Answer(NamedTuple):
    """A response of a server."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def install_needed() -> None:
    """Install missing programs if this runs as root and the system has ``apt-get``.

    Raises:
        Missing: programs are missing and could not be installed.
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
    """Check that the packages of a dependency group are installed.

    Raises:
        Missing: one of them is not installed.
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
    """Run a program on one core inside the context; yield its process id.

    Args:
        command: the command to run.
        log: the file for its output.
        core: the core, ``None`` for all cores.
        user: another user to run it as, in the root folder; ``None`` for the current user.
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
            # No new session: Linux shares the processor among sessions, so `nice` would have no
            # effect between this program and those that measure and attack it.
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
    """Return the command that runs a Python module."""
    return [sys.executable, "-m", module, *arguments]


def get(port: int, path: str, token: str) -> Answer:
    """Send one request over a new connection; return the response with its headers unchanged."""
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
    """Wait for the first response with status 200.

    Raises:
        TimeoutError: there was none in time.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if get(port, path, token).status == 200:
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise TimeoutError(f"no successful response for {path} within {seconds} seconds")


def free_port() -> int:
    """Return a port that no process listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """Return the running child processes of a process."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in found]


def name_of(pid: int) -> str:
    """Return the name of a process, empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text("ascii").rstrip("\n")
    except OSError:
        return ""


def tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for parent in found:
        found += children(parent)
    return found


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process and all its descendants."""
    total = 0
    for process in tree(pid):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def precise_cpu_seconds(pid: int) -> float:
    """Return the same as ``cpu_seconds``, by the scheduler's count of nanoseconds.

    Ticks of the clock miss a process that works for microseconds at a time.
    """
    total = 0
    for process in tree(pid):
        for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread has ended
                total += int(thread.read_text().split()[0])
    return total / 1e9


def memory(pid: int) -> dict[str, Any]:
    """Return the memory of a process in megabytes, as Linux counts its pages.

    ``own_mb`` is what the process has written to and does not share. ``uss_mb`` adds pages of
    mapped files that no other process maps at the moment: with one worker, all it has touched.
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
    """Return the total memory of several processes in megabytes; shared pages count once.

    ``kept_mb`` is what they have written, including shared buffers. ``mapped_mb`` are pages of
    files, which the system can drop at any time and read again.
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
    """Return the memory of a process by kind of page, in kilobytes."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
