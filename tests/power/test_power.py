"""Acknowledged writes survive power cuts, and failing disks damage nothing.

These are short forms of ``scripts/power_cuts.py`` and ``scripts/disk_faults.py``.
"""

import errno
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from mapshelf.model import MapDraft
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests.power.failing import FOR_GOOD, Trial, Tried, fail_each, trials
from tests.power.judge import Verdicts, found_cuts
from tests.power.mounted import Cuts, Fault, can_mount, mounted
from tests.power.rounds import cut_command, cut_service, fail_under_service

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True, scope="module")
def _leave_to_mount(tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        if not can_mount():
            raise PermissionError
        with mounted(tmp_path_factory.mktemp("disk") / "trial"):
            pass
    except PermissionError:
        pytest.skip("a disk whose power can be cut takes leave to mount one")


class Weaker(apsw.Connection):
    """SQLite with a weaker durability setting, which syncs its log less often."""

    def execute(self, statements: str, *arguments: Any, **named: Any) -> Any:
        statements = statements.replace("synchronous = FULL", "synchronous = NORMAL")
        return super().execute(statements, *arguments, **named)


def lost_by_cuts(place: Path) -> int:
    """Write maps one by one with power cuts in between; return how many were lost."""
    template, cuts, written = place / "template", place / "cuts", 25
    cuts.mkdir(parents=True)
    template.mkdir()
    SQLiteStore(template / "catalogue.db").close()
    with mounted(place / "disk", template) as disk:
        with closing(SQLiteStore(disk.path / "catalogue.db")) as store:
            disk.cut_at(Cuts(str(cuts), 17, 100, "writes", torn=2))
            for number in range(written):
                store.put_maps([MapDraft(title=f"map {number}")])
                disk.mark(f"map {number}")
        assert disk.cuts_made() > 5
    lost = 0
    for left in found_cuts(cuts):
        with closing(SQLiteStore(left.folder / "catalogue.db", create=False)) as store:
            assert store.check() == []
            there = {found.title for found in store.maps(0, 100)}
        lost += len(set(left.marks) - there)
        assert len(there - set(left.marks)) <= 1
    return lost


def test_no_map_is_lost(tmp_path: Path) -> None:
    assert lost_by_cuts(tmp_path) == 0


def test_the_disk_loses_what_is_not_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above would prove nothing."""
    monkeypatch.setattr(apsw, "Connection", Weaker)
    assert lost_by_cuts(tmp_path) > 0


def test_a_new_file_without_its_folder_synced_is_lost_and_half_of_one_may_be_left(
    tmp_path: Path,
) -> None:
    with mounted(tmp_path / "disk") as disk:
        (disk.path / "unsynced").write_bytes(b"a" * 5000)
        disk.cut_now(Cuts(str(tmp_path), 1, 1, "names", torn=100))
    left = [found.folder / "unsynced" for found in found_cuts(tmp_path)]
    assert [path.exists() for path in left[:2]] == [False, True]
    sizes = {path.stat().st_size for path in left if path.exists()}
    assert 5000 in sizes
    assert len(sizes) > 3


@pytest.mark.parametrize("words", [("user", "add", "ann"), ("backup",), ("restore",)])
def test_a_command_succeeds_or_can_be_repeated(tmp_path: Path, words: tuple[str, ...]) -> None:
    verdicts = Verdicts()
    cut_command(tmp_path / "command", verdicts, words, apart=90 if words[0] == "user" else 20)
    assert verdicts.faults == []
    assert verdicts.judged["lost"] == verdicts.judged["kept"] > 5


def test_nothing_that_a_service_acknowledged_is_lost(tmp_path: Path) -> None:
    verdicts = Verdicts()
    cut_service(tmp_path, verdicts, Cuts("", 400, 2, "service"))
    assert verdicts.faults == []
    assert verdicts.served >= 2
    assert verdicts.rebuilt
    assert verdicts.promises


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """All commands by name. They do not change the files that they read."""
    return trials(tmp_path_factory.mktemp("commands"))


# A failed builder leaves its files for Python to close, which fails, too.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("code", "count"), [(errno.EIO, 1), (errno.ENOSPC, FOR_GOOD)])
def test_a_command_on_a_failing_disk_reports_it_and_damages_nothing(
    commands: dict[str, Trial], tmp_path: Path, code: int, count: int
) -> None:
    tried = Tried()
    for name, trial in commands.items():
        step = 331 if name == "user add" else 109
        fail_each(tmp_path / "trial", trial, Fault(0, count, code), tried, step)
    assert tried.faults == []
    assert tried.refused > 5


def test_a_service_goes_on_when_its_disk_works_again(tmp_path: Path) -> None:
    verdicts = Verdicts()
    assert fail_under_service(tmp_path, verdicts, 2, "bursts") > 0
    assert verdicts.faults == []
    shutil.rmtree(tmp_path / "template")
