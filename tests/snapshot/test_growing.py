"""Files that grow: each snapshot shows what was there when it was published, and no more."""

from pathlib import Path

import xxhash

from mapshelf.snapshot.growing import GrowingFile


def test_each_publication_is_a_chunk(tmp_path: Path) -> None:
    file = GrowingFile(tmp_path / "file", [])
    assert [file.append(b"one"), file.append(b"two")] == [0, 3]
    file.link_to(tmp_path / "first")
    file.link_to(tmp_path / "second")
    assert file.append(b"three") == 6
    file.link_to(tmp_path / "third")
    assert file.chunks == [
        (len(data), xxhash.xxh3_64_hexdigest(data)) for data in (b"onetwo", b"three")
    ]
    assert (tmp_path / "first").samefile(tmp_path / "third")
    assert (file.read(0, 6), file.read(6, 5)) == (b"onetwo", b"three")
    assert len(file) == 11
    file.close()


def test_what_was_never_published_is_cut_off(tmp_path: Path) -> None:
    file = GrowingFile(tmp_path / "file", [])
    file.append(b"published")
    file.link_to(tmp_path / "first")
    file.append(b"lost")
    file.flush()
    assert file.read(9, 4) == b"lost"
    file.close()
    again = GrowingFile(tmp_path / "file", file.chunks)
    assert len(again) == 9
    assert (tmp_path / "first").read_bytes() == b"published"
    assert again.append(b"new") == 9
    again.link_to(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == b"publishednew"
    assert again.chunks[1] == (3, xxhash.xxh3_64_hexdigest(b"new"))
    again.close()
