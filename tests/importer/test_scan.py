"""Which files of a folder the importer reads."""

import os
from pathlib import Path

import pytest

from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan

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
