"""A small file is complete at any time, also with several writers, and after failures."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mapshelf.durable import replace_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text, sync in (("one", False), ("zwölf", True)):
        replace_file(path, text, sync=sync)
        assert path.read_text("utf-8") == text
    assert [*tmp_path.iterdir()] == [path]


def test_a_small_file_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o644)
    replace_file(path, "after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_small_file_that_root_writes_belongs_to_the_owner_of_its_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12346)
    replace_file(tmp_path / "file", "text")
    found = (tmp_path / "file").stat()
    assert (found.st_uid, found.st_gid) == (12345, 12346)


def test_several_may_write_at_once(tmp_path: Path) -> None:
    path, texts = tmp_path / "file", [str(number) * 5000 for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(25):
            writing = [threads.submit(replace_file, path, text) for text in texts]
            for one in writing:
                one.result()
                assert path.read_text() in texts
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, "after", sync=True)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]
