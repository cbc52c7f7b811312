"""Runs commands on a disk whose n-th change fails, for each n.

Whatever fails, a command reports it in one line or succeeds, and damages nothing. When the disk
works again, so does the command.
"""

import errno
import shutil
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Final

from mapshelf.cli import main
from mapshelf.errors import MapshelfError
from mapshelf.model import MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.checksums import verify
from mapshelf.store import open_store
from mapshelf.store.backup_file import verify_backup
from tests.cli.process import Mapshelf
from tests.cli.test_commands import write_map
from tests.power.mounted import Fault, mounted

CODES: Final = (errno.EIO, errno.ENOSPC, errno.EROFS)
FOR_GOOD: Final = 1 << 30
"""Changes that fail if all do from one on."""


@dataclass(slots=True)
class Tried:
    """Results of trials.

    Attributes:
        runs: how many runs had a failing change.
        refused: how many of them the command reported; in the others, it continued.
        faults: the faults found.
    """

    runs: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trial:
    """A command to try, and a check of its result.

    Attributes:
        run: runs it in a data folder; returns the exit code and the output.
        is_done: returns whether a data folder has the result of the command.
        empty: whether the data folder has no catalogue at first.
    """

    run: Callable[[Path], tuple[int, str]]
    is_done: Callable[[Path], bool]
    empty: bool = False


def fail_each(place: Path, trial: Trial, fault: Fault, tried: Tried, step: int = 1) -> None:
    """Run a command repeatedly, each time with a later change that fails.

    Args:
        place: an empty folder.
        trial: the command.
        fault: the error, and how many changes fail from that one on.
        tried: the results to add to.
        step: try only each n-th change.
    """
    template = place / "template"
    template.mkdir(parents=True)
    if not trial.empty:
        with closing(Mapshelf(template).store()) as store:
            store.put_maps([MapDraft(title="Kept")])
    with mounted(place / "disk") as disk:
        for first in range(0, 100_000, step):
            data = disk.path / f"data{first}"
            shutil.copytree(template, data)
            disk.fail(replace(fault, first=first))
            try:
                ended, said = trial.run(data)
            except Exception as error:
                ended, said = -1, f"Traceback: {error!r}"
            failed = disk.failed()
            disk.fail(None)
            if not failed:
                break
            tried.runs += 1
            tried.refused += ended != 0
            try:
                _judge(trial, data, ended, said)
            except (AssertionError, MapshelfError) as error:
                tried.faults.append(f"change {first}, {errno.errorcode[fault.code]}: {error}")
            shutil.rmtree(data)
    shutil.rmtree(place)


def _judge(trial: Trial, data: Path, ended: int, said: str) -> None:
    assert ended in (0, 1), said
    if ended == 1:
        *before, reason = said.splitlines()  # before that, it may report what it has done
        assert len(before) < 2, said
        assert all(line.startswith("mapshelf: ") for line in (*before, reason)), said
    else:
        assert trial.is_done(data), f"it reported success without a result: {said!r}"
    if not trial.is_done(data):
        ended, said = trial.run(data)
        assert (ended, trial.is_done(data)) == (0, True), f"it fails even on a working disk: {said}"
    with closing(open_store(sqlite_url(data), create=False)) as store:
        assert not store.check()
        if not trial.empty:
            assert "Kept" in {found.title for found in store.maps(0, 100)}


def command(*words: str | Path) -> Callable[[Path], tuple[int, str]]:
    """Return a function that runs a command in a data folder, which replaces ``{}`` in words."""

    def run(data: Path) -> tuple[int, str]:
        given = [str(word).replace("{}", str(data)) for word in words]
        errors = StringIO()
        with redirect_stderr(errors), redirect_stdout(StringIO()):
            try:
                ended = main([*given, "--data", str(data)])
            except SystemExit as exited:
                ended = int(exited.code or 0)
        return ended, errors.getvalue()

    return run


def _has(title: str) -> Callable[[Path], bool]:
    def is_done(data: Path) -> bool:
        with closing(open_store(sqlite_url(data), create=False)) as store:
            return title in {found.title for found in store.maps(0, 100)}

    return is_done


def _has_ann(data: Path) -> bool:
    try:
        with closing(open_store(sqlite_url(data), create=False)) as store:
            return "ann" in {user.name for user in store.users()}
    except MapshelfError:
        return False


def _is_whole(data: Path) -> bool:
    made = data / "made"
    if made.exists():
        verify_backup(made, lambda *_: None)
    return made.exists()


def _publish(data: Path) -> tuple[int, str]:
    """Build a snapshot like the builder, which starts again after each failure."""
    try:
        with closing(open_store(sqlite_url(data))) as store:
            store.put_maps([MapDraft(title="Kept")])
            with closing(Builder(store, SnapshotDirectory(data / "snapshots"))) as builder:
                builder.advance()
    except (MapshelfError, OSError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return 1, f"mapshelf: {said}"
    return 0, ""


def _is_published(data: Path) -> bool:
    directory = SnapshotDirectory(data / "snapshots")
    try:
        verify(directory.folder(directory.current()))
    except MapshelfError:
        return False
    return True


def trials(place: Path) -> dict[str, Trial]:
    """Return all commands by name, and create the files that they read in ``place``."""
    folder, other = place / "maps", Mapshelf(place / "other")
    write_map(folder / "new.mm", "New")
    other.run("import", write_map(place / "old.mm", "Kept"), write_map(place / "older.mm", "Old"))
    other.run("backup", place / "backup")
    return {
        "user add": Trial(command("user", "add", "ann"), _has_ann, empty=True),
        "import": Trial(command("import", folder), _has("New")),
        "backup": Trial(command("backup", "{}/made"), _is_whole),
        "restore": Trial(command("restore", place / "backup"), _has("Old")),
        "snapshot": Trial(_publish, _is_published),
    }


def fail_all(place: Path, codes: tuple[int, ...], step: int = 1) -> dict[str, Tried]:
    """Try every command with each of these errors, once and permanently; return the results."""
    found: dict[str, Tried] = {}
    for name, trial in trials(place).items():
        found[name] = Tried()
        for code in codes:
            for count in (1, FOR_GOOD):
                fail_each(place / "trial", trial, Fault(0, count, code), found[name], step)
    return found
