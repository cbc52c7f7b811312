"""Fuzz readers with atheris: ``python -m tests.fuzz READER SECONDS``, or ``all`` for READER.

atheris is not a dependency of the project, because it has 35 MB and few people need it: see
docs/fuzzing.md for how to install it.
"""

import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from mapshelf.readers import READERS, Reader
from tests.fuzz.targets import check, mutated, reader_named, seeds

SIZE = 1 << 16
"""The most bytes of an input."""


def main() -> None:
    """Run the command line."""
    name, seconds = (*sys.argv[1:], "60")[:2] if len(sys.argv) > 1 else ("all", "60")
    if name == "all":
        sys.exit(fuzz_all(seconds))
    fuzz(reader_named(name), seconds)


def fuzz_all(seconds: str) -> int:
    """Fuzz every reader in its own process; return how many failed."""
    failed = 0
    for reader in READERS:
        command = [sys.executable, "-m", "tests.fuzz", reader.name, seconds]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        done = re.search(r"Done (\d+) runs", result.stderr)
        failed += done is None
        outcome = f"{int(done[1]):,} executions" if done else result.stdout + result.stderr[-4000:]
        print(f"{reader.name}: {outcome}", flush=True)
    return failed


def fuzz(reader: Reader, seconds: str) -> None:
    """Fuzz ``reader``; this ends the process."""
    atheris: Any = importlib.import_module("atheris")
    for module in list(sys.modules.values()):
        if module.__name__.startswith("mapshelf.readers"):
            instrument(atheris, module)

    def mutate(data: bytes, size: int, number: int) -> bytes:
        return mutated(data, size, number, atheris.Mutate)

    with tempfile.TemporaryDirectory() as folder:
        for position, seed in enumerate(seeds(reader)):
            (Path(folder) / str(position)).write_bytes(seed)
        options = (f"-max_total_time={seconds}", f"-max_len={SIZE}", "-timeout=30")
        prefix = f"-artifact_prefix={tempfile.gettempdir()}/mapshelf-fuzz-"
        atheris.Setup(
            [sys.argv[0], *options, prefix, "-rss_limit_mb=1024", folder],
            lambda data: check(reader, data) and None,
            custom_mutator=mutate,
        )
        atheris.Fuzz()


def instrument(atheris: Any, module: ModuleType) -> None:
    """Let atheris trace the branches of ``module`` that an input takes."""
    owners = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for owner in owners:
        for value in vars(owner).values():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                atheris.instrument_func(value)  # changes the function in place


if __name__ == "__main__":
    main()
