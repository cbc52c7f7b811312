"""Count the features of the maps in a folder (notes, icons, links and so on) in the raw files.

    python scripts/count_features.py FOLDER [--json FILE] [--where]

The readers are judged by these counts, so this shares no code with them. ``feature_counts`` defines
what is counted and where each format stores it (``--where`` prints that). Each cell of the table
says how many there are, and in how many files. Files that are not readable maps are not counted.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from feature_counts import FEATURES, FORMATS, format_counts
from feature_counts.raw_files import RawFile

Counts = dict[str, dict[str, int]]
"""The counts of the files of a format, by their paths."""


def count_folder(folder: Path) -> dict[str, Counts]:
    """Return the counts of all files below a folder, by format; refused files have the name ''."""
    found: dict[str, Counts] = defaultdict(dict)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, counts = format_counts(RawFile.at(path))
        found[name][path.relative_to(folder).as_posix()] = counts
    return dict(found)


def table(found: dict[str, Counts]) -> str:
    """Return a Markdown table: a row for each feature, a column for each format."""
    formats = [kind.name for kind in FORMATS if kind.name in found]
    lines = [_row(["feature", *(f"{name} ({len(found[name])})" for name in formats)])]
    lines.append("|---" * (len(formats) + 1) + "|")
    for feature in FEATURES:
        cells = [
            _cell([counts[feature.name] for counts in found[name].values()]) for name in formats
        ]
        lines.append(_row([f"`{feature.name}`", *cells]))
    return "\n".join(lines)


def where() -> str:
    """Return what each feature is, and where each format stores it."""
    lines: list[str] = []
    for feature in FEATURES:
        lines.append(f"\n{feature.name} ({feature.unit}): {feature.meaning}")
        lines += [
            f"  {kind.name}: {rule.where}"
            for kind in FORMATS
            for rule in kind.rules
            if rule.feature == feature.name
        ]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(counts: list[int]) -> str:
    return f"{sum(counts):,}/{sum(map(bool, counts))}" if any(counts) else ""


def main() -> None:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--json", type=Path, help="write the counts of each file here")
    parser.add_argument("--where", action="store_true", help="list where formats store features")
    words = parser.parse_args()
    if words.where:
        print(where())
    if words.folder is None:
        return
    found = count_folder(words.folder)
    print(table(found))
    print(f"\nNot readable as maps: {len(found.get('', {}))}")
    if words.json:
        files = {file: counts for of_format in found.values() for file, counts in of_format.items()}
        words.json.write_text(json.dumps(files, indent=1, sort_keys=True), "utf-8")


if __name__ == "__main__":
    main()
