"""Kills Mapshelf at random moments, and checks whether anything acknowledged is lost.

    python scripts/kills.py [--kills 1000] [--seed 1] [--at DIR]

Users upload and vote, files are imported, backups and snapshots are made. Meanwhile processes of
the service are killed with SIGKILL, one at a time: workers, the builder, and the child processes
that draw and read files. Every tenth kill hits the whole service. What is left is
then compared with everything acknowledged, and the service is restarted on it. The exit code is 1
if something was lost, duplicated or damaged, if a response was wrong, or if the service did not
restart.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.cli.process import Mapshelf, Service
from tests.power.judge import Promises, judge_backups, judge_store
from tests.power.work import Begun, busy_service, prepare
from tests.service.processes import children, descendants, runs

PER_START: Final = 10
"""Kills per start of the service; the last one kills everything."""

CALM: Final = 2.0
"""Maximum seconds between two kills: the killed process has restarted by then, or is about to."""


class Notes:
    """Records what has been acknowledged, for a folder on an ordinary disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.marks: list[str] = []

    def mark(self, name: str) -> None:
        """Note that something has been acknowledged."""
        self.marks.append(name)


def main() -> int:
    """Kill as often as the options say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--at", help="folder for the catalogue; default: a temporary one")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - the same each time
    killed, begun = Counter[str](), Begun()
    began, again = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="mapshelf-kills-", dir=given.at) as name:
        notes = Notes(Path(name, "disk"))
        tokens = prepare(notes.path)
        while sum(killed.values()) < given.kills:
            left = min(PER_START, given.kills - sum(killed.values()))
            with busy_service(notes, Path(name, "beside"), tokens, begun) as (service, work):
                for _ in range(left - 1):
                    time.sleep(chance.uniform(0, CALM))
                    if what := kill_one(service, chance):
                        killed[what] += 1
                time.sleep(chance.uniform(0, CALM))
            killed["everything"] += 1
            again += work.refused
            promises = Promises.of(notes.marks)
            judge(notes.path, promises)
            shutil.rmtree(Path(name, "beside"), ignore_errors=True)
            print(
                f"{sum(killed.values())} kills ({listed(killed)}):"
                f" {promises.count()} acknowledged changes are intact, {again} requests repeated,"
                f" {time.monotonic() - began:.0f} s",
                flush=True,
            )
    return 0


def kill_one(service: Service, chance: random.Random) -> str:
    """Kill one process of a running service; return its kind, empty if there was none."""
    first = children(service.process.pid)
    family = [process for process in descendants(service.process.pid) if runs(process)]
    if not family:
        return ""
    chosen = chance.choice(family)
    with suppress(ProcessLookupError):
        os.kill(chosen, signal.SIGKILL)
    return "worker, builder or reparsing" if chosen in first else "their children"


def judge(disk: Path, promises: Promises) -> None:
    """Compare what is left with what was acknowledged; delete the backups to save space."""
    with closing(Mapshelf(disk / "data").store()) as store:
        assert not store.check()
        judge_store(store, promises)
    judge_backups(disk / "backups", promises)


def listed(killed: Counter[str]) -> str:
    """Return counts as text."""
    return ", ".join(f"{count} {what}" for what, count in killed.most_common())


if __name__ == "__main__":
    sys.exit(main())
