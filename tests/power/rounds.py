"""Rounds of power cuts: a program works on a disk, and the disk is checked after each cut.

Each function uses an empty folder, which it empties again, and adds its results to ``Verdicts``.
"""

import errno
import random
import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from mapshelf.errors import MapshelfError, StoreMissing
from mapshelf.model import MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store
from mapshelf.store.backup_file import verify_backup
from mapshelf.store.unfinished_file import UNFINISHED
from tests.cli.process import Mapshelf, Service
from tests.power.judge import Left, Verdicts, found_cuts
from tests.power.mounted import Cuts, Fault, MountedDisk, mounted
from tests.power.work import PEOPLE, Work, busy_service, prepare

EACH: Final = 10_000
"""More changes than any command makes."""

PATIENCE: Final = 120.0


def cut_service(
    place: Path, verdicts: Verdicts, cuts: Cuts, *, starts: int = 0, lie: bool = False
) -> None:
    """Cut the power of a busy service.

    Args:
        place: a folder of its own.
        verdicts: what to add to.
        cuts: where to cut; its folder is chosen here.
        starts: on how many of the disks that are left the service itself is started.
        lie: whether the disk does nothing when asked to sync.
    """
    template = place / "template"
    tokens = prepare(template)
    cuts.folder = str(place / "cuts")
    (place / "cuts").mkdir()
    with mounted(place / "disk", template) as disk:
        if lie:
            disk.lie()
        with busy_service(disk, place / "beside", tokens) as (_, work):
            while not any(work.begun.get(name) for name in PEOPLE):
                time.sleep(0.02)
            disk.cut_at(cuts)
            _wait_for_cuts(disk, cuts)
    for number, left in enumerate(found_cuts(place / "cuts")):
        verdicts.judge(left, tokens, start=number < starts)
        shutil.rmtree(left.folder)
    for folder in ("template", "cuts", "beside"):
        shutil.rmtree(place / folder, ignore_errors=True)


def cut_command(place: Path, verdicts: Verdicts, words: tuple[str, ...], apart: int = 1) -> None:
    """Cut the power before changes that ``restore``, ``backup`` or ``user`` makes, and at its end.

    Args:
        place: a folder of its own.
        verdicts: what to add to.
        words: the command: ``restore`` or ``backup`` alone, or ``user add NAME``.
        apart: how many changes are between two cuts, at most; 1 is a cut before each.
    """
    template, cuts = place / "template", place / "cuts"
    cuts.mkdir(parents=True)
    template.mkdir()
    if words[0] != "user":
        _make_old_and_new(template)
    with mounted(place / "disk", template) as disk:
        mapshelf = Mapshelf(disk.path / "data")
        disk.cut_at(Cuts(str(cuts), apart, EACH, " ".join(words)))
        name = {"restore": "old", "backup": "made"}.get(words[0])
        mapshelf.run_apart(*words, *([disk.path / name] if name else []))
        disk.mark("done~0")
        disk.cut_now(Cuts(str(cuts), 1, 1, "end"))
    for left in found_cuts(cuts):
        verdicts.judged[left.fate] += 1
        verdicts.promises += len(left.marks)
        try:
            _JUDGES[words[0]](left)
        except (AssertionError, MapshelfError) as error:
            verdicts.faults.append(f"{words[0]} {left.folder.name}: {error}")
        shutil.rmtree(left.folder)
    shutil.rmtree(place)


def _wait_for_cuts(disk: MountedDisk, cuts: Cuts) -> None:
    deadline = time.monotonic() + PATIENCE * (1 + cuts.count / 10)
    while disk.cuts_made() < cuts.count:
        assert time.monotonic() < deadline, "too few changes to cut at"
        time.sleep(0.1)


# -- commands ------------------------------------------------------------------------------------

OLD: Final = {"Old 0", "Old 1"}
NEW: Final = {"New 0", "New 1", "New 2"}


def _make_old_and_new(folder: Path) -> None:
    """Make a backup with old maps, and a catalogue with new ones."""
    old, new = Mapshelf(folder / "other"), Mapshelf(folder / "data")
    for mapshelf, titles in ((old, OLD), (new, NEW)):
        with closing(mapshelf.store()) as store:
            store.put_maps([MapDraft(title=title) for title in sorted(titles)])
    old.run("backup", folder / "old")
    shutil.rmtree(folder / "other")


def _titles(data: Path) -> set[str]:
    with closing(open_store(sqlite_url(data), create=False)) as store:
        assert not store.check()
        return {found.title for found in store.maps(0, 100)}


def _judge_restore(left: Left) -> None:
    """The catalogue is the old or the new one; after the acknowledgement, the restored one."""
    found = _titles(left.folder / "data")
    assert found in (OLD, NEW), found
    if left.marks:
        assert found == OLD, "it was not restored"
    if found == OLD:
        (aside,) = (left.folder / "data").glob("before-restore-*")
        assert _titles(aside) == NEW, "what was replaced was not kept"
    else:
        # Whatever is left, a restore must work now.
        Mapshelf(left.folder / "data").run("restore", left.folder / "old")
        assert _titles(left.folder / "data") == OLD


def _judge_backup(left: Left) -> None:
    """An acknowledged backup exists, and a backup with its final name is always complete."""
    made = left.folder / "made"
    assert made.exists() or not left.marks, "the backup is lost"
    if made.exists():
        verify_backup(made, lambda *_: None)
    assert _titles(left.folder / "data") == NEW
    if not made.exists():
        Mapshelf(left.folder / "data").run("backup", made)
        assert not made.with_name(made.name + UNFINISHED).exists()


def _judge_user(left: Left) -> None:
    """An acknowledged user exists; before that, the command works when it is repeated."""
    mapshelf = Mapshelf(left.folder / "data")
    try:
        with closing(open_store(sqlite_url(mapshelf.data), create=False)) as store:
            names = {user.name for user in store.users()}
    except StoreMissing:
        names = set()
    assert "ann" in names or not left.marks, "the user is lost"
    if "ann" not in names:
        mapshelf.run("user", "add", "ann")


_JUDGES: Final = {"restore": _judge_restore, "backup": _judge_backup, "user": _judge_user}


# -- a disk that fails under a service -----------------------------------------------------------

CODES: Final = (errno.EIO, errno.ENOSPC, errno.EROFS)
SEVERAL: Final = (1, 5, 50, 1 << 30)
"""How many changes fail, the last until the disk is mended."""


def fail_under_service(place: Path, verdicts: Verdicts, bursts: int, seed: str) -> int:
    """Make the disk of a busy service fail sometimes; return how many changes failed.

    The service must continue without a restart, and log each fault in one line. At the end, the
    power is cut.
    """
    chance, failed = random.Random(seed), 0
    template, log = place / "template", place / "log"
    tokens = prepare(template)
    with mounted(place / "disk", template) as disk, log.open("wb") as stream:
        with busy_service(disk, place / "beside", tokens, log=stream) as (service, work):
            for _ in range(bursts):
                time.sleep(chance.uniform(0.2, 1.0))
                fault = Fault(chance.randrange(20), chance.choice(SEVERAL), chance.choice(CODES))
                disk.fail(fault)
                time.sleep(chance.uniform(0.2, 1.5))
                _wait_for_failure(disk)
                failed += disk.failed()
                disk.fail(None)
            _wait_for_recovery(service, work)
        disk.cut_now(Cuts(str(place), 1, 1, seed))
    said = log.read_text("utf-8", "replace")
    if "Traceback" in said:
        verdicts.faults.append("the log has a traceback: " + said.partition("Traceback")[2][-2000:])
    for left in found_cuts(place):
        verdicts.judge(left, tokens)
        shutil.rmtree(left.folder)
    return failed


def _wait_for_failure(disk: MountedDisk) -> None:
    """Wait until a change of the disk has failed: on a busy machine, changes are slow."""
    deadline = time.monotonic() + PATIENCE
    while not disk.failed() and time.monotonic() < deadline:
        time.sleep(0.1)


def _wait_for_recovery(service: Service, work: Work) -> None:
    """Wait until uploads, imports and backups succeed again, and new maps appear."""
    before, deadline = dict(work.begun), time.monotonic() + PATIENCE
    total = service.total()
    while any(work.begun[name] < count + 2 for name, count in before.items()):
        assert time.monotonic() < deadline, f"it did not recover: {before}, {work.begun}"
        time.sleep(0.1)
    while service.total() <= total:
        assert time.monotonic() < deadline, "no new snapshot"
        time.sleep(0.1)
