"""Which files of a folder the importer reads."""

import errno
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import is_gone, scan
from mapshelf.importer.walk import DEEPEST

MARKMAP = "---\nmarkmap: {}\n---\n# map\n"


def found(folder: Path, report: ImportReport | None = None) -> list[str]:
    return [Path(c.path).name for c in scan([folder], report or ImportReport())]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.mm", "anything", True),
        ("A.XMIND", "", True),
        ("a.txt", MARKMAP, False),
        ("README.md", "# Prose\n\n- with a list\n", False),
        ("a.md", MARKMAP, True),
        ("a.MD", "\ufeff" + MARKMAP, True),
        ("a.mm.md", "# Prose\n", True),
        ("a.MarkMap.md", "", True),
        ("mm.md", "# Prose\n", False),
        ("a.puml", "@startuml\n@enduml\n", False),
        ("a.puml", "' remark\n@startmindmap\n", True),
        ("a.puml", "x" * 70_000 + "\n@startmindmap\n", False),
        ("a.mmd", "flowchart TD\n", False),
        ("a.mmd", "mindmap\n  r\n", True),
        ("a.mmd", "By NB MindMap\n> __version__=`1.1`\n---\n# r\n", True),
        ("a.mermaid", "> __version__=`1.1`\n---\n# r\n", False),
        (".hidden.mm", "", False),
        ("a.md", "PK\x03\x04", False),
    ],
)
def test_files_are_chosen_by_extension_or_first_bytes(
    tmp_path: Path, name: str, text: str, *, expected: bool
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    report = ImportReport()
    assert found(tmp_path, report) == [name] * expected
    assert report.refusals == []


def test_a_folder_may_be_named_like_an_archive(tmp_path: Path) -> None:
    folder = tmp_path / "maps.zip"
    folder.mkdir()
    (folder / "a.mm").touch()
    found = list(scan([folder], ImportReport(), lambda _: pytest.fail("it is no archive")))
    assert [one.path for one in found] == [str(folder / "a.mm")]
    assert not is_gone(os.fsencode(folder / "a.mm"))
    assert is_gone(os.fsencode(folder / "b.mm"))


def test_file_that_is_named_is_always_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("# Prose\n")
    assert [candidate.path for candidate in scan([path], ImportReport())] == [str(path)]


def test_links_pipes_and_closed_files_with_a_shared_extension_are_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "map.md").write_text(MARKMAP)
    (tmp_path / "link.md").symlink_to(tmp_path / "map.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert found(tmp_path) == ["map.md"]


def document(folder: Path, *names: str) -> Path:
    """Make a document that is a folder, like those of MindNode on a Mac."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<plist/>")
    return folder


def test_a_document_that_is_a_folder_is_one_map(tmp_path: Path) -> None:
    beside = ("QuickLook/Preview.jpg", "resources/other.mm", "style.mindnodestyle/contents.xml")
    document(tmp_path / "Plans" / "Trip.MindNode", "contents.xml", "a.mm", *beside)
    document(tmp_path / "empty.mindnode", "other.txt", "map.mm")
    document(tmp_path / "folder.xmind", "contents.xml")
    (tmp_path / "link.mindnode").symlink_to(tmp_path / "Plans" / "Trip.MindNode")
    names = sorted(candidate.name for candidate in scan([tmp_path], ImportReport()))
    assert names == ["Plans/Trip.MindNode/contents.xml", "empty.mindnode/map.mm"]


def test_a_document_that_is_a_folder_can_be_named(tmp_path: Path) -> None:
    named = document(tmp_path / "Trip.mindnode", "contents.xml", "resources/other.mm")
    names = [candidate.name for candidate in scan([named], ImportReport())]
    assert names == ["Trip.mindnode/contents.xml"]


def test_a_link_in_a_document_is_refused(tmp_path: Path) -> None:
    folder = document(tmp_path / "Trip.mindnode", "other.txt")
    (folder / "contents.xml").symlink_to("other.txt")
    report = ImportReport()
    assert found(tmp_path, report) == []
    assert [reason for _, reason in report.refusals] == ["it is a symbolic link"]


def test_a_path_that_is_too_long_stops_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "z.mm").touch()
    descriptor = os.open(tmp_path, os.O_RDONLY)
    length = len(str(tmp_path))
    while length <= 4096:  # each name is allowed, but not the path of them all
        os.mkdir("a" * 200, dir_fd=descriptor)
        below = os.open("a" * 200, os.O_RDONLY, dir_fd=descriptor)
        for name in ("a.mm", "b" * 240 + ".mm", "b" * 240 + ".md"):
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=below))
        os.close(descriptor)
        descriptor, length = below, length + 201
    os.close(descriptor)
    report = ImportReport()
    assert "z.mm" in found(tmp_path, report)
    assert {reason for _, reason in report.refusals} == {"it cannot be opened: File name too long"}
    assert not is_gone(os.fsencode(tmp_path) + b"/b" * 2500)


def test_a_folder_that_is_listed_but_not_entered_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a.mm").touch()
    (tmp_path / "z.mm").touch()
    real = os.stat, os.lstat
    closed = os.fsencode(tmp_path / "closed") + b"/"

    def refusing(number: int, path: Any, **options: Any) -> os.stat_result:
        if isinstance(path, str | bytes | Path) and os.fsencode(path).startswith(closed):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real[number](path, **options)

    # The tests may run as root, who may enter every folder.
    monkeypatch.setattr(os, "stat", partial(refusing, 0))
    monkeypatch.setattr(os, "lstat", partial(refusing, 1))
    report = ImportReport()
    assert found(tmp_path, report) == ["z.mm"]
    refusal = (str(tmp_path / "closed" / "a.mm"), "it cannot be opened: Permission denied")
    assert report.refusals == [refusal]
    assert not is_gone(closed + b"a.mm"), "it cannot be looked at for a moment only"


def test_folders_in_folders_are_entered_up_to_a_limit(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):  # more than Python recurses
        os.close(os.open("a.mm", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        os.mkdir("x", dir_fd=descriptor)
        below = os.open("x", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    report = ImportReport()
    names = found(tmp_path, report)
    subprocess.run(["rm", "-r", tmp_path / "x"], check=True)  # shutil recurses, too
    assert names == ["a.mm"] * (DEEPEST + 1)
    ((path, reason),) = report.refusals
    assert path == str(tmp_path) + "/x" * (DEEPEST + 1)
    assert reason == "it is below more than 200 folders"


def test_files_are_found_in_the_order_of_their_folders(tmp_path: Path) -> None:
    places = ["b.mm", "c.mm", "a/z.mm", "a/b/1.mm", "a/b/2.mm", "a/c/1.mm", "d/1.mm"]
    for place in reversed(places):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    names = [candidate.name for candidate in scan([tmp_path], ImportReport())]
    assert names == places


@pytest.mark.parametrize("moved", ["maps", "maps/a", "maps/a/1.mm"])
def test_a_file_behind_a_link_that_was_left_in_its_place_is_gone(
    tmp_path: Path, moved: str
) -> None:
    path = tmp_path / "maps" / "a" / "1.mm"
    path.parent.mkdir(parents=True)
    path.touch()
    assert not is_gone(os.fsencode(path))
    place = tmp_path / moved
    away = place.rename(tmp_path / "away")
    assert is_gone(os.fsencode(path))
    place.symlink_to(away)
    assert path.exists()
    assert is_gone(os.fsencode(path))
    place.unlink()
    place.symlink_to(place.name)
    assert is_gone(os.fsencode(path)), "it leads to itself"


def test_a_member_is_gone_if_a_link_was_left_in_the_place_of_its_archive(tmp_path: Path) -> None:
    archive = tmp_path / "maps.zip"
    archive.touch()
    assert not is_gone(os.fsencode(archive / "a" / "1.mm"))
    archive.rename(tmp_path / "away.zip")
    archive.symlink_to("away.zip")
    assert is_gone(os.fsencode(archive / "a" / "1.mm"))


def test_a_file_that_a_folder_replaced_is_gone_and_so_is_one_whose_folder_a_file_replaced(
    tmp_path: Path,
) -> None:
    flat = tmp_path / "Flat.mindnode"
    (folder := document(tmp_path / "Trip.mindnode", "contents.xml")).rename(flat)
    assert is_gone(os.fsencode(flat))
    assert not is_gone(os.fsencode(flat / "contents.xml"))
    folder.touch()
    assert not is_gone(os.fsencode(folder))
    assert is_gone(os.fsencode(folder / "contents.xml"))
    archive = tmp_path / "maps.ZIP"
    archive.touch()
    assert not is_gone(os.fsencode(archive / "Trip.mindnode" / "contents.xml"))


@pytest.mark.parametrize("name", ["b.mm", "below"])
def test_what_vanishes_during_the_scan_is_not_refused(tmp_path: Path, name: str) -> None:
    for place in ("a.mm", "b.mm", "below/c.mm"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.touch()
    report = ImportReport()
    candidates = scan([tmp_path], report)
    assert next(candidates).name == "a.mm"
    (tmp_path / name).rename(tmp_path / "away")
    if name == "below":
        (tmp_path / name).touch()
    assert len(list(candidates)) == 1
    assert report.refusals == []


def test_what_is_named_and_not_there_is_refused(tmp_path: Path) -> None:
    report = ImportReport()
    assert list(scan([tmp_path / "none.mm"], report)) == []
    assert report.refusals == [
        (str(tmp_path / "none.mm"), "it cannot be opened: No such file or directory")
    ]
