"""Which files of a folder are looked at."""

import os
from pathlib import Path

import pytest

from mapshelf.importer import Report, scan

MARKMAP = "---\nmarkmap: {}\n---\n# map\n"


def found(folder: Path, report: Report | None = None) -> list[str]:
    return [Path(c.path).name for c in scan([folder], report or Report())]


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
def test_extension_or_beginning_decides(
    tmp_path: Path, name: str, text: str, *, expected: bool
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    report = Report()
    assert found(tmp_path, report) == [name] * expected
    assert report.refusals == []


def test_file_that_is_named_is_always_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("# Prose\n")
    assert [candidate.path for candidate in scan([path], Report())] == [str(path)]


def test_links_pipes_and_closed_files_with_a_shared_extension_are_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "map.md").write_text(MARKMAP)
    (tmp_path / "link.md").symlink_to(tmp_path / "map.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert found(tmp_path) == ["map.md"]
