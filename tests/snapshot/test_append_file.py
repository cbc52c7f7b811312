"""Append-only files: a snapshot shows only what was written before it was published."""

from pathlib import Path

import xxhash

from mapshelf.snapshot.format.append_file import AppendFile


def test_each_publication_shows_only_what_was_written_before(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "file")
    assert [file.append(b"one"), file.append(b"two")] == [0, 3]
    first = (6, xxhash.xxh3_64_hexdigest(b"onetwo"))
    assert file.link_to(tmp_path / "first") == first
    assert file.link_to(tmp_path / "second") == first
    assert file.append(b"three") == 6
    assert file.link_to(tmp_path / "third") == (11, xxhash.xxh3_64_hexdigest(b"onetwothree"))
    assert (tmp_path / "first").samefile(tmp_path / "third")
    assert (file.read(0, 6), file.read(6, 5)) == (b"onetwo", b"three")
    assert len(file) == 11
    file.close()


def test_unpublished_bytes_are_truncated(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "file")
    file.append(b"published")
    length, _ = file.link_to(tmp_path / "first")
    file.append(b"lost")
    file.flush()
    assert file.read(9, 4) == b"lost"
    file.close()
    again = AppendFile(tmp_path / "file", length)
    assert len(again) == 9
    assert (tmp_path / "first").read_bytes() == b"published"
    assert again.append(b"new") == 9
    checksum = xxhash.xxh3_64_hexdigest(b"publishednew")
    assert again.link_to(tmp_path / "second") == (12, checksum)
    assert (tmp_path / "second").read_bytes() == b"publishednew"
    again.close()
