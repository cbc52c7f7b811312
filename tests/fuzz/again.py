"""Run a fuzz target again with a file: ``python -m tests.fuzz.again READER FILE``."""

import sys
from pathlib import Path

from tests.fuzz.targets import check, reader_named

if __name__ == "__main__":
    name, path = sys.argv[1:]
    was_read = check(reader_named(name), Path(path).read_bytes())
    print("read" if was_read else "refused")
