"""Makes the n-th disk operation of each command fail, for each n, and checks the result.

    python scripts/disk_faults.py [--step N] [--only NAME]

The disk is an in-memory one (``tests/power``). The operations are: creating or renaming a file,
writing, resizing, syncing, and opening a file for writing. One of them fails, or all from one on,
with EIO, ENOSPC and EROFS. Needs root and ``/dev/fuse``. The exit code is 1 if a command printed
anything but one line, reported success without having done its work, damaged something, or failed
when the disk worked again.
"""

import argparse
import errno
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.power.failing import CODES, FOR_GOOD, Tried, fail_each, trials
from tests.power.mounted import Fault, can_mount


def main() -> int:
    """Run the trials that the options select."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--step", type=int, default=1, help="try only every n-th operation")
    parser.add_argument("--only", help="one command, by its name")
    given = parser.parse_args()
    if not can_mount():
        print("this needs root and /dev/fuse", file=sys.stderr)
        return 1
    faults = 0
    with tempfile.TemporaryDirectory(prefix="mapshelf-faults-") as name:
        for command, trial in trials(Path(name)).items():
            if given.only not in (None, command):
                continue
            for code in CODES:
                for count, what in ((1, "one fails"), (FOR_GOOD, "all fail from one on")):
                    tried, began = Tried(), time.monotonic()
                    fail_each(Path(name, "t"), trial, Fault(0, count, code), tried, given.step)
                    print(
                        f"{command}, {errno.errorcode[code]}, {what}: {tried.runs} runs,"
                        f" {tried.refused} refused, {len(tried.faults)} faults,"
                        f" {time.monotonic() - began:.0f} s",
                        flush=True,
                    )
                    for fault in tried.faults[:5]:
                        print(f"  {fault}", flush=True)
                    faults += len(tried.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
