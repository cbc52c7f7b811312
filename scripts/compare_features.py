"""Compare what the readers find in map files with an independent count.

    python scripts/compare_features.py FOLDER [--missing] [--write]

Prints, for each feature and format, what share of the things that ``count_features`` counts in the
raw files the readers find. Files are compared one by one, so that too much in one file does not
make up for too little in another. ``--missing`` lists the files in which something is lost, or in
which the readers find more. ``--write`` puts the table into ``docs/formats.md``.
"""

import argparse
import base64
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from feature_counts import FEATURES, FORMATS, Feature, format_counts
from feature_counts.raw_files import RawFile
from mapshelf.errors import UnreadableFile
from mapshelf.model import Outline, Topic, TopicKind
from mapshelf.readers import Limits, read_content
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids

DOCS: Final = Path(__file__).resolve().parents[1] / "docs" / "formats.md"
BLOCK: Final = re.compile(r"(<!-- features -->\n).*?(<!-- /features -->)", re.DOTALL)

LABELS: Final = {"floating": "floating topics", "folded": "folded topics", "task": "tasks"}
"""Rows of the table whose name is not that of the feature."""

Pairs = dict[str, tuple[int, int]]
"""Counts in a file, and how many of them the reader found, by feature."""


def found_in(outline: Outline) -> dict[str, int]:
    """Return how much of each feature an outline has, in the units of ``feature_counts``."""
    topics = [topic for _, topic in outline.topics()]
    sheets = outline.sheets
    arrows = [arrow for sheet in sheets for arrow in sheet.relationships]
    return {
        "topics": len(topics),
        "notes": sum(bool(topic.note) for topic in topics),
        "markers": sum(len(topic.markers) for topic in topics),
        "tags": sum(len(topic.tags) for topic in topics),
        "links": sum(len(topic.links) for topic in topics),
        "images": sum(_shown(topic) for topic in topics),
        "attachments": sum(len(topic.attachments) for topic in topics),
        "relationships": sum(arrow.start != arrow.end for arrow in arrows),
        "relationship_labels": sum(bool(arrow.text) for arrow in arrows),
        "boundaries": sum(len(sheet.boundaries) for sheet in sheets),
        "summaries": sum(len(sheet.summaries) for sheet in sheets),
        "floating": sum(len(sheet.floating) for sheet in sheets),
        "callouts": sum(topic.kind is TopicKind.CALLOUT for topic in topics),
        "task": sum(topic.task is not None for topic in topics),
        "attributes": sum(len(topic.attributes) for topic in topics),
        "formulas": sum(bool(topic.formula) for topic in topics),
        "folded": sum(topic.folded and bool(topic.children) for topic in topics),
        "colours": sum(_coloured(topic) for topic in topics),
        "shapes": sum(topic.style is not None and bool(topic.style.shape) for topic in topics),
        "sheets": len(sheets),
    }


def _shown(topic: Topic) -> int:
    return sum(bool(image.digest) for image in topic.images)


def _coloured(topic: Topic) -> bool:
    style = topic.style
    return style is not None and bool(style.text or style.fill or style.line or style.border)


def outline_at(path: Path) -> Outline | None:
    """Return the outline of a file as an import keeps it, ``None`` if it is refused."""

    def beside(name: str) -> bytes | None:
        # Pictures beside maps are mostly not in the corpus: count those that the reader asks for.
        return _DOT if name and not name.startswith(("/", "file:")) else None

    try:
        outline = read_content(Content(path.read_bytes(), Limits(), path.name, beside))
    except UnreadableFile:
        return None
    assign_topic_ids(outline)
    return sound_sheets(outline)


_DOT: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
"""A picture of one pixel."""


def compare(folder: Path) -> dict[str, dict[Path, Pairs]]:
    """Return the counts and the findings for each format and file."""
    compared: dict[str, dict[Path, Pairs]] = defaultdict(dict)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, wanted = format_counts(RawFile.at(path))
        if name:
            outline = outline_at(path)
            found = found_in(outline) if outline else dict.fromkeys(wanted, 0)
            compared[name][path] = {key: (wanted[key], found[key]) for key in wanted}
    return compared


def table(compared: dict[str, dict[Path, Pairs]]) -> str:
    """Return a Markdown table: the count of each feature, and the share found unless it is all."""
    names = [kind.name for kind in FORMATS if kind.name in compared]
    lines = [_row(["", *(f"{name} ({len(compared[name])})" for name in names)])]
    lines.append("|---" * (len(names) + 1) + "|")
    for feature in FEATURES:
        cells = [
            _cell([pairs[feature.name] for pairs in compared[name].values()]) for name in names
        ]
        lines.append(_row([_label(feature), *cells]))
    return "\n".join(lines)


def _label(feature: Feature) -> str:
    return LABELS.get(feature.name, feature.name.replace("_", " "))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(pairs: list[tuple[int, int]]) -> str:
    wanted = sum(pair[0] for pair in pairs)
    if not wanted:
        return ""
    found = sum(min(pair) for pair in pairs)
    # Rounded down, so that only a complete result shows 100 %.
    return f"{wanted:,}" if found == wanted else f"{wanted:,} ({1000 * found // wanted / 10:g} %)"


REASONS: Final[dict[str, str]] = {}
"""Why the readers find less than is counted."""

_WHOLE: Final = 99
"""Per cent; less needs a reason."""


def reasons(compared: dict[str, dict[Path, Pairs]]) -> str:
    """Return a Markdown list: the reasons where much less is found than counted."""
    lines = []
    for name, files in compared.items():
        for feature in FEATURES:
            pairs = [counted[feature.name] for counted in files.values()]
            wanted = sum(pair[0] for pair in pairs)
            if 100 * sum(min(pair) for pair in pairs) < _WHOLE * wanted:
                words = _label(feature)
                reason = REASONS.get(f"{name}: {words}", "Not known.")
                lines.append(f"* {name}, {words}: {reason}")
    return "\n".join(["", "Less than 99 % of these are found:", "", *lines]) if lines else ""


def missing(compared: dict[str, dict[Path, Pairs]]) -> Iterator[str]:
    """Yield a line for each file and feature in which the counts differ."""
    ruled = {(kind.name, rule.feature) for kind in FORMATS for rule in kind.rules}
    for name, files in compared.items():
        for path, pairs in files.items():
            for feature, (wanted, found) in pairs.items():
                if wanted != found and (name, feature) in ruled:
                    yield f"{name}: {path}: {feature} {wanted}, found {found}"


def main() -> None:
    """Compare, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true", help="list the files that differ")
    parser.add_argument("--write", action="store_true", help="put the table into docs/formats.md")
    words = parser.parse_args()
    compared = compare(words.folder)
    found = f"{table(compared)}\n{reasons(compared)}"
    print(found)
    if words.missing:
        print(*missing(compared), sep="\n")
    if words.write:
        text = DOCS.read_text("utf-8")
        DOCS.write_text(BLOCK.sub(lambda block: f"{block[1]}{found}\n{block[2]}", text), "utf-8")


if __name__ == "__main__":
    main()
