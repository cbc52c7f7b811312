"""The scripts for long runs work, and fail if they find a fault.

They repeat for hours what tests try briefly. ``tests/power`` has short forms of ``power_cuts.py``
and ``disk_faults.py``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

SCRIPTS: Final = Path(__file__).parents[1] / "scripts"

LEAKING: Final = """
import os, sys, threading, time

def leak():
    while True:
        os.open(os.devnull, os.O_RDONLY)
        time.sleep(0.005)

if "serve" in sys.orig_argv:
    threading.Thread(target=leak, daemon=True).start()
"""
"""Python runs this before each process of ours: that of ``mapshelf serve`` never closes a file."""

FAILING: Final = """
import runpy, sys
from mapshelf.snapshot.read.snapshot import Snapshot

def fail(*_arguments, **_named):
    raise RuntimeError("broken for a test")

Snapshot.page = Snapshot.page_quickly = fail
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script in whose process no list can be made."""


def run(*words: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a Python command until it ends."""
    environment = {**os.environ, **variables}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def long_run(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run ``long_run.py`` on a small catalogue for some seconds."""
    output = folder / "figures.json"
    small = ("--maps", "60", "--rate", "10", "--minutes", "0.05", "--hurry", "15")
    places = ("--at", folder, "--output", output)
    return run(SCRIPTS / "long_run.py", *small, *places, *words, **variables)


def test_a_long_run_without_faults(tmp_path: Path) -> None:
    done = long_run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert figures["faults"] == []
    assert figures["answers"] == {"200": 32}
    assert figures["samples"]
    assert figures["samples"][0]["descriptors"] > 20


def test_a_long_run_tells_of_descriptors_that_are_never_closed(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(LEAKING, "utf-8")
    done = long_run(tmp_path, "--noted-every", "0.6", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "descriptors grew from" in done.stderr


def fuzz(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Send a few generated requests. Their time depends on the load of the machine."""
    few = ("--requests", "200", "--checked", "20", "--slow", "100", "--without-drawings")
    return run(*words, SCRIPTS / "fuzz_requests.py", *few)


def test_generated_requests_without_faults() -> None:
    done = fuzz()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("200 requests, "), done.stdout
    assert " compared with the document, 0 faults, 0 over 100 s twice," in done.stdout
    assert "200: " in done.stdout


def test_generated_requests_find_an_operation_that_fails() -> None:
    done = fuzz("-c", FAILING)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "500: " in done.stdout.splitlines()[-1]
    assert " 0 faults" not in done.stdout
