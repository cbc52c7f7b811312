"""Large files are read from the store in chunks, and only once."""

import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from mapshelf import disk_cache
from mapshelf.api.documents import (
    FILE_PIECE,
    LARGE_FILE,
    LARGEST,
    MOST_IN_MEMORY,
    Content,
    Documents,
    Kind,
    MapOutline,
)
from mapshelf.api.streaming import open_body
from mapshelf.api.work_queue import WorkQueue
from mapshelf.disk_cache import DiskCache
from mapshelf.disk_space import DiskSpace, Reserve
from mapshelf.errors import NotFound, Overloaded, StoreDamaged
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import KeptFile, Outline, Topic, sheets_of

KIND: Final = Kind(b"text/plain", ())
LARGE: Final = random.Random(1).randbytes(3 * FILE_PIECE)
EASILY_PACKED: Final = bytes(20 * FILE_PIECE)


@contextmanager
def documents(folder: Path) -> Iterator[Documents]:
    made = Documents(
        DiskCache(folder, 1 << 30, folders=1, left_free=Reserve(1 << 29, 0.1)),
        WorkQueue("documents", 1, 1),
    )
    yield made
    made.close()


def kept(packed: bytes) -> tuple[KeptFile, Content, list[int]]:
    """Return a file, a function that reads it, and a list of the sizes that were read."""
    read: list[int] = []

    def content(start: int, size: int) -> bytes:
        read.append(len(packed[start : start + size]))
        return packed[start : start + size]

    return KeptFile("a.mm", b"d" * 32, len(packed)), content, read


@pytest.mark.parametrize("body", [b"", b"x", bytes(LARGE_FILE - 1), EASILY_PACKED, LARGE])
def test_a_file_is_returned_unchanged(tmp_path: Path, body: bytes) -> None:
    file, content, read = kept(zlib.compress(body))
    with documents(tmp_path) as made:
        response = made.of_file(file, content, KIND)
    assert (response.file is not None) == (len(body) >= LARGE_FILE)
    assert dict(response.headers)[b"content-length"] == str(len(body)).encode()
    with open_body(response) as opened:
        assert opened.read() == body
    assert max(read) <= FILE_PIECE


def test_a_file_on_disk_is_not_read_from_the_store(tmp_path: Path) -> None:
    file, content, read = kept(zlib.compress(LARGE))
    with documents(tmp_path) as made, documents(tmp_path) as others:
        made.of_file(file, content, KIND)
        needed = sum(read)
        for worker in (made, others):
            assert worker.of_file(file, content, KIND).size == len(LARGE)
    assert sum(read) == needed


@pytest.mark.parametrize("body", [b"x" * 1000, LARGE])
def test_a_damaged_file_is_reported_and_not_kept(tmp_path: Path, body: bytes) -> None:
    packed = zlib.compress(body)
    for damaged in (packed[:-5], b"?" + packed[1:]):
        file, content, _ = kept(damaged)
        with documents(tmp_path) as made, pytest.raises(StoreDamaged):
            made.of_file(file, content, KIND)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]


def test_a_file_replaced_while_it_is_read_can_be_requested_again(tmp_path: Path) -> None:
    file, content, _ = kept(zlib.compress(LARGE))

    def replaced(start: int, size: int) -> bytes:
        return content(start, size) if start < 2 * FILE_PIECE else b""

    with documents(tmp_path) as made:
        with pytest.raises(Overloaded):
            made.of_file(file, replaced, KIND)
        assert made.of_file(file, content, KIND).size == len(LARGE)


def test_a_file_is_sent_from_memory_while_the_disk_is_full_unless_it_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = DiskSpace(1 << 40, (1 << 29) - 1)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
    with documents(tmp_path) as made:
        file, content, _ = kept(zlib.compress(LARGE))
        assert made.of_file(file, content, KIND).body == LARGE
        large = random.Random(2).randbytes(MOST_IN_MEMORY + 1)
        for body in (large, EASILY_PACKED):
            file, content, _ = kept(zlib.compress(body, 1))
            with pytest.raises(Overloaded, match="disk"):
                made.of_file(file, content, KIND)
        disk = disk._replace(free=(1 << 29) + len(EASILY_PACKED))
        assert made.of_file(file, content, KIND).file


def test_nothing_is_removed_for_a_file_that_is_too_large_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However well it is compressed in the store."""
    with documents(tmp_path) as made:
        file, content, _ = kept(zlib.compress(LARGE))
        before = made.of_file(file, content, KIND)
        disk = DiskSpace(1 << 40, (1 << 29) + len(EASILY_PACKED) - len(LARGE) - 8192)
        monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
        file, content, _ = kept(zlib.compress(EASILY_PACKED))
        with pytest.raises(Overloaded, match="disk"):
            made.of_file(replace(file, digest=b"e" * 32), content, KIND)
    assert before.file
    assert before.file.is_there()


def largest(_: Outline, size: int) -> bytes:
    return bytes(size)


@pytest.mark.process
def test_a_document_is_not_made_if_it_is_too_large(tmp_path: Path) -> None:
    outline = MapOutline(encode_outline(Outline(sheets_of((Topic("Huge"),)))), "")
    nowhere = tmp_path / "file"
    nowhere.touch()
    with documents(tmp_path / "documents") as made, documents(nowhere) as full:
        with pytest.raises(NotFound, match="too large"):
            made.of_outline(largest, outline, (LARGEST + 1,), KIND)
        assert made.of_outline(largest, outline, (MOST_IN_MEMORY + 1,), KIND).file
        assert full.of_outline(largest, outline, (MOST_IN_MEMORY,), KIND).body
        with pytest.raises(Overloaded, match="disk"):
            full.of_outline(largest, outline, (MOST_IN_MEMORY + 1,), KIND)
