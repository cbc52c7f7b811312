"""The machine and the software of a run, without which its figures mean nothing."""

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import apsw

PACKAGES: Final = ("granian", "uvloop", "numpy", "orjson", "pyroaring", "tantivy", "apsw")

ROOT: Final = Path(__file__).parent.parent


def described() -> dict[str, Any]:
    """Return the machine, the system, the versions and the commit."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "system": _system(),
        "python": sys.version.split()[0],
        "sqlite": apsw.sqlite_lib_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "commit": _first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
    }


def load() -> list[float]:
    """Return the load averages; with load from other programs, figures are doubtful."""
    return [round(value, 2) for value in os.getloadavg()]


def tools() -> dict[str, str]:
    """Return the versions of the load generator and of the server to compare with."""
    return {"wrk": _first_line("wrk", "-v"), "nginx": _first_line("nginx", "-v")}


def _cpu() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _system() -> str:
    found = re.search(r'^PRETTY_NAME="(.*)"$', Path("/etc/os-release").read_text(), re.MULTILINE)
    return found[1] if found else platform.system()


def _first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return f"no {command[0]}"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().partition("\n")[0]
