"""Acknowledged writes survive ``kill -9`` of the process that made them.

This proves nothing about a power cut: the kernel keeps what a killed process has written.
``MAPSHELF_CRASH_ROUNDS=200 pytest tests/store/test_crash.py`` runs longer than the default.
"""

import os
import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mapshelf.formats.outline_codec import outline_passages
from mapshelf.model import Map, Vote
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from tests.store.child import acknowledged, start
from tests.store.drafts import upload

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("MAPSHELF_CRASH_ROUNDS", "4"))
LONGEST = 0.25
"""Seconds after its first acknowledgement at which a writer is killed at the latest."""


@dataclass(slots=True)
class Expected:
    """All acknowledged writes of all rounds."""

    ids: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    views: dict[str, int] = field(default_factory=dict)
    digests: set[bytes] = field(default_factory=set)
    uploads: dict[str, str] = field(default_factory=dict)
    votes: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)

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
                case "upload":
                    self.uploads[report["id"]] = report["title"]
                case "vote":
                    self.votes.add(report["id"])
                case "replace":
                    self.files[report["id"]] = report["name"]
        return count

    def prove(self, store: Store, killed: int) -> None:
        assert store.check() == []
        found = {one.id: one for one in store.maps(0, 10**9)}
        # The killed writer may have deleted one more map than it could report.
        missing = self.ids - self.gone - set(found)
        assert len(missing) <= 1
        assert all(one.startswith(f"s{killed}n") for one in missing)
        self.gone |= missing
        assert not self.gone & set(found)
        assert all(found[one].views >= views for one, views in self.views.items())
        assert set(store.find_credentials(list(self.digests))) == set(self.digests)
        self.prove_people(store, found)
        changes = store.changes(0, 10**9)
        assert changes[-1].revision == store.revision()
        assert {c.map.id for c in changes if c.map} == set(found)
        # Batches are complete: three maps each, and an outline for every map that came with one.
        for one in [one for one in found.values() if one.owner.startswith("o")]:
            outline = store.outline(one.file_id)
            assert outline is not None
            assert len(outline_passages(outline).shallow[0]) == 3000
        batches = {one.id.rpartition("i")[0] for one in found.values() if one.owner.startswith("o")}
        whole = set(found) | self.gone
        assert all(f"{batch}i{i}" in whole for batch in batches for i in range(3))

    def prove_people(self, store: Store, found: Mapping[str, Map]) -> None:
        """Check that each upload is complete and stored once, and that each vote counts once."""
        titles = [one.title for one in found.values()]
        assert all(found[one].title == title for one, title in self.uploads.items())
        assert all(titles.count(title) == 1 for title in self.uploads.values())
        voters = [user.id for user in store.users() if user.name.startswith("u")]
        for one in found.values():
            versions = store.versions(one.file_id)
            if not versions:
                continue
            kept = store.content(one.file_id)
            assert kept
            newest = upload(versions[0].name)
            assert (kept.digest, kept.content) == (newest.digest, newest.content)
            assert [version.current for version in versions[:2]] == [True, False][: len(versions)]
            assert store.outline(one.file_id) == newest.outline
            cast = [store.vote_of(one.file_id, voter) for voter in voters]
            assert (one.thumbs_up, one.thumbs_down) == (
                cast.count(Vote.UP),
                cast.count(Vote.DOWN),
            )
        for public_id, name in self.files.items():
            # The killed writer may have replaced the file once more than it could report.
            assert name in {version.name for version in store.versions(found[public_id].file_id)}
        for public_id in self.votes:
            assert found[public_id].thumbs_up + found[public_id].thumbs_down == 1


def test_every_acknowledged_write_survives_the_writer(tmp_path: Path) -> None:
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
