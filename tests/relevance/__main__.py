"""Print the scores of search: ``python -m tests.relevance [--write] [--worst N]``.

``--write`` saves the scores as the new minimum (``floor.json``): the tests fail if a score falls
below it. Use it when scores have risen, or if you accept lower ones for a good reason. Commit the
file.
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
    """Run the command line."""
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
