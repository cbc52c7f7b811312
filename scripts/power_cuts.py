"""Cuts the power of Mapshelf's disk, and checks whether anything acknowledged is lost.

    python scripts/power_cuts.py service    while users upload and vote, files are imported, and
                                            backups and snapshots are made; --cuts times
    python scripts/power_cuts.py commands   before each write operation of backup, restore, and the
                                            first command on an empty disk
    python scripts/power_cuts.py control    the same service where something must be lost: on a disk
                                            that ignores syncs, or with synchronous = NORMAL

Each cut is checked as several disks: without any unsynced data (``lost``), with all of it
(``kept``), or with any part of it (``torn``). Needs root and ``/dev/fuse``. The exit code is 1 if
something acknowledged was lost, or if a control lost nothing. ``tests/power`` has the disk.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.power.judge import Verdicts
from tests.power.mounted import Cuts, can_mount
from tests.power.rounds import cut_command, cut_service

PER_ROUND: Final = 40
"""Cuts in one run of the service; each takes more space."""

WEAKER: Final = """
import apsw

class Weaker(apsw.Connection):
    def execute(self, statements, *arguments, **named):
        statements = statements.replace("synchronous = FULL", "synchronous = NORMAL")
        return super().execute(statements, *arguments, **named)

apsw.Connection = Weaker
"""
"""Python runs this before each process of the control: SQLite then syncs its log less often."""

COMMANDS: Final = (("user", "add", "ann"), ("backup",), ("restore",))


def main() -> int:
    """Cut the power as the options say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("service", "commands", "control"))
    parser.add_argument("--cuts", type=int, default=200, help="number of cuts of the service")
    parser.add_argument("--apart", type=int, default=150, help="most changes between two cuts")
    parser.add_argument("--torn", type=int, default=1, help="torn disks per cut")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args()
    if not can_mount():
        print("this needs root and /dev/fuse", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="mapshelf-power-", dir=_memory()) as name:
        place = Path(name)
        return {"service": _service, "commands": _commands, "control": _control}[given.what](
            place, given
        )


def _memory() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - the fastest disk


def _service(place: Path, given: argparse.Namespace) -> int:
    verdicts, began = Verdicts(), time.monotonic()
    for start in range(0, given.cuts, PER_ROUND):
        count = min(PER_ROUND, given.cuts - start)
        cuts = Cuts("", given.apart, count, f"{given.seed} {start}", given.torn)
        with _fresh(place) as folder:
            cut_service(folder, verdicts, cuts, starts=3)
        _print_verdicts(f"{start + count} cuts", verdicts, began)
    return 1 if verdicts.faults else 0


def _commands(place: Path, given: argparse.Namespace) -> int:
    failed = 0
    for words in COMMANDS:
        verdicts, began = Verdicts(), time.monotonic()
        with _fresh(place) as folder:
            cut_command(folder / "command", verdicts, words)
        _print_verdicts(" ".join(words), verdicts, began)
        failed |= bool(verdicts.faults)
    return failed


def _control(place: Path, given: argparse.Namespace) -> int:
    weaker = place / "weaker"
    weaker.mkdir()
    (weaker / "sitecustomize.py").write_text(WEAKER, "utf-8")
    kept = 0
    for lie in (True, False):
        if not lie:
            os.environ["PYTHONPATH"] = str(weaker)
        verdicts, began = Verdicts(), time.monotonic()
        cuts = Cuts("", given.apart, min(given.cuts, PER_ROUND), given.seed, given.torn)
        with _fresh(place) as folder:
            cut_service(folder, verdicts, cuts, lie=lie)
        os.environ.pop("PYTHONPATH", None)
        what = "a disk that ignores syncs" if lie else "synchronous = NORMAL"
        _print_verdicts(what, verdicts, began)
        kept |= not verdicts.faults
    return kept


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    """Yield an empty folder."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def _print_verdicts(what: str, verdicts: Verdicts, began: float) -> None:
    judged = ", ".join(f"{count} {fate}" for fate, count in verdicts.judged.items())
    print(
        f"{what}: {sum(verdicts.judged.values())} disks ({judged}), {verdicts.promises} promises;"
        f" {verdicts.served} snapshots served, {verdicts.rebuilt} rebuilt;"
        f" {len(verdicts.faults)} faults; {time.monotonic() - began:.0f} s",
        flush=True,
    )
    for fault in verdicts.faults[:5]:
        print(f"  {fault}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
