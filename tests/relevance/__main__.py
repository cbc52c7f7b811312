"""Prints how good search is: ``python -m tests.relevance [--write] [--worst N]``.

``--write`` makes the scores the new floor (``floor.json``), below which the tests let none fall.
Do so when they have risen, or on purpose when something else is worth more; commit the file.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Final

from tests.relevance.asking import ask_everything, failures_table, judged, summary_table
from tests.relevance.floor import write_floor
from tests.relevance.scoring import summaries

LINES_A_QUERY: Final = 3


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.relevance", description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the scores the new floor")
    parser.add_argument(
        "--worst", type=int, default=30, metavar="N", help="queries to show, the worst first"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, judged(Path(folder)) as asked:
        answers = ask_everything(asked)
    lines = failures_table(answers).splitlines()
    print("\n".join(lines[: LINES_A_QUERY * arguments.worst]))
    print(f"\n{len(lines) // LINES_A_QUERY} of {len(answers)} leave something to wish for\n")
    by_kind = summaries(answers)
    print(summary_table(by_kind))
    if arguments.write:
        write_floor(by_kind)


if __name__ == "__main__":
    main()
