"""What a store has acknowledged outlives ``kill -9`` of the process that wrote it.

This proves nothing about a power cut: what the process handed to the kernel survives it.
``MAPSHELF_CRASH_ROUNDS=200 pytest tests/store/test_crash.py`` runs longer than the default.
"""

import os
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mapshelf.formats.outline_codec import outline_passages
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from tests.store.child import acknowledged, start

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("MAPSHELF_CRASH_ROUNDS", "4"))
LONGEST = 0.25
"""Seconds after its first acknowledgement at which a writer is killed at the latest."""


@dataclass(slots=True)
class Expected:
    """All that was acknowledged in any round."""

    ids: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    views: dict[str, int] = field(default_factory=dict)
    digests: set[bytes] = field(default_factory=set)

    def take(self, reports: Iterable[dict[str, Any]]) -> int:
        count = 0
        for report in reports:
            count += 1
            match report["kind"]:
                case "put":
                    self.ids.update(report["ids"])
                case "change":
                    self.views[report["id"]] = report["views"]
                case "delete":
                    self.gone.update(report["ids"])
                case "token":
                    self.digests.add(report["digest"].encode())
        return count

    def prove(self, store: Store, killed: int) -> None:
        assert store.check() == []
        found = {one.id: one for one in store.maps(0, 10**9)}
        # The killed writer may have deleted one more map than it could tell.
        missing = self.ids - self.gone - set(found)
        assert len(missing) <= 1
        assert all(one.startswith(f"s{killed}n") for one in missing)
        self.gone |= missing
        assert not self.gone & set(found)
        assert all(found[one].views >= views for one, views in self.views.items())
        assert set(store.find_credentials(list(self.digests))) == set(self.digests)
        changes = store.changes(0, 10**9)
        assert changes[-1].revision == store.revision()
        assert {c.map.id for c in changes if c.map} == set(found)
        # Batches are whole: an outline for every map that came with one, and three maps each.
        for one in [one for one in found.values() if "n" in one.id]:
            outline = store.outline(one.file_id)
            assert outline is not None
            assert len(outline_passages(outline).shallow[0]) == 3000
        batches = {one.id.rpartition("i")[0] for one in found.values() if "n" in one.id}
        whole = set(found) | self.gone
        assert all(f"{batch}i{i}" in whole for batch in batches for i in range(3))


def test_every_acknowledged_write_outlives_the_writer(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    dice = random.Random(20240229)
    expected = Expected()
    acknowledged_writes = 0
    open_store(url).close()
    for seed in range(ROUNDS):
        with start(url, seed, 10**6) as writer:
            reports = acknowledged(writer)
            acknowledged_writes += expected.take([next(reports)])
            time.sleep(dice.uniform(0, LONGEST))
            writer.kill()
            acknowledged_writes += expected.take(reports)
        assert writer.returncode == -9
        store = open_store(url)
        expected.prove(store, seed)
        store.close()
    print(f"{ROUNDS} rounds, {acknowledged_writes} acknowledged writes")
    assert acknowledged_writes >= ROUNDS
