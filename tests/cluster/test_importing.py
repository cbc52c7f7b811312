"""Two nodes import at once and are killed at any moment: no map is lost or imported twice.

One test uses store writers, which acknowledge each write; another runs ``mapshelf import`` on real
folders. ``MAPSHELF_CLUSTER_ROUNDS`` and ``MAPSHELF_IMPORT_ROUNDS`` set how often they are killed.
The imported files include those of the corpus, if it is available.
"""

import hashlib
import os
import random
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Final

import pytest

from mapshelf.importer.scan import SUFFIXES
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.tables import SOURCES
from tests.cli.process import CORPUS, EXAMPLES, Mapshelf
from tests.cli.test_commands import write_map
from tests.cluster.cluster import Cluster, all_maps, say, show, shown, until
from tests.store.child import acknowledged, start
from tests.store.test_crash import Expected

pytestmark = pytest.mark.cluster

ROUNDS: Final = int(os.environ.get("MAPSHELF_CLUSTER_ROUNDS", "10"))
IMPORT_ROUNDS: Final = int(os.environ.get("MAPSHELF_IMPORT_ROUNDS", "5"))
ALL: Final = 10**9
TYPICAL: Final = 3.0
"""Seconds after which an import is killed on average: some have hardly begun, some have ended."""


def test_two_writing_nodes_that_are_killed_lose_nothing(cluster: Cluster, store: Store) -> None:
    dice = random.Random(6)
    expected = Expected()
    acknowledged_writes = 0
    seeds = iter(range(1_000_000))
    for _ in range(ROUNDS):
        with ExitStack() as round_:
            pair = [(seed, start(cluster.url, seed, 10**6)) for seed in (next(seeds), next(seeds))]
            for _, writer in pair:
                round_.enter_context(writer)
            reports = [acknowledged(writer) for _, writer in pair]
            for some in reports:
                acknowledged_writes += expected.take([next(some)])
            time.sleep(dice.uniform(0, 0.4))
            for (_, writer), some in zip(pair, reports, strict=True):
                writer.kill()
                acknowledged_writes += expected.take(some)
        prove(expected, store, [seed for seed, _ in pair])
    count = prove_both_show_all(cluster, store)
    say(
        f"{ROUNDS} rounds of two writing nodes killed",
        f"{acknowledged_writes} acknowledged writes, none lost",
        f"both nodes show the {count} maps of the database",
    )


def prove_both_show_all(cluster: Cluster, store: Store) -> int:
    """Compare the maps that the nodes show with the database; return how many there are."""
    newest = store.revision()
    until(lambda: show(cluster, newest))
    found = all_maps(store)
    assert len({one.id for one in found}) == len({one.file_id for one in found}) == len(found)
    for node in cluster.nodes:
        assert shown(node, cluster.token) == [
            (str(one.file_id), one.id, one.title) for one in found
        ]
    assert store.check() == []
    return len(found)


def prove(expected: Expected, store: Store, killed: list[int]) -> None:
    """Compare the acknowledged writes with the store; each writer may have made one more."""
    found = {one.id: one for one in all_maps(store)}
    missing = expected.ids - expected.gone - set(found)
    for seed in killed:
        assert len([one for one in missing if one.startswith(f"s{seed}n")]) <= 1
    assert {one.partition("n")[0] for one in missing} <= {f"s{seed}" for seed in killed}
    expected.gone |= missing
    assert not expected.gone & set(found)
    assert all(found[one].views >= views for one, views in expected.views.items())
    assert set(store.find_credentials(list(expected.digests))) == set(expected.digests)


@dataclass
class Folders:
    """A folder of maps for each of two nodes, and one that both import.

    Some maps are changed and others renamed. No file is both changed and renamed between two
    imports, because it would rightly become another map.
    """

    place: Path
    dice: random.Random
    kinds: list[Path]
    altered: list[Path] = field(default_factory=list)
    renamed: list[Path] = field(default_factory=list)

    def of(self, node: int) -> list[Path]:
        """Return the folders which a node imports."""
        return [self.place / str(node), self.place / "both"]

    def every(self) -> list[Path]:
        """Return all folders."""
        return [self.place / name for name in ("0", "1", "both")]

    def change(self, number: int) -> None:
        """Add maps to each folder, change some, and rename one."""
        for name in ("0", "1", "both"):
            for place in range(6):
                path = self.place / name / f"r{number}" / f"{place}.mm"
                maps = self.altered if place < 3 else self.renamed
                maps.append(write_map(path, f"Map {number} {place} of {name}"))
            chosen = self.dice.choice(self.kinds)
            # The same bytes in several folders are several maps.
            copyfile(chosen, self.place / name / f"r{number}" / chosen.name)
        for path in self.dice.sample(self.altered, 6):
            write_map(path, f"Altered in round {number}: {path.name}", str(self.dice.random()))
        for place in self.dice.sample(range(len(self.renamed)), 3):
            old = self.renamed[place]
            self.renamed[place] = old.rename(old.with_name(f"{number}-{old.name}"))

    def digests(self, node: int) -> dict[bytes, bytes]:
        """Return the digests of the files that a node imports, by their paths."""
        found = (path for folder in self.of(node) for path in folder.rglob("*") if path.is_file())
        return {os.fsencode(p): hashlib.sha256(p.read_bytes()).digest() for p in found}


def test_two_killed_imports_lose_nothing_and_duplicate_nothing(
    cluster: Cluster, store: Store, tmp_path: Path
) -> None:
    dice = random.Random(66)
    folders = Folders(tmp_path.resolve() / "maps", dice, real_maps(tmp_path))
    nodes = [node.mapshelf for node in cluster.nodes]
    before = {one.file_id for one in all_maps(store)}
    ended = 0
    for number in range(IMPORT_ROUNDS):
        folders.change(number)
        pair = [importing(node, folders.of(place)) for place, node in enumerate(nodes)]
        began = time.monotonic()
        seen: list[dict[bytes, bytes]] = []
        promised: dict[bytes, bytes] = {}
        for moment, place in sorted((dice.expovariate(1 / TYPICAL), place) for place in (0, 1)):
            with suppress(subprocess.TimeoutExpired):
                pair[place].wait(max(0.0, began + moment - time.monotonic()))
            seen.append(digests_below(store, folders.place))
            pair[place].kill()
            if pair[place].wait() == 0:  # it had ended before the kill, with everything imported
                ended += 1
                promised |= folders.digests(place)
        known = digests_below(store, folders.place)
        assert promised.items() <= known.items()
        # A renamed file gets its new path as soon as an import has seen it.
        lost = (path for some in seen for path in some if path not in known)
        assert not any(Path(os.fsdecode(path)).exists() for path in lost)
        assert len(seen[0]) <= len(seen[1]) <= len(known)
    for place, node in enumerate(nodes):
        imported(node, folders.of(place))
    made = titles_by_path(store, folders.place)
    assert made == imported_at_once(tmp_path / "reference", folders)
    assert len({one.file_id for one in all_maps(store)} - before) == len(made)
    count = prove_both_show_all(cluster, store)
    say(
        f"{IMPORT_ROUNDS} rounds of two imports killed ({ended} of these had ended before)",
        f"{len(made)} files are {len(made)} maps",
        f"both nodes show the {count} maps of the database",
    )


def real_maps(folder: Path) -> list[Path]:
    """Return files that ``mapshelf import`` accepts: of the corpus if available, else ours."""
    place = CORPUS / "dev" if CORPUS.exists() else EXAMPLES
    found = [
        path
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name.endswith(SUFFIXES) and path.stat().st_size < 200_000
    ]
    trial = Mapshelf(folder / "trial")
    some = random.Random(7).sample(found, min(40, len(found)))
    subprocess.run(trial.command("import", *some), capture_output=True, check=False, timeout=120)
    store = open_store(sqlite_url(trial.data))
    taken = {Path(os.fsdecode(path)) for path in store.sources([os.fsencode(p) for p in some])}
    store.close()
    assert taken
    return sorted(taken)


def importing(node: Mapshelf, folders: Sequence[Path]) -> "subprocess.Popen[bytes]":
    words = node.command("import", *folders)
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def imported(node: Mapshelf, folders: Sequence[Path]) -> None:
    """Run an import until it ends; no file may be refused."""
    words = node.command("import", *folders)
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def digests_below(store: Store, folder: Path) -> dict[bytes, bytes]:
    return {one.path: one.digest for one in store.sources_below(os.fsencode(folder), b"", ALL)}


def titles_by_path(store: Store, folder: Path) -> dict[bytes, str]:
    """Return the title of the map of each file, and check that no two files share a map."""
    titles = {one.file_id: one.title for one in all_maps(store)}
    place, column = SOURCES.columns.index("path"), SOURCES.columns.index("file_id")
    below = os.fsencode(folder) + b"/"
    rows = [row for row in store.rows(SOURCES, (below,), ALL) if row[place].startswith(below)]
    assert len({row[column] for row in rows}) == len(rows)
    return {row[place]: titles[row[column]] for row in rows}


def imported_at_once(data: Path, folders: Folders) -> dict[bytes, str]:
    """Return the result of an undisturbed import of the same folders."""
    reference = Mapshelf(data)
    imported(reference, folders.every())
    store = open_store(sqlite_url(data))
    try:
        return titles_by_path(store, folders.place)
    finally:
        store.close()
