"""Maps in a zip archive, which is read like a folder, member by member."""

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mapshelf.errors import TooLarge
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.sandboxed_reader import ReadFile, Result, read_file
from mapshelf.readers.zip_import import close_archive, list_members, read_member

MAP = '<map version="1.0.1"><node TEXT="{}"/></map>'


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "maps.zip"
    fill(path, [f"map {number}" for number in range(20)])
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that records every archive whose directory is read from now on."""
    close_archive()
    found: list[Any] = []
    real = zipfile.ZipFile

    def counted(file: Any) -> zipfile.ZipFile:
        found.append(file)
        return real(file)

    monkeypatch.setattr("mapshelf.readers.zip_import.zipfile.ZipFile", counted)
    return found


def fill(path: Path, titles: list[str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number, title in enumerate(titles):
            archive.writestr(f"{number}.mm", MAP.format(title))


def read(archive: Path, number: int) -> Result:
    return read_file(f"{archive}/{number}.mm", Limits(), folder=str(archive))


def test_the_directory_of_an_archive_is_read_once_for_all_its_members(
    archive: Path, opened: list[Any]
) -> None:
    results = [read(archive, number) for number in range(20)]
    titles = [one.title for one in results if isinstance(one, ReadFile)]
    assert titles == [f"map {number}" for number in range(20)]
    assert len(opened) == 1


def test_a_changed_archive_is_read_again(archive: Path) -> None:
    assert read_member(str(archive), "0.mm", Limits())[0] == MAP.format("map 0").encode()
    fill(archive, ["another"])
    assert read_member(str(archive), "0.mm", Limits())[0] == MAP.format("another").encode()
    replaced = archive.with_name("other.zip")
    fill(replaced, ["a third"])
    replaced.replace(archive)
    assert read_member(str(archive), "0.mm", Limits())[0] == MAP.format("a third").encode()


def test_an_archive_is_closed_when_another_file_is_read(archive: Path, tmp_path: Path) -> None:
    close_archive()
    before = len(os.listdir("/dev/fd"))
    assert isinstance(read(archive, 0), ReadFile)
    (tmp_path / "a.mm").write_text(MAP.format("a"))
    assert isinstance(read_file(str(tmp_path / "a.mm"), Limits()), ReadFile)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a/" * 200 + "1.mm", None),
        ("a/" * 201 + "1.mm", "a file in the archive is below more than 200 folders"),
        ("a" * 4093 + ".mm", None),
        ("ä" * 2047 + ".mm", "a name in the archive is longer than 4,096 bytes"),
        ("a/" * 30_000 + "1.mm", "a name in the archive is longer than 4,096 bytes"),
    ],
)
def test_an_archive_with_overlong_names_is_refused(
    tmp_path: Path, name: str, reason: str | None
) -> None:
    """Whoever makes it decides how many folders are to be looked at for each member."""
    path = tmp_path / "maps.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0.mm", MAP.format("A"))
        archive.writestr(name, MAP.format("B"))
    if reason is None:
        assert [member.name for member in list_members(str(path))] == ["0.mm", name]
    else:
        with pytest.raises(TooLarge, match=reason):
            list_members(str(path))
    close_archive()
