"""Check that Freeplane reads our exports: compare what it saves with what we exported.

Freeplane 1.7 (Debian's package) opens each export, without a window, and saves it. Our reader reads
the export and what Freeplane saved; topics, markers, arrows and the like are compared one by one.

    python scripts/freeplane_check.py MAP...
"""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from corpus_exports import read_map
from mapshelf.model import Outline, Sheet, Topic
from mapshelf.readers import Limits, read

FREEPLANE: Final = Path("/usr/share/freeplane")
_CORE: Final = FREEPLANE / "core/org.freeplane.core"
_PROGRAM: Final = Path(__file__).parent / "freeplane/SaveAgain.java"
_PARTS: Final = (
    *("text", "id", "note", "note_html", "text_html", "links", "kind", "markers", "tags", "task"),
    *("attributes", "formula", "images", "style", "folded", "position"),
)


class Saved(NamedTuple):
    """How Freeplane saved a map, and whether it would show a warning about it."""

    data: bytes
    warns: bool


def save_again(exports: Sequence[bytes]) -> list[Saved]:
    """Return maps as Freeplane saves them.

    Raises:
        subprocess.CalledProcessError: it could not open one of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        pairs = [
            (Path(folder, f"{number}.mm"), Path(folder, f"{number}-saved.mm"))
            for number in range(len(exports))
        ]
        for (path, _), data in zip(pairs, exports, strict=True):
            path.write_bytes(data)
        command = [
            *("java", "-Djava.awt.headless=true", f"-Dorg.freeplane.basedirectory={FREEPLANE}"),
            *(f"-Dorg.freeplane.globalresourcedir={FREEPLANE}/resources",),
            *(f"-Dorg.freeplane.userfpdir={folder}/user", "-cp", _class_path(), str(_PROGRAM)),
            *(str(path) for pair in pairs for path in pair),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("SAVED ")]
        return [
            Saved(saved.read_bytes(), line.endswith("true"))
            for (_, saved), line in zip(pairs, lines, strict=True)
        ]


def _class_path() -> str:
    """Return the libraries in the manifest of Freeplane's core, and all others that it includes."""
    manifest = (_CORE / "META-INF/MANIFEST.MF").read_text().replace("\n ", "")
    (line,) = (line for line in manifest.splitlines() if line.startswith("Bundle-ClassPath:"))
    named = (_CORE / name for name in line.partition(":")[2].strip().split(",") if name != ".")
    return ":".join(str(path.resolve()) for path in (*named, *FREEPLANE.rglob("*.jar")))


def differences(export: Outline, saved: Outline) -> Iterator[tuple[str, object, object]]:
    """Yield the differences: a description, and both values."""
    ours = {topic.id: topic for topic in _topics(export)}
    theirs = {topic.id: topic for topic in _topics(saved)}
    if list(ours) != list(theirs):
        yield "topics", len(ours), len(theirs)
    for name in ours.keys() & theirs.keys():
        for part in _PARTS:
            mine, other = getattr(ours[name], part), getattr(theirs[name], part)
            if mine != other:
                yield part, mine, other
    yield from _beside(export, saved)


def _beside(export: Outline, saved: Outline) -> Iterator[tuple[str, object, object]]:
    """Yield the differences in everything but topics."""
    for mine, other in zip(export.sheets, saved.sheets, strict=True):
        # Freeplane saves things without a colour as grey or black.
        for what, left, right in (
            ("relationships", mine.relationships, other.relationships),
            ("boundaries", mine.boundaries, other.boundaries),
        ):
            if _uncoloured(left) != _uncoloured(right):
                yield what, left, right
        braces, others = _braces(mine), _braces(other)
        if braces != others:
            yield "summaries", braces, others
        if mine.background != other.background:
            yield "background", mine.background, other.background


def _topics(outline: Outline) -> Iterator[Topic]:
    for _, topic in outline.topics():
        yield replace(topic, children=[])


def _braces(sheet: Sheet) -> list[tuple[tuple[str, ...], str]]:
    return [(topics, summary.id) for topics, summary in sheet.summaries]


def _uncoloured(found: Sequence[Any]) -> list[Any]:
    return sorted(each._replace(colour="") for each in found)


def _counts(outline: Outline) -> Counter[str]:
    counts: Counter[str] = Counter(topics=outline.topic_count)
    for _, topic in outline.topics():
        for part in _PARTS:
            counts[part] += bool(getattr(topic, part))
    for sheet in outline.sheets:
        counts["relationships"] += len(sheet.relationships)
        counts["boundaries"] += len(sheet.boundaries)
        counts["summaries"] += len(sheet.summaries)
        counts["floating"] += len(sheet.floating)
        counts["background"] += bool(sheet.background)
    return counts


def main(paths: Sequence[str]) -> None:
    """Compare the maps at ``paths`` and print what differs."""
    exports = [read_map(Path(path)).export("mm") for path in paths]
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    warned = 0
    for name, export, saved in zip(paths, exports, save_again(exports), strict=True):
        ours, theirs = read(export, Limits()), read(saved.data, Limits())
        total += _counts(ours)
        warned += saved.warns
        for what, left, right in differences(ours, theirs):
            found[what] += 1
            if found[what] <= 5:
                print(f"{name}: {what}: {left!r:.200} became {right!r:.200}")
    print(f"{len(exports)} maps, {warned} warnings")
    for what, count in total.items():
        print(f"{what:15}{count:7} exported{found[what]:6} differ")


if __name__ == "__main__":
    main(sys.argv[1:])
