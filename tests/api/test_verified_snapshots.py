"""A snapshot altered while no process ran is never served, and each snapshot is read only once.

The tests count what is read, so nothing depends on the speed of the machine.
"""

import asyncio
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from mapshelf.api import create_app
from mapshelf.model import MapDraft
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.checksums import APPEND_FILES, write_manifest
from mapshelf.snapshot.format.manifest import read_manifest
from tests.examples import share
from tests.harness import BASE_URL, Service, Shelf, copied_shelf, outline_of, serve

pytestmark = pytest.mark.slow

PATHS = (
    *("/maps", "/maps?order_by=alpha&limit=50", "/maps?order_by=views", "/maps?category=4"),
    *("/maps?query=tea", "/maps?query=teq+house", "/search?query=zoo", "/suggest?query=te"),
    *("/facets", "/categories", "/software", "/maps/m3", "/users/me"),
)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A catalogue whose snapshot has every kind of file, and whose builder has ended."""
    drafts = [
        MapDraft(
            id=f"m{n}",
            title=f"tea house {n}",
            description=chr(97 + n) * 60_000,
            category_id=4,
            software="XMind",
            owner="ann",
            outline=outline_of("tea", "zoo"),
        )
        for n in range(20)
    ]
    with copied_shelf(tmp_path, *drafts) as made:
        made.put(MapDraft(id="m3", title="changed tea"), MapDraft(id="late", title="late"))
        made.store.delete_maps(["m5"])
        made.publish()
        made.end_building()
        yield made


def directory_of(shelf: Shelf) -> SnapshotDirectory:
    return SnapshotDirectory(shelf.settings.snapshots)


def folder_of(shelf: Shelf) -> Path:
    directory = directory_of(shelf)
    return directory.folder(directory.current())


def flip(path: Path, place: int) -> None:
    """Change a byte of a file in place."""
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 0x40]))


def bytes_read() -> int:
    """Return how many bytes this process has read so far."""
    return int(Path("/proc/self/io").read_text("ascii").split()[1])


def refused(service: Service, path: str) -> bool:
    """Return whether the service responds with 503 and ``Retry-After``."""
    response = service.get(path)
    return response.status_code == 503 and int(response.headers["Retry-After"]) >= 1


def answers_again(service: Service) -> None:
    service.wait_until(lambda: service.get("/maps").status_code == 200)


def shows(service: Service, title: str) -> None:
    """Wait until the service shows a map under another title."""
    service.wait_until(lambda: service.get("/maps/m1").json()["Title"] == title)


# -- altered while no process ran --------------------------------------------------------------


@pytest.mark.slow
def test_an_altered_snapshot_is_not_served(shelf: Shelf) -> None:
    folder = folder_of(shelf)
    files = {name: size for name, (size, _) in read_manifest(folder)["files"].items()}
    files["manifest.json"] = (folder / "manifest.json").stat().st_size
    assert len(files) > 60
    for number, (name, size) in enumerate(share(list(files.items()), 0)):
        if not size:
            continue
        place = (0, size // 2, size - 1)[number % 3]
        flip(folder / name, place)
        with serve(shelf) as service:
            asked = PATHS if not number else (PATHS[number % len(PATHS)],)
            assert all(refused(service, path) for path in (*asked, "/readyz")), name
            assert service.get("/healthz").status_code == 200
        flip(folder / name, place)
    with serve(shelf) as service:
        assert all(service.get(path).status_code == 200 for path in (*PATHS, "/readyz"))


def test_an_altered_snapshot_is_rebuilt(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    with serve(shelf) as service:
        right = {path: service.get(path).content for path in PATHS}
    flip(folder_of(shelf) / "records.bin", 100_000)
    with serve(shelf) as service, serve(shelf) as other:
        assert all(refused(one, path) for path in PATHS for one in (service, other))
        lines = [line for line in caplog.messages if "cannot be used" in line]
        assert len(lines) == 1
        assert "records.bin" in lines[0]
        shelf.publish()
        for one in (service, other):
            answers_again(one)
            assert {path: one.get(path).content for path in PATHS} == right


def test_a_copy_of_a_data_folder_is_not_trusted(shelf: Shelf, tmp_path: Path) -> None:
    """Not even while the original is being served."""
    with serve(shelf) as service:
        assert service.get("/maps").status_code == 200
        copy = tmp_path / "copy"
        shutil.copytree(shelf.settings.snapshots, copy)
        flip(copy / folder_of(shelf).name / "records.bin", 100_000)
    shutil.rmtree(shelf.settings.snapshots)
    copy.rename(shelf.settings.snapshots)
    with serve(shelf) as service:
        assert all(refused(service, path) for path in PATHS)


# -- read once ---------------------------------------------------------------------------------


@contextmanager
def altered(shelf: Shelf) -> Iterator[None]:
    """Change a word that no search here reads, so that only a full read finds the change."""
    path = folder_of(shelf) / "words.bin"
    flip(path, 0)
    yield
    flip(path, 0)


def test_a_replaced_process_does_not_read_the_snapshot_again(shelf: Shelf) -> None:
    for _ in range(2):  # when all processes have ended, the next one reads it again
        with serve(shelf), altered(shelf), serve(shelf) as second:
            assert second.get("/maps/m3").status_code == 200
        with altered(shelf), serve(shelf) as first:
            assert refused(first, "/maps/m3")


def test_of_processes_that_start_together_one_reads_the_snapshot(shelf: Shelf) -> None:
    folder, size = folder_of(shelf), 1 << 28
    with (folder / "ballast.bin").open("wb") as file:
        file.truncate(size)
    manifest = read_manifest(folder)
    growing = {name: tuple(manifest["files"][name]) for name in APPEND_FILES}
    (folder / "manifest.json").unlink()
    write_manifest(folder, manifest, growing, None)
    applications = [create_app(shelf.settings) for _ in range(3)]

    async def run() -> int:
        before = bytes_read()
        await asyncio.gather(*(one.start() for one in applications))
        await asyncio.gather(*(one.stop() for one in applications))
        return bytes_read() - before

    assert size <= asyncio.run(run()) < size + size // 2


def test_a_snapshot_published_meanwhile_is_not_read_again(shelf: Shelf) -> None:
    with serve(shelf) as service:
        assert service.get("/maps").status_code == 200
        for number in range(3):
            shelf.put(MapDraft(id="m1", title=f"newer {number}"))
            shelf.publish()
            with altered(shelf):
                shows(service, f"newer {number}")
                with serve(shelf) as another:
                    assert another.get("/maps/m1").json()["Title"] == f"newer {number}"
    # The list of verified snapshots must not grow, because only its beginning is read.
    assert len((shelf.settings.snapshots / "sound").read_text("ascii").splitlines()) <= 4


def test_a_builder_keeps_its_snapshot_verified_when_all_others_end(shelf: Shelf) -> None:
    shelf.put(MapDraft(id="m1", title="newer"))
    shelf.publish()
    with altered(shelf), serve(shelf) as service:
        assert service.get("/maps/m1").json()["Title"] == "newer"
    shelf.end_building()
    with altered(shelf), serve(shelf) as service:
        assert refused(service, "/maps/m1")


def test_without_a_shared_note_each_process_reads_the_snapshot(shelf: Shelf) -> None:
    for name in ("sound", "verifying"):
        (shelf.settings.snapshots / name).unlink()
        (shelf.settings.snapshots / name).mkdir()
    with serve(shelf) as service, serve(shelf) as another:
        assert service.get("/maps").content == another.get("/maps").content
        shelf.put(MapDraft(id="m1", title="newer"))
        shelf.publish()
        shows(another, "newer")
    shelf.end_building()
    flip(folder_of(shelf) / "records.bin", 100_000)
    with serve(shelf) as service:
        assert all(refused(service, path) for path in PATHS)


def test_lost_notes_are_written_again(shelf: Shelf) -> None:
    with serve(shelf) as service:
        assert service.get("/maps").status_code == 200
        for name in ("sound", "verifying"):
            (shelf.settings.snapshots / name).unlink()
        for number in range(3):
            shelf.put(MapDraft(id="m1", title=f"newer {number}"))
            shelf.publish()
            shows(service, f"newer {number}")
        with altered(shelf), serve(shelf) as another:
            assert another.get("/maps/m1").json()["Title"] == "newer 2"


# -- while a snapshot is read ------------------------------------------------------------------


def test_requests_get_503_while_the_snapshot_is_read(shelf: Shelf) -> None:
    """As with a large catalogue on a slow disk: another process reads it first, and takes long."""
    with (shelf.settings.snapshots / "verifying").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        with serve(shelf) as service:
            assert all(refused(service, path) for path in (*PATHS, "/readyz"))
            assert service.get("/healthz").status_code == 200
            fcntl.flock(turn, fcntl.LOCK_UN)
            answers_again(service)
            assert all(service.get(path).status_code == 200 for path in PATHS)


def test_without_lifespan_events_snapshots_are_still_verified(shelf: Shelf) -> None:
    """ASGI servers need not send lifespan events."""

    async def ready() -> httpx.Response:
        application = create_app(shelf.settings)
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            response = await client.get("/readyz")
        await application.stop()
        return response

    assert asyncio.run(ready()).status_code == 200
    flip(folder_of(shelf) / "records.bin", 100_000)
    assert asyncio.run(ready()).status_code == 503


def test_a_builder_started_while_the_snapshot_is_read_still_builds(shelf: Shelf) -> None:
    with (shelf.settings.snapshots / "verifying").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        builder = Builder(shelf.store, directory_of(shelf))
        shelf.put(MapDraft(id="m1", title="newer"))
        assert builder.advance()
        builder.close()
    with serve(shelf) as service:
        assert service.get("/maps/m1").json()["Title"] == "newer"
