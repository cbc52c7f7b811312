"""Check that VYM and Minder read our exports: compare what they save with what we exported.

The programs (from Debian) open each export on a virtual screen and save it in their own format. Its
content is compared with what our reader finds in the export (``topic_matches``). This takes four
seconds for each map and format.

    python scripts/program_check.py FOLDER                     100 maps, from each format in turn
    python scripts/program_check.py FOLDER --program vym --count 10 --tell 20
"""

import argparse
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import minder_again
import vym_again
from corpus_exports import Map, chosen
from desktop import Desktop, TooSlow, desktop
from mapshelf.model import Outline
from mapshelf.readers import Limits, read
from topic_matches import THINGS, Order, in_order, matches

_LINE: Final = re.compile(r"(?i)warning|critical|error|unknown|fail")
_DETAILS: Final = re.compile(r"0x[0-9a-f]+|\d+|\"[^\"]*/[^\"]*\"")


class Program(NamedTuple):
    """A program, and how to control it.

    Attributes:
        command: the command that starts it.
        formats: the export formats that it opens.
        save_again: makes it open a map and save it.
        read_again: reads what it saved.
        order: sorts the branches of an export in its order.
    """

    command: str
    formats: tuple[str, ...]
    save_again: Callable[[Desktop, Path], bytes]
    read_again: Callable[[bytes], Outline]
    order: Order


PROGRAMS: Final = {
    "vym": Program(
        "vym", ("mm",), vym_again.save_again, vym_again.read_again, vym_again.as_ordered
    ),
    "minder": Program(
        "com.github.phase1geo.minder",
        ("mm", "xmind", "opml"),
        minder_again.save_again,
        minder_again.read_again,
        in_order,
    ),
}


class Result:
    """The results for the exports of one format in one program."""

    def __init__(self) -> None:
        self.maps = 0
        self.failed: list[str] = []
        self.exported: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.missing: list[str] = []
        self.said: Counter[str] = Counter()

    def cells(self) -> Iterator[str]:
        """Yield the cells of a column."""
        yield f"{self.maps - len(self.failed)} of {self.maps}"
        for thing in THINGS:
            count = self.exported[thing]
            yield f"{self.found[thing]:,} of {count:,}" if count else ""


def check(program: Program, suffix: str, maps: Sequence[Map]) -> Result:
    """Make a program open the exports of maps, and compare."""
    result = Result()
    with tempfile.TemporaryDirectory() as home, desktop(Path(home)) as screen:
        for number, one in enumerate(maps):
            folder = Path(home, f"map-{number}")
            folder.mkdir()
            path = folder / f"map-{number}.{suffix}"
            path.write_bytes(one.export(suffix))
            result.maps += 1
            try:
                _compare(program, screen, path, result)
            except TooSlow as error:
                result.failed.append(f"{one.path}: {error}")
            log = path.with_suffix(".log").read_text(errors="replace")
            lines = {_DETAILS.sub("…", line) for line in log.splitlines() if _LINE.search(line)}
            result.said.update(lines)
            shutil.rmtree(folder)
    return result


def _compare(program: Program, screen: Desktop, path: Path, result: Result) -> None:
    saved = program.read_again(program.save_again(screen, path))
    export = read(path.read_bytes(), Limits(), name=path.name)
    found = matches(export, saved, path.suffix[1:], program.order)
    result.exported += found.exported
    result.found += found.found
    result.missing += (f"{path.stem}: {line}" for line in found.missing)


def main() -> None:
    """Check the programs and print a table."""
    parser = argparse.ArgumentParser(description="Compare what other programs make of our exports")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", choices=PROGRAMS, action="append")
    parser.add_argument("--format", choices=("mm", "xmind", "opml"), action="append")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--tell", type=int, default=0, help="most missing items of a kind to print")
    given = parser.parse_args()
    maps = chosen(given.folder, given.count)
    print(f"{len(maps)} maps:", dict(Counter(one.path.parent.name for one in maps)))
    columns = {}
    for name in given.program or PROGRAMS:
        for suffix in PROGRAMS[name].formats:
            if not given.format or suffix in given.format:
                columns[f"{name}, {suffix}"] = result = check(PROGRAMS[name], suffix, maps)
                _print_details(result, given.tell)
    print(f"| | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    names = ("maps opened", *THINGS)
    for name, *cells in zip(names, *(result.cells() for result in columns.values()), strict=True):
        print(f"| {name} | {' | '.join(cells)} |")


def _print_details(result: Result, most: int) -> None:
    for line in result.failed:
        print("failed:", line)
    for line, count in result.said.most_common(20):
        print(f"message for {count} maps: {line:.160}")
    printed: Counter[str] = Counter()
    for line in result.missing:
        thing = line.split(":")[1]
        printed[thing] += 1
        if printed[thing] <= most:
            print(f"missing: {line}")


if __name__ == "__main__":
    main()
