"""Check the twins that a snapshot finds in a folder of map files.

    python scripts/twins_check.py ../shared/corpus/dev --pairs 100

The script finds identical outlines by itself, by comparing the topics of all files. Every such pair
must be among the twins of the snapshot. It prints near twins for you to look at, with the share of
topics that both maps have. It shares no code with the search for twins in the snapshot.
"""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from mapshelf.errors import UnreadableFile
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Topic, Visibility
from mapshelf.readers import Limits, read
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.read import Snapshot
from mapshelf.store.sqlite.sqlite_store import SQLiteStore


def outlines(folder: Path) -> dict[str, Outline]:
    """Return the outlines of all readable files, by the ids of their maps."""
    found: dict[str, Outline] = {}
    names = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                found[f"T{len(found):07}"] = read(path.read_bytes(), Limits(), name=path.name)
            except UnreadableFile:
                continue
            names.append(path)
    for public_id, path in zip(found, names, strict=True):
        NAMES[public_id] = str(path.relative_to(folder))
    return found


NAMES: dict[str, str] = {}
"""The files, by the ids of their maps."""


def identical_pairs(found: dict[str, Outline]) -> set[tuple[str, str]]:
    """Return all pairs of maps with the same tree of topics, unless all topics are empty."""
    same: dict[tuple[tuple[int, str], ...], list[str]] = defaultdict(list)
    for public_id, outline in found.items():
        rows = tuple((depth, said(topic)) for depth, topic in outline.topics())
        if any(text for _, text in rows):
            same[rows].append(public_id)
    return {pair for group in same.values() for pair in combinations(group, 2)}


def said(topic: Topic) -> str:
    """Return the text of a topic, or the digests of its pictures if it has no text."""
    pictures = " ".join(image.digest for image in topic.images if image.digest)
    return " ".join(topic.text.split()) or pictures


def share(one: Outline, other: Outline) -> float:
    """Return the share of the texts in two maps that are in both, from 0 to 1."""
    left, right = (
        {said(topic).casefold() for _, topic in outline.topics()} - {""} for outline in (one, other)
    )
    return len(left & right) / (len(left | right) or 1)


def snapshot_of(found: dict[str, Outline], folder: Path) -> Snapshot:
    """Return a snapshot of a catalogue with these maps."""
    store = SQLiteStore(folder / "catalogue.db", clock=lambda: 1_700_000_000_000)
    drafts = [
        MapDraft(
            id=public_id,
            title=outline.roots[0].text[:200] or "untitled",
            outline=encode_outline(outline),
            visibility=Visibility.PUBLISHED,
        )
        for public_id, outline in found.items()
    ]
    for start in range(0, len(drafts), 100):
        store.put_maps(drafts[start : start + 100])
    directory = SnapshotDirectory(folder / "snapshots")
    builder = Builder(store, directory)
    while builder.advance():
        pass
    builder.close()
    return Snapshot(directory.folder(directory.current()))


def main() -> int:
    """Check the twins in a folder, and return 0 if all are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=100, help="near twins to print")
    given = parser.parse_args()
    found = outlines(given.folder)
    expected = identical_pairs(found)
    same, near = set(), {}
    with tempfile.TemporaryDirectory() as folder:
        snapshot = snapshot_of(found, Path(folder))
        for public_id in found:
            for twin in snapshot.twins(public_id, b""):
                other = twin.id
                pair = (min(public_id, other), max(public_id, other))
                if twin.same:
                    same.add(pair)
                else:
                    near[pair] = twin.share
    print(f"{len(found)} maps, {len(expected)} identical pairs, {len(same)} of them found")
    print(f"missed: {sorted(expected - same)}; found wrongly: {sorted(same - expected)}")
    real = {pair: share(found[pair[0]], found[pair[1]]) for pair in near}
    print(
        f"{len(near)} near twins; shared topics: {sorted(round(one, 2) for one in real.values())}"
    )
    chance = random.Random(1)  # noqa: S311 - the same pairs each time
    for pair in chance.sample(sorted(near), min(given.pairs, len(near))):
        print(f"\nshared {real[pair]:.2f}, estimated {near[pair]:.2f}")
        for one in pair:
            texts = [" ".join(topic.text.split())[:30] for _, topic in found[one].topics()]
            print(f"  {NAMES[one]} ({len(texts)}): {' | '.join(texts[:9])}")
    return 0 if expected == same else 1


if __name__ == "__main__":
    sys.exit(main())
