"""Full and read-only disks and damaged databases are reported in one line each."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mapshelf.disk_space import RemovableSpace, disk_space
from tests.cli.process import EXAMPLES, Mapshelf, free_port, serving, status_of, wait_for
from tests.cli.test_commands import write_map
from tests.disks import mounted, small_disk
from tests.service.processes import children

pytestmark = pytest.mark.process


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB in memory."""
    with small_disk(tmp_path / "disk", 8) as folder:
        yield folder


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder read-only; skip the test if this user may write anyway."""
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        yield
    finally:
        folder.chmod(0o700)


def refused(mapshelf: Mapshelf, *words: str) -> str:
    """Run a command that must fail with one line; return the line."""
    (line,) = mapshelf.run(*words, expect=1).stderr.splitlines()
    return line


def refusals(mapshelf: Mapshelf) -> None:
    """Check that all commands that write are refused."""
    data = mapshelf.data
    line = refused(mapshelf, "serve", "--port", str(free_port()))
    assert line.startswith(f"mapshelf: the data folder {data} cannot be written: ")
    for words in (("user", "add", "bob"), ("import", str(EXAMPLES)), ("check",)):
        line = refused(mapshelf, *words)
        assert line == f"mapshelf: cannot open {data}/catalogue.db: {data} is read-only"


def test_a_read_only_disk_is_reported_in_a_line(disk: Path) -> None:
    mapshelf = Mapshelf(disk / "data")
    mapshelf.run("user", "add", "ann")
    assert mounted("mount", "-o", "remount,ro", disk)
    refusals(mapshelf)


def test_a_read_only_folder_is_reported_in_a_line(tmp_path: Path) -> None:
    mapshelf = Mapshelf(tmp_path / "data")
    mapshelf.run("user", "add", "ann")
    with read_only(mapshelf.data):
        refusals(mapshelf)


def test_a_full_disk_is_logged_once_and_building_continues_later(
    disk: Path, tmp_path: Path
) -> None:
    mapshelf = Mapshelf(disk / "data", f"sqlite://{tmp_path}/catalogue.db")
    mapshelf.run("import", EXAMPLES)
    token = mapshelf.token()
    log = tmp_path / "log"
    with log.open("wb") as stream, serving(mapshelf, token=token, log=stream) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() > 10)
        before = service.total()
        fill(disk / "filling")
        mapshelf.run("import", write_map(tmp_path / "a.mm", "Soil"))
        wait_for(lambda: "is full" in log.read_text())
        assert service.total() == before

        (disk / "filling").unlink()
        wait_for(lambda: service.total() == before + 1)

    text = log.read_text()
    assert "Traceback" not in text
    assert (
        text.count(f"building failed and will be retried: the disk of {mapshelf.data} is full") == 1
    )


def test_a_full_disk_of_the_database_is_reported_in_a_line(disk: Path) -> None:
    """SQLite says "disk I/O error" when it opens a database and cannot write beside it."""
    mapshelf = Mapshelf(disk / "data")
    mapshelf.run("user", "add", "ann")
    fill(disk / "filling")
    line = refused(mapshelf, "check")
    data = mapshelf.data
    assert line == f"mapshelf: cannot open {data}/catalogue.db: the disk of {data} is full"
    (disk / "filling").unlink()
    mapshelf.run("check")


def fill(path: Path) -> None:
    """Fill the disk with a file."""
    with path.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                return


def test_a_damaged_database_is_reported_in_a_line_by_a_new_worker(
    samples: Mapshelf, tmp_path: Path
) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    log = tmp_path / "log"
    lines = (
        "building failed and will be retried",
        "importing failed and will be retried",
        "the store is opened when",
    )
    with log.open("wb") as stream, serving(mapshelf, EXAMPLES, log=stream) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() > 10)
        (mapshelf.data / "catalogue.db").write_bytes(b"no database " * 1000)
        for child in children(service.process.pid):  # builder, importer, worker
            os.kill(child, signal.SIGKILL)

        wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
        wait_for(lambda: all(line in log.read_text() for line in lines))

    text = log.read_text()
    assert "Traceback" not in text
    for line in lines:
        assert text.count(line) == 1, text


def test_nothing_is_created_in_place_of_a_database_that_was_moved_away(
    samples: Mapshelf, tmp_path: Path
) -> None:
    """A new one would delete the log, in which the last changes may be."""
    mapshelf = samples.copied_to(tmp_path / "data")
    database, elsewhere = mapshelf.data / "catalogue.db", tmp_path / "elsewhere"
    log, token = tmp_path / "log", mapshelf.token()
    with log.open("wb") as stream, serving(mapshelf, EXAMPLES, token=token, log=stream) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() > 10)
        before = service.total()
        mapshelf.run("import", write_map(tmp_path / "a.mm", "Soil"))
        wait_for(lambda: service.total() == before + 1)
        database.rename(elsewhere)
        line = refused(mapshelf, "import", str(write_map(tmp_path / "b.mm", "Clay")))
        assert line.startswith(
            f"mapshelf: {database} is missing, but its last changes may be in {database}-"
        )
        for child in children(service.process.pid):  # builder, importer, worker
            os.kill(child, signal.SIGKILL)
        missing = f"there is no catalogue in {database}"
        lines = ("building failed", "importing failed", "the store is opened when it can be")
        wait_for(lambda: all(line in log.read_text() for line in lines))
        assert missing in log.read_text()
    assert not database.exists()

    with log.open("wb") as stream, serving(mapshelf, EXAMPLES, token=token, log=stream) as service:
        wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
        wait_for(lambda: "its last changes may be in" in log.read_text())
        assert not database.exists()
        elsewhere.rename(database)
        mapshelf.run("import", str(write_map(tmp_path / "b.mm", "Clay")))
        service.wait_until_ready()
        wait_for(lambda: service.total() == before + 2)
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    "folders", [["thumbnails/00", "documents/00"], ["documents/00"], ["thumbnails/00"]]
)
def test_cached_files_make_room_for_a_snapshot(tmp_path: Path, folders: list[str]) -> None:
    """Whatever is noted about thumbnails alone."""
    with small_disk(tmp_path / "disk", 24) as disk:
        mapshelf = Mapshelf(disk / "data", f"sqlite://{tmp_path}/catalogue.db")
        log = tmp_path / "log"
        mapshelf.run("import", EXAMPLES)
        for number in range(512):
            folder = mapshelf.data / folders[number % len(folders)]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}").write_bytes(bytes(32_768))
        if len(folders) == 2:
            RemovableSpace(mapshelf.data / "thumbnails" / "removable").note(0)
        fill(disk / "filling")
        with log.open("wb") as stream, serving(mapshelf, log=stream) as service:
            service.wait_until_ready()
            assert service.total() > 10
    assert "removed cached files" in log.read_text()


def test_cached_files_make_room_for_changes(tmp_path: Path) -> None:
    """Even if the disk is so full that there is nothing to build."""
    with small_disk(tmp_path / "disk", 24) as disk:
        mapshelf = Mapshelf(disk / "data")
        mapshelf.run("import", EXAMPLES)
        for number in range(256):
            folder = mapshelf.data / "documents" / f"{number % 4:02x}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}").write_bytes(bytes(32_768))
        with serving(mapshelf) as service:
            service.wait_until_ready()
            before = service.total()
            fill(disk / "filling")
            wait_for(lambda: disk_space(disk).free > 1 << 20)
            mapshelf.run("import", write_map(tmp_path / "a.mm", "Soil"))
            wait_for(lambda: service.total() == before + 1)


def test_few_inodes_are_shown(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8, "nr_inodes=400") as disk:
        mapshelf = Mapshelf(disk / "data")
        mapshelf.run("user", "add", "ann")
        shown = mapshelf.run("status").stdout
        facts = json.loads(mapshelf.run("status", "--json").stdout)
    assert 300 < facts["free_inodes"] < 400
    assert f"only {facts['free_inodes']} free inodes" in " ".join(shown.split())
