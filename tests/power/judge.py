"""Checks a disk after a power cut: is all acknowledged data there, and does the service work?"""

import json
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw

from mapshelf.errors import MapshelfError, SnapshotMissing, UnusableBackup
from mapshelf.model import MapDraft, Vote
from mapshelf.settings import Settings, sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import Store, open_store
from mapshelf.store.backup_file import verify_backup
from mapshelf.store.unfinished_file import UNFINISHED
from tests.cli.process import Mapshelf, serving
from tests.harness import BASE_URL, Service
from tests.power.work import (
    MAPS_PER_IMPORT,
    PEOPLE,
    RATED,
    VOTES,
    Tokens,
    content_of,
    title_of,
)

PAGE: Final = 50


@dataclass(slots=True)
class Promises:
    """What was acknowledged before the power cut.

    Attributes:
        uploads: how many files each user had uploaded.
        votes: how many votes each user had cast.
        imports: the numbers of finished imports.
        backups: the numbers of finished backups.
        uploads_before: the uploads at the start of each backup.
    """

    uploads: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    votes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    imports: list[int] = field(default_factory=list)
    backups: list[int] = field(default_factory=list)
    uploads_before: dict[int, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, marks: list[str]) -> "Promises":
        """Return the promises that these marks stand for."""
        given = cls()
        for kind, *rest in (mark.split("~") for mark in marks):
            number = int(rest[-1])
            match kind:
                case "upload":
                    given.uploads[rest[0]] = number + 1
                case "vote":
                    given.votes[rest[0]] = number + 1
                case "import":
                    given.imports.append(number)
                case "begin":
                    given.uploads_before.setdefault(number, dict(given.uploads))
                case "backup":
                    given.backups.append(number)
        return given

    def count(self) -> int:
        """Return how many promises there are."""
        people = sum(self.uploads.values()) + sum(self.votes.values())
        return people + MAPS_PER_IMPORT * len(self.imports) + len(self.backups)


@dataclass(frozen=True, slots=True)
class Left:
    """A disk after a cut.

    Attributes:
        folder: the disk.
        fate: what became of unsynced data.
        marks: what had been acknowledged.
    """

    folder: Path
    fate: str
    marks: list[str]


def found_cuts(folder: Path) -> Iterator[Left]:
    """Yield the disks that cuts left in a folder."""
    for file in sorted(folder.glob("*-marks.json"), key=lambda path: int(path.name.split("-")[0])):
        marks = json.loads(file.read_text("utf-8"))
        number = file.name.split("-")[0]
        for left in sorted(folder.glob(f"{number}-[0-9]*-*")):
            yield Left(left, left.name.split("-")[2], marks)


@dataclass(slots=True)
class Verdicts:
    """Results of checks.

    Attributes:
        judged: how many disks were checked, by the fate of unsynced data.
        promises: how many promises there were on all disks.
        served: snapshots that were intact and served.
        rebuilt: snapshots that were lost or damaged, and rebuilt.
        faults: the faults found.
    """

    judged: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    promises: int = 0
    served: int = 0
    rebuilt: int = 0
    faults: list[str] = field(default_factory=list)

    def judge(self, left: Left, tokens: Tokens, *, start: bool = False) -> None:
        """Check a disk; with ``start``, start the service on it, too."""
        self.judged[left.fate] += 1
        given = Promises.of(left.marks)
        self.promises += given.count()
        try:
            self._judge(left, given, tokens, start=start)
        except (AssertionError, MapshelfError, apsw.Error) as error:
            self.faults.append(f"{left.folder.name}: {type(error).__name__}: {error}")

    def _judge(self, left: Left, given: Promises, tokens: Tokens, *, start: bool) -> None:
        judge_backups(left.folder / "backups", given)
        data = left.folder / "data"
        with closing(open_store(sqlite_url(data), create=False)) as store:
            faults = store.check()
            assert not faults, faults
            judge_store(store, given)
            titles = {found.id: found.title for found in store.maps(0, 1_000_000)}
            shown = shown_at_first(data, tokens["ann"])
            if shown is None:
                self.rebuilt += 1
            else:
                self.served += 1
                strange = {
                    name: title for name, title in shown.items() if titles.get(name) != title
                }
                assert not strange, f"the snapshot has maps that the store has not: {strange}"
            store.put_maps([MapDraft(title="After the cut")])
            titles = {found.id: found.title for found in store.maps(0, 1_000_000)}
            with closing(Builder(store, SnapshotDirectory(data / "snapshots"))) as builder:
                builder.advance()
        assert shown_at_first(data, tokens["ann"]) == titles, "the snapshot differs from the store"
        if start:
            with serving(Mapshelf(data), token=tokens["ann"]) as service:
                service.wait_until_ready()
                assert service.total() == len(titles)


def judge_store(store: Store, given: Promises) -> None:
    """Compare a store with the promises."""
    maps = store.maps(0, 1_000_000)
    for name in PEOPLE:
        files: dict[str, int] = {}
        for found in maps:
            if found.owner == name:
                kept = store.content(found.file_id)
                assert kept is not None, f"{found.id} has no file"
                assert kept.name not in files, f"{kept.name} is there twice"
                files[kept.name] = found.file_id
                assert store.outline(found.file_id) is not None
        for number in range(given.uploads[name]):
            file_id = files.pop(f"{name}-{number}.mm", None)
            assert file_id is not None, f"upload {number} of {name} is lost"
            kept = store.content(file_id)
            assert kept is not None
            assert zlib.decompress(kept.content) == content_of(name, number), "a file is damaged"
        assert len(files) <= 1, f"more than was sent: {files}"
    titles = {found.title for found in maps}
    for number in given.imports:
        for place in range(MAPS_PER_IMPORT):
            assert title_of(number, place) in titles, f"import {number} is lost"
    _judge_votes(store, given)


def _judge_votes(store: Store, given: Promises) -> None:
    (rated,) = (found for found in store.maps(0, 1_000_000) if found.id == RATED)
    users = {user.name: user.id for user in store.users()}
    cast = [store.vote_of(rated.file_id, users[name]) for name in PEOPLE]
    assert (rated.thumbs_up, rated.thumbs_down) == (cast.count(Vote.UP), cast.count(Vote.DOWN))
    for name, vote in zip(PEOPLE, cast, strict=True):
        # The last acknowledged vote, or the one under way.
        done = given.votes[name]
        last = VOTES[(done - 1) % len(VOTES)] if done else Vote.NONE
        assert vote in (last, VOTES[done % len(VOTES)]), f"vote {done} of {name} is lost: {vote}"


def judge_backups(folder: Path, given: Promises) -> None:
    """Check that each backup exists, is intact, and has all promises made before it."""
    found = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
    for number in given.backups:
        assert str(number) in found, f"backup {number} is lost"
    for name, path in found.items():
        if UNFINISHED in name:
            continue
        try:
            verify_backup(path, lambda *_: None)
        except UnusableBackup as error:
            raise AssertionError(f"backup {name} is not whole: {error}") from error
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(f"file:{path}?immutable=1", flags)) as database:
            files = {row[0] for row in database.execute("SELECT name FROM versions").fetchall()}
        for person, count in given.uploads_before.get(int(name), {}).items():
            for number in range(count):
                assert f"{person}-{number}.mm" in files, f"backup {name} lacks an upload"


def shown_at_first(data: Path, token: str) -> dict[str, str] | None:
    """Return the titles that a service shows from the snapshot it finds, ``None`` if it refuses."""
    settings = Settings(data=data, database=sqlite_url(data), base_url=BASE_URL)
    directory = SnapshotDirectory(settings.snapshots)

    def is_refused() -> bool:
        try:
            return directory.is_refused(directory.current())
        except SnapshotMissing:
            return True

    with Service(settings, token) as service:
        service.wait_until(lambda: service.maps(limit=0).status_code == 200 or is_refused())
        shown: dict[str, str] = {}
        while True:
            answer = service.maps(limit=PAGE, offset=len(shown))
            if answer.status_code == 503:
                return None
            assert answer.status_code == 200, answer.text
            rows = answer.json()
            shown.update((row["ID"], row["Title"]) for row in rows)
            if len(rows) < PAGE:
                return shown


def removed(left: Left) -> None:
    """Delete a disk after its check."""
    shutil.rmtree(left.folder)
