"""The sandbox with real child processes: each limit refuses one file, and the others are read."""

import errno
import hashlib
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing.popen_spawn_posix import Popen
from pathlib import Path

import pytest

from mapshelf.errors import ReadingEnded, StoreUnavailable
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.readers import Limits, sandboxed_reader
from mapshelf.readers.parsing.limits import MIB
from mapshelf.readers.read_task import PendingRead, ReadTask
from mapshelf.readers.sandboxed_reader import ReadFile, RefusedFile, SandboxedReader, read_file
from tests.examples import few
from tests.readers.hostile import hostile_readers
from tests.readers.samples import freemind

pytestmark = pytest.mark.process

REPOSITORY = Path(__file__).resolve().parents[2]

HOSTILE_LIMITS = Limits(cpu_seconds=1, wall_seconds=60.0, memory=256 * MIB)


@pytest.fixture(scope="module", autouse=True)
def lending() -> None:
    """Replace the fixture that shares child processes: each test here starts its own."""


def write_map(folder: Path, name: str, text: str = "Root") -> str:
    path = folder / name
    path.write_bytes(freemind(f'<node TEXT="{text}"><node TEXT="child"/></node>'))
    return str(path)


@pytest.fixture(scope="module")
def hostile() -> Iterator[SandboxedReader]:
    with SandboxedReader(workers=1, limits=HOSTILE_LIMITS, readers=hostile_readers) as reader:
        yield reader


def misbehaving(folder: Path, name: str) -> str:
    path = folder / f"{name}.mm"
    path.write_bytes(b"!" + name.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spin", "reading it took more than 1 s of processor time"),
        ("swallow", "reading it takes more memory than is allowed"),
        ("segfault", "the process reading it crashed"),
        ("killed", "the process reading it was killed, perhaps for lack of memory"),
        ("leave", "the process reading it crashed"),
        ("mistake", "the reader failed (KeyError), please report"),
    ],
)
def test_exceeding_a_limit_refuses_one_file_only(
    hostile: SandboxedReader, tmp_path: Path, name: str, reason: str
) -> None:
    before = write_map(tmp_path, "a.mm", "before")
    bad = misbehaving(tmp_path, name)
    after = write_map(tmp_path, "z.mm", "after")
    first, refused, last = hostile.read([before, bad, after])
    assert isinstance(first, ReadFile)
    assert refused == RefusedFile(bad, reason)
    assert isinstance(refused, RefusedFile)
    assert (refused.kind is ReadingEnded) is (name == "killed")
    assert isinstance(last, ReadFile)
    assert (first.title, last.title) == ("before", "after")


def test_a_slow_file_is_the_only_one_refused(tmp_path: Path) -> None:
    # Long enough for a valid file on a busy machine.
    limits = replace(HOSTILE_LIMITS, wall_seconds=15.0)
    bad = misbehaving(tmp_path, "sleep")
    after = write_map(tmp_path, "z.mm", "after")
    with SandboxedReader(workers=1, limits=limits, readers=hostile_readers) as reader:
        refused, last = reader.read([bad, after])
    assert refused == RefusedFile(bad, "reading it took longer than 15 seconds")
    assert isinstance(last, ReadFile)


@pytest.mark.parametrize(("name", "expected"), [("write", "refused: OSError")])
def test_child_cannot_write_files(
    hostile: SandboxedReader, tmp_path: Path, name: str, expected: str
) -> None:
    (result,) = hostile.read([misbehaving(tmp_path, name)])
    assert isinstance(result, ReadFile)
    assert result.title == expected


def test_child_has_few_descriptors(hostile: SandboxedReader, tmp_path: Path) -> None:
    (result,) = hostile.read([misbehaving(tmp_path, "open_many")])
    assert isinstance(result, ReadFile)
    assert 1 <= int(result.title) < 32


def test_the_processor_time_limit_is_per_file(hostile: SandboxedReader, tmp_path: Path) -> None:
    path = misbehaving(tmp_path, "work")
    results = list(
        hostile.read([path] * 15)
    )  # 3 seconds together; the limit is one second per file
    assert [result for result in results if isinstance(result, RefusedFile)] == []


def test_death_of_idle_children_is_survived(tmp_path: Path) -> None:
    path = write_map(tmp_path, "map.mm")
    others = set(multiprocessing.active_children())
    with SandboxedReader(workers=2) as reader:
        assert all(isinstance(result, ReadFile) for result in reader.read([path]))
        children = set(multiprocessing.active_children()) - others
        assert len(children) == 2
        for child in children:
            child.kill()
        results = list(reader.read([path] * 40))
        assert all(isinstance(result, ReadFile) for result in results)
        assert len(results) == 40
    assert set(multiprocessing.active_children()) <= others


def test_sandboxed_results_are_complete(tmp_path: Path) -> None:
    path = write_map(tmp_path, "map.mm", "Tïtle")
    with SandboxedReader(workers=1) as reader:
        (result,) = reader.read([path])
    assert result == read_file(path, Limits())
    assert isinstance(result, ReadFile)
    data = Path(path).read_bytes()
    assert result.path == path
    assert result.size == len(data)
    assert result.modified_ns == Path(path).stat().st_mtime_ns
    assert result.digest == hashlib.sha256(data).digest()
    assert [t.text for _, t in decode_outline(result.outline).topics()] == ["Tïtle", "child"]
    assert (result.title, result.description) == ("Tïtle", "child")
    assert (result.software, result.template) == ("FreeMind", False)


def test_order_is_kept_and_look_ahead_bounded(tmp_path: Path) -> None:
    path = write_map(tmp_path, "map.mm")
    missing = str(tmp_path / "missing.mm")
    taken = itertools.count()

    def endless() -> Iterator[str]:
        for number in taken:
            yield missing if number % 3 == 0 else path

    with SandboxedReader(workers=2) as reader:
        results = list(itertools.islice(reader.read(endless()), 40))
    assert [type(result) for result in results[:3]] == [RefusedFile, ReadFile, ReadFile]
    assert [result.path for result in results] == [
        missing if number % 3 == 0 else path for number in range(40)
    ]
    assert next(taken) <= 40 + 16


def test_few_large_files_are_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_reader, "_MOST_BYTES", 1)
    path, taken = write_map(tmp_path, "map.mm"), itertools.count()
    with SandboxedReader(workers=2) as reader:
        read = reader.read(path for _ in taken)
        assert len(list(itertools.islice(read, 10))) == 10
    assert next(taken) <= 10 + 3


def test_pictures_in_other_files_count_once_a_map_is_read(tmp_path: Path) -> None:
    read = read_file(write_map(tmp_path, "map.mm"), Limits())
    assert isinstance(read, ReadFile)
    future: Future[ReadFile] = Future()
    pending = PendingRead(ReadTask("map.mm", ""), future, size=10)
    assert pending.in_memory() == 10
    future.set_result(replace(read, images={"digest": bytes(5000)}))
    assert pending.in_memory() == len(read.content) + 5000


def test_no_file_is_refused_if_no_child_can_be_started_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance, because there are too many processes."""
    launch, refused = Popen.__dict__["_launch"], 2

    def refusing(process: Popen, *arguments: object) -> None:
        nonlocal refused
        refused -= 1
        if refused >= 0:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        launch(process, *arguments)

    monkeypatch.setattr(Popen, "_launch", refusing)
    monkeypatch.setattr(sandboxed_reader, "_PAUSES", (0.0, 0.0, 0.0))
    path = write_map(tmp_path, "map.mm")
    with SandboxedReader(workers=1) as reader:
        assert all(isinstance(result, ReadFile) for result in reader.read([path] * 10))
        assert refused < 0
        monkeypatch.undo()


def test_an_import_ends_if_no_child_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or all files would be refused."""

    def refusing(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(Popen, "_launch", refusing)
    monkeypatch.setattr(sandboxed_reader, "_PAUSES", (0.0, 0.0, 0.0))
    with (
        SandboxedReader(workers=1) as reader,
        pytest.raises(StoreUnavailable, match="no child process can be started"),
    ):
        list(reader.read([write_map(tmp_path, "map.mm")]))


def test_the_deepest_tree_passes_the_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "deep.mm"
    path.write_bytes(freemind("<node>" * 256 + "</node>" * 256))
    with SandboxedReader(workers=1) as reader:
        (result,) = reader.read([str(path)])
    assert isinstance(result, ReadFile)
    assert sum(1 for _ in decode_outline(result.outline).topics()) == 256


def refusal(path: str, limits: Limits | None = None) -> str:
    result = read_file(path, limits or Limits())
    assert isinstance(result, RefusedFile)
    assert "\n" not in result.reason
    return result.reason


def test_links_created_after_the_scan_are_not_followed(tmp_path: Path) -> None:
    """Somebody could replace a file or folder by a link between the scan and the reading."""
    secret, maps = tmp_path / "secret", tmp_path / "maps"
    secret.mkdir()
    maps.mkdir()
    kept = write_map(secret, "kept.mm")
    (maps / "file.mm").symlink_to(kept)
    (maps / "folder").symlink_to(secret, target_is_directory=True)
    with zipfile.ZipFile(secret / "all.zip", "w") as archive:
        archive.write(kept, "kept.mm")
    (maps / "archive").symlink_to(secret / "all.zip")
    for name in ("file.mm", "folder/kept.mm", "archive/kept.mm"):
        path = str(maps / name)
        assert isinstance(
            read_file(path, Limits()), ReadFile
        )  # links in a path that the user named are followed
        refused = read_file(path, Limits(), folder=str(maps))
        assert isinstance(refused, RefusedFile)
        assert refused.reason.startswith("it cannot be opened")
    inside = write_map(maps, "inside.mm")
    assert isinstance(read_file(inside, Limits(), folder=str(maps)), ReadFile)


def test_special_files_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.mm"
    os.mkfifo(pipe)
    start = time.monotonic()
    assert refusal(str(pipe)) == "it is not an ordinary file"
    assert refusal("/dev/zero") == "it is not an ordinary file"
    assert refusal(str(tmp_path)) == "it is not an ordinary file"
    assert refusal(str(tmp_path / "none.mm")) == "it cannot be opened: No such file or directory"
    assert refusal("a\x00b") == "it cannot be opened: its name holds a NUL character"
    assert time.monotonic() - start < 60


def test_refusing_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in (str(tmp_path), "/dev/zero", str(tmp_path / "none")):
        refusal(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.mm"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(str(path)) == "the file is larger than 32 MiB"


def test_name_that_is_not_text(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.mm")
    Path(path).write_bytes(freemind("<node/>"))
    with SandboxedReader(workers=1) as reader:
        (result,) = reader.read([path])
    assert isinstance(result, ReadFile)
    assert (result.path, result.title) == (path, "Untitled")


PROGRAM = textwrap.dedent(
    """
    import itertools, signal, sys
    from mapshelf.readers.sandboxed_reader import SandboxedReader

    def main():
        # Whoever runs the tests in the background lets them ignore interrupts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with SandboxedReader(workers=2) as reader:
            for number, _ in enumerate(reader.read(itertools.repeat(sys.argv[1]))):
                if number == 20:
                    print("running", flush=True)

    if __name__ == "__main__":
        main()
    """
)


@pytest.mark.parametrize(
    ("signal_number", "to_group"),
    [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGKILL, False)],
)
def test_no_child_survives_the_parent(
    tmp_path: Path, signal_number: signal.Signals, to_group: bool
) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(script), write_map(tmp_path, "map.mm")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "running\n"
            assert len(processes_of_session(parent.pid)) >= 3
            if to_group:
                os.killpg(parent.pid, signal_number)
            else:
                parent.send_signal(signal_number)
            _, errors = parent.communicate(timeout=20)
        finally:
            parent.kill()
    assert parent.returncode != 0
    # At most one, for the KeyboardInterrupt of the parent; the children print nothing.
    assert errors.count("Traceback") <= (signal_number == signal.SIGINT)
    assert wait_until_none(parent.pid) == []


def processes_of_session(session: int) -> list[int]:
    """Return the ids of the running processes of ``session``."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def wait_until_none(session: int) -> list[int]:
    """Wait up to ten seconds until the processes of ``session`` end; return those left."""
    deadline = time.monotonic() + 10
    while (left := processes_of_session(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def test_children_load_no_part_of_the_store(tmp_path: Path) -> None:
    code = "import sys, mapshelf.readers.sandboxed_reader; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    heavy = {"numpy", "tantivy", "apsw", "granian", "rich", "mapshelf.store", "mapshelf.api"}
    assert heavy.isdisjoint(output.split())


def test_children_that_are_still_starting_end_without_errors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first child has read its file long before the last of several has started."""
    path = write_map(tmp_path, "map.mm")
    for _ in range(few(8)):  # several attempts, because it depends on timing
        with SandboxedReader(workers=6) as reader:
            assert list(reader.read([path]))
    assert capfd.readouterr().err == ""
