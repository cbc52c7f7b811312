"""The disk cache returns only intact results, and stays within its limit with many processes."""

import os
import pickle
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import pytest
import xxhash

from mapshelf import disk_cache
from mapshelf.disk_cache import LEAST_SIZE, DiskCache, DiskCacheOfDownloads, DiskCacheOfFew
from mapshelf.disk_space import DiskSpace, Reserve, disk_space
from tests.disks import small_disk

KEY = "ab" + "0" * 30
SIZE = 1 << 24
BLOCK = 4096


def files(folder: Path) -> list[Path]:
    """Return the files with results."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "removable"]


def test_a_stored_result_is_found(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "made" / "later", SIZE)
    assert cache.get(KEY) is None
    cache.put(KEY, b"picture")
    cache.put(KEY, b"picture")
    assert cache.get(KEY) == DiskCache(tmp_path / "made" / "later", SIZE).get(KEY) == b"picture"
    assert len(files(tmp_path)) == 1


def test_the_cache_folder_is_private(tmp_path: Path) -> None:
    """It contains pages and pictures of private maps, and others may read the data folder."""
    DiskCache(tmp_path / "put", SIZE).put(KEY, b"picture")
    with DiskCache(tmp_path / "turn", SIZE).turn():
        pass
    for name in ("put", "turn"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 16, b"x" * 40])
def test_a_damaged_picture_does_not_count(tmp_path: Path, damage: bytes) -> None:
    cache = DiskCache(tmp_path, SIZE)
    cache.put(KEY, b"picture")
    (path,) = files(tmp_path)
    path.write_bytes(damage)
    assert cache.get(KEY) is None
    cache.put(KEY, b"picture")
    assert cache.get(KEY) == b"picture"


def test_the_least_recently_used_result_makes_room(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 256 * 8 * BLOCK)
    keys = [f"ab{number:030}" for number in range(20)]
    for age, key in enumerate(keys):
        cache.put(key, b"x" * BLOCK)  # two blocks with its checksum
        os.utime(tmp_path / key[:2] / key[2:], (1_000_000_000 + age,) * 2)
        if age == 2:
            assert cache.get(keys[0])  # now it is no longer the least recently used
    assert [key for key in keys if cache.get(key)] == [keys[0], *keys[-3:]]


def test_a_file_is_found_with_its_checksum_and_can_be_read_in_pieces(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, SIZE)
    assert cache.find(KEY) is None
    cache.put(KEY, b"document")
    found = cache.find(KEY)
    assert found is not None
    assert (found.size, found.digest) == (8, xxhash.xxh3_128_hexdigest(b"document"))
    with found.open() as file:
        assert [file.read(3) for _ in range(4)] == [b"doc", b"ume", b"nt", b""]
    assert found.is_there()
    found.path.write_bytes(found.path.read_bytes()[:-1])
    assert cache.find(KEY) is None
    found.path.unlink()
    assert not found.is_there()


def test_a_file_that_was_found_before_is_not_read_again(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 256 * SIZE)
    cache.put(KEY, b"x" * SIZE)
    found = cache.find(KEY)
    before = bytes_read()
    assert cache.find(KEY) == found
    assert bytes_read() - before < SIZE
    cache.put(KEY, b"y" * SIZE)  # replaces the file
    assert cache.find(KEY) != found


def bytes_read() -> int:
    """Return how many bytes this process has read so far."""
    return int(Path("/proc/self/io").read_text("ascii").split()[1])


def test_a_result_that_comes_in_pieces_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, SIZE)

    def broken() -> Iterator[bytes]:
        yield b"pic"
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - the one above
        cache.put_pieces(KEY, broken(), 7)
    assert files(tmp_path) == []
    assert cache.put_pieces(KEY, iter((b"pic", b"ture")), 7)
    found = cache.find(KEY)
    assert found is not None
    with found.open() as content:
        assert content.read() == cache.get(KEY) == b"picture"
    assert found.digest == xxhash.xxh3_128_hexdigest(b"picture")


def test_the_last_result_stays_even_if_it_is_too_large(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 4 * 10_000, folders=4)
    cache.put("00" + "1" * 30, b"x" * 6000)
    cache.put("04" + "2" * 30, b"x" * 20_000)
    assert cache.get("00" + "1" * 30) is None
    assert cache.get("04" + "2" * 30) == b"x" * 20_000
    assert len(files(tmp_path)) == 1


def test_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, SIZE)
    cache.put(KEY, b"picture")
    part = tmp_path / "ab" / ("0" * 30 + ".part")
    part.write_bytes(b"half")
    cache.put(KEY, b"picture")
    assert part.exists()
    os.utime(part, (time.time() - 7200,) * 2)
    cache.put(KEY, b"picture")
    assert [path.name for path in files(tmp_path)] == ["0" * 30]


def test_an_unwritable_folder_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(tmp_path / "file", SIZE)
    cache.put(KEY, b"picture")
    cache.put(KEY, b"picture")
    assert cache.get(KEY) is None
    assert [record.message for record in caplog.records] == [
        f"cannot keep results in {tmp_path / 'file'}: Not a directory"
    ]


def test_folders_of_a_cache_with_more_of_them_are_removed(tmp_path: Path) -> None:
    for cache in (DiskCache(tmp_path, SIZE), DiskCache(tmp_path, SIZE, folders=64)):
        for key in ("3f" + KEY[2:], "40" + KEY[2:]):
            cache.put(key, b"picture")
    assert len(files(tmp_path)) == 3
    cache.remove_unused_folders()
    assert sorted(path.parent.name for path in files(tmp_path)) == ["00", "3f"]


@pytest.mark.parametrize("total", [50 * BLOCK, 1000 * BLOCK])
def test_free_space_is_left_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total: int
) -> None:
    cache = DiskCache(tmp_path, SIZE, left_free=Reserve(10 * BLOCK, 0.1))
    disk = DiskSpace(total, min(10 * BLOCK, total // 10) + BLOCK)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
    assert cache.put(KEY, b"picture")
    disk = disk._replace(free=disk.free - 2 * BLOCK)
    other = KEY[::-1]
    assert not cache.put(other, b"picture")
    assert not cache.put_pieces(other, iter([b"picture"]), 7)
    assert cache.get(KEY) == b"picture"
    assert len(files(tmp_path)) == 1, "a partial file was left"
    assert DiskCache(tmp_path, SIZE).put(other, b"picture")


class Disk:
    """A disk of 1000 blocks with the files below a folder.

    Attributes:
        left: how many blocks it has for them, besides ten.
    """

    def __init__(self, folder: Path, left: int) -> None:
        self.left = left
        self._folder = folder

    def __call__(self, _: Path) -> DiskSpace:
        used = sum(path.stat().st_blocks * 512 for path in files(self._folder))
        return DiskSpace(1000 * BLOCK, (10 + self.left) * BLOCK - used)


TEN: Final = Reserve(10 * BLOCK, 0.1)
RESULT: Final = bytes(BLOCK - 16)  # a block with its checksum


def test_on_a_full_disk_the_least_recently_used_results_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, disk = DiskCache(tmp_path, SIZE, folders=2, left_free=TEN), Disk(tmp_path, 4)

    def stored() -> list[str]:
        return [key for key in keys if any(tmp_path.glob(f"*/{key[2:]}"))]

    monkeypatch.setattr(disk_cache, "disk_space", disk)
    keys = [f"0{number}" * 16 for number in (1, 2, 3, 4, 6)]
    for age, key in enumerate(keys):  # two in one folder, three in the other
        assert cache.put(key, RESULT)
        (path,) = tmp_path.glob(f"*/{key[2:]}")
        os.utime(path, (1_000_000_000 + age,) * 2)
    assert stored() == [keys[0], *keys[2:]], "the oldest in its folder made room"
    disk.left = 1
    assert cache.put(KEY, b"picture"), "only one folder makes room"
    assert not stored()
    disk.left = -5
    assert not cache.put(KEY[::-1], b"picture")
    assert len(files(tmp_path)) == 1, "files were removed although that is not enough"


def test_on_a_full_disk_other_caches_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches: list[DiskCache] = []
    other = DiskCache(tmp_path / "other", SIZE)
    cache = DiskCache(tmp_path / "own", SIZE, left_free=TEN, others=caches)
    caches += cache, other
    disk = Disk(tmp_path, 6)
    monkeypatch.setattr(disk_cache, "disk_space", disk)
    keys = [f"ab{number}" + "0" * 29 for number in range(1, 4)]
    for key in keys:
        assert other.put(key, RESULT)
        assert cache.put(key, RESULT)
    disk.left = 4
    assert cache.put(KEY, RESULT)
    assert [path.name for path in files(tmp_path / "own")] == [KEY[2:]]
    assert len(files(tmp_path / "other")) == 3, "the own results are removed first"
    disk.left = 1
    assert cache.put(keys[0], RESULT)
    assert [path.name for path in files(tmp_path / "own")] == [keys[0][2:]]
    assert not files(tmp_path / "other")


def test_nothing_is_removed_for_a_result_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path, SIZE, left_free=TEN)
    assert cache.put(KEY, RESULT)
    monkeypatch.setattr(disk_cache, "disk_space", Disk(tmp_path, 1))
    other = KEY[::-1]
    assert not cache.put_pieces(other, iter([b"x"] * 9000), 9000)
    assert cache.get(KEY) == RESULT
    assert cache.put_pieces(other, iter([b"x"] * 4000), 4000)
    assert cache.get(KEY) is None


def test_all_results_are_not_looked_at_again_at_once_if_they_are_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be 100,000, and somebody who requests what does not fit again and again."""
    looks, now = [0], [time.monotonic()]
    scandir = os.scandir

    def counted(folder: Path) -> Any:
        looks[0] += 1
        return scandir(folder)

    cache = DiskCache(tmp_path, SIZE, left_free=TEN)
    assert cache.put(KEY, RESULT)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: DiskSpace(1000 * BLOCK, 10 * BLOCK))
    monkeypatch.setattr("mapshelf.disk_cache.os.scandir", counted)
    monkeypatch.setattr("mapshelf.disk_space.monotonic", lambda: now[0])
    other = KEY[::-1]
    for _ in range(3):
        assert not cache.put(other, bytes(9000))
    once = looks[0]
    copy = pickle.loads(pickle.dumps(cache))  # as in a child process
    assert not copy.put(other, bytes(9000))
    assert looks[0] == once
    now[0] += 30
    assert not cache.put(other, bytes(9000))
    assert looks[0] > once
    assert cache.put(other, RESULT), "less has room"


def test_a_disk_may_show_only_later_what_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XFS and btrfs do, the latter after up to 30 seconds."""
    cache = DiskCache(tmp_path, SIZE, left_free=TEN)
    for number in range(8):
        assert cache.put(f"ab{number:030}", RESULT)
    disk = DiskSpace(1000 * BLOCK, 9 * BLOCK)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
    assert cache.put(KEY[::-1], RESULT)
    assert len(files(tmp_path)) == 7, "two made room for one"
    disk = DiskSpace(1000 * BLOCK, 5 * BLOCK)
    assert not cache.put(KEY.replace("0", "1"), RESULT), "the disk was filled"


def test_results_that_are_being_sent_make_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = bytes(32 * BLOCK - 16)
    cache, keys = DiskCache(tmp_path, 256 * SIZE, left_free=TEN), [KEY, KEY.replace("0", "1")]
    for key in keys:
        assert cache.put(key, large)
        os.utime(tmp_path / key[:2] / key[2:], (1_000_000_000,) * 2)
    found = cache.find(KEY)
    assert found is not None
    os.utime(found.path, (999_999_999,) * 2)
    monkeypatch.setattr(disk_cache, "disk_space", Disk(tmp_path, 64))
    with found.open():
        assert cache.put(KEY[::-1], large)
        assert [path.name for path in files(tmp_path)] == [KEY[::-1][2:]]


def test_unfinished_files_make_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.disk_space.KNOWN_FOR", 0)
    cache = DiskCache(tmp_path, SIZE, left_free=TEN)
    assert cache.put(KEY, b"picture")
    unfinished = tmp_path / KEY[:2] / "result.of another process"
    unfinished.write_bytes(bytes(2 * BLOCK))
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: DiskSpace(1000 * BLOCK, 8 * BLOCK))
    assert not cache.put(KEY, b"another picture")
    assert sorted(files(tmp_path)) == sorted([tmp_path / KEY[:2] / KEY[2:], unfinished])
    os.utime(unfinished, (time.time() - 7200,) * 2)  # that process must be dead
    monkeypatch.setattr(disk_cache, "disk_space", Disk(tmp_path, 1))
    assert cache.put(KEY, b"another picture")
    assert not unfinished.exists()


def test_results_that_are_open_may_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.disk_space.KNOWN_FOR", 0)
    kept = DiskCacheOfDownloads(tmp_path / "kept", LEAST_SIZE, folders=1, left_free=TEN)
    cache = DiskCache(tmp_path / "cache", SIZE, left_free=TEN, others=[kept])
    assert kept.put(KEY, RESULT)
    found = kept.find(KEY)
    assert found is not None
    with found.open() as file, found.open():
        other, another = KEY.replace("0", "1"), KEY[::-1]
        assert kept.put(other, RESULT)
        assert kept.put(another, RESULT), "the folder is full"
        for key in (other, another):
            assert kept.get(key) == RESULT, "a new one stays until it can be opened"
            os.utime(tmp_path / "kept" / "00" / key[2:], (time.time() - 60,) * 2)
        assert kept.put(another, RESULT)
        assert kept.get(other) is None
        kept.remove_older_than(-1)
        assert [path.name for path in files(tmp_path / "kept")] == [KEY[2:]]
        monkeypatch.setattr(disk_cache, "disk_space", Disk(tmp_path, 1))
        assert not cache.put(KEY, b"picture"), "it was removed to make room"
        assert not kept.put(other, RESULT)
        assert file.read() == RESULT
        assert found.is_there()
        os.utime(found.path, (time.time() - 7200,) * 2)
        assert cache.put(KEY, b"picture"), "it stays for an hour at most"
    assert not found.is_there()
    with pytest.raises(FileNotFoundError):
        found.open()


def test_a_result_that_is_open_is_replaced_under_its_key(tmp_path: Path) -> None:
    kept = DiskCacheOfDownloads(tmp_path, SIZE, folders=1)
    assert kept.put(KEY, RESULT)
    found = kept.find(KEY)
    assert found is not None
    with found.open() as file:
        kept.remove_beginning_with(KEY[:-1], but=KEY)
        assert found.is_there()
        unfinished = found.path.with_name(f"{found.path.name}.unfinished")
        unfinished.touch()
        kept.remove_beginning_with(KEY[:-1])
        assert files(tmp_path) == [unfinished]
        assert file.read() == RESULT


def test_tiny_results_count_for_the_space_that_file_systems_need_for_them(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "many", 4 * LEAST_SIZE, folders=1)
    few = DiskCacheOfFew(tmp_path / "few", 3 << 20, folders=1)
    for number in range(10):
        for one in (cache, few):
            assert one.put(f"ab{number:030}", b"")
    assert len(files(tmp_path / "many")) == 4
    assert len(files(tmp_path / "few")) == 3


@pytest.mark.slow
def test_tiny_results_leave_room_for_other_files(tmp_path: Path) -> None:
    """Many file systems have room for a limited number of files."""
    with small_disk(tmp_path / "disk", 8, "nr_inodes=400") as disk:
        caches: list[DiskCache] = []
        thumbnails = DiskCache(disk / "thumbnails", 1 << 30, 64, left_free=Reserve(1 << 20, 0.1))
        documents = DiskCache(
            disk / "documents", 1 << 30, 4, left_free=Reserve(1 << 24, 0.2), others=caches
        )
        caches.append(thumbnails)
        for number in range(1000):
            assert thumbnails.put(f"{number % 256:02x}{number:030}", b"tiny")
        left = disk_space(disk)
        assert left.free > 6 << 20
        assert left.free_files >= 40
        for number in range(100):
            assert documents.put(f"ab{number:030}", b"small"), "thumbnails make room"
        assert disk_space(disk).free_files >= 80
        for number in range(200):
            (disk / str(number)).touch()
            if disk_space(disk).problem:
                break
        assert disk_space(disk).problem == "has no inodes left for more files"
        assert thumbnails.put(KEY, b"another"), "its own results make room for it"


@pytest.mark.process
def test_processes_do_not_disturb_each_other(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        assert all(pool.map(use, [tmp_path] * 3))
    assert sum(path.stat().st_size for path in files(tmp_path)) <= 256 * 2 * LEAST_SIZE
    assert not [path for path in files(tmp_path) if "." in path.name]


def use(folder: Path) -> bool:
    """Write and read pictures under few keys; return whether a damaged one was ever read."""
    cache = DiskCache(folder, 256 * 2 * LEAST_SIZE)
    sound = True
    for number in range(300):
        key = f"{number % 3:02}{number % 7:030}"
        cache.put(key, key.encode() * 4)
        sound &= cache.get(key) in (None, key.encode() * 4)
    return sound


@pytest.mark.slow
def test_turns_are_taken_by_one_process_at_a_time(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        assert all(pool.map(take_turns, [tmp_path] * 3))


def take_turns(folder: Path) -> bool:
    """Take some turns; return whether no other process ever had one at the same time."""
    cache, alone = DiskCache(folder, SIZE), True
    for _ in range(50):
        with cache.turn():
            try:
                (folder / "taken").mkdir()
                time.sleep(0.001)
                (folder / "taken").rmdir()
            except OSError:
                alone = False
    return alone


def test_without_file_locks_nobody_waits_for_a_turn(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(tmp_path / "file" / "below", SIZE)
    with cache.turn(), cache.turn():
        pass


def test_a_copy_for_a_child_logs_nothing_and_finds_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = DiskCache(tmp_path / "cache", SIZE)
    cache.put(KEY, b"picture")
    found = cache.find(KEY)
    assert pickle.loads(pickle.dumps(cache)).find(KEY) == found
    (tmp_path / "file").write_bytes(b"")
    blocked = DiskCache(tmp_path / "file" / "below", SIZE)
    assert not pickle.loads(pickle.dumps(blocked)).put(KEY, b"picture")
    assert not caplog.records
    assert not blocked.put(KEY, b"picture")
    assert len(caplog.records) == 1
