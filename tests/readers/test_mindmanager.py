"""MindManager: the habits of real files, each in its smallest form."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()
NAMESPACE = "http://schemas.mindjet.com/MindManager/Application/2003"


def document(inner: str, root: str = "Map", rest: str = "") -> str:
    """Return a ``Document.xml`` whose central topic holds ``inner``."""
    return (
        f'<ap:{root} xmlns:ap="{NAMESPACE}" xmlns:cor="http://x.example/core"><ap:OneTopic>'
        f'<ap:Topic OId="c"><ap:Text PlainText="Centre"/>{inner}</ap:Topic></ap:OneTopic>{rest}'
        f"</ap:{root}>"
    )


def outline_of(inner: str, root: str = "Map", rest: str = "") -> Outline:
    return read(archive_of({"Document.xml": document(inner, root, rest)}), LIMITS)


def topic(text: str, inner: str = "") -> str:
    return f'<ap:Topic><ap:Text PlainText="{text}"/>{inner}</ap:Topic>'


def test_topics_hang_in_groups() -> None:
    outline = outline_of(
        f"<ap:SubTopics>{topic('A')}<ap:Topic/></ap:SubTopics>"
        f"<ap:FloatingTopics>{topic('floating')}</ap:FloatingTopics>"
        "<ap:OneBoundary><ap:Boundary><ap:FloatingTopics>"
        f"{topic('on the boundary')}</ap:FloatingTopics></ap:Boundary></ap:OneBoundary>",
        rest="<ap:Relationships><ap:Relationship><ap:FloatingTopics>"
        f"{topic('similar to')}</ap:FloatingTopics></ap:Relationship></ap:Relationships>",
    )
    (root,) = outline.roots
    assert (root.id, root.text) == ("c", "Centre")
    assert [child.text for child in root.children] == [
        *("A", "", "floating", "on the boundary", "similar to")
    ]


def test_notes_task_and_labels() -> None:
    note = (
        '<ap:NotesGroup><ap:NotesXhtmlData PreviewPlainText="no"><html><p>a <b>b</b></p></html>'
        "</ap:NotesXhtmlData></ap:NotesGroup>"
        '<ap:Task TaskPriority="urn:mindjet:Prio1" TaskPercentage="50"/>'
        '<ap:TextLabels><ap:TextLabel TextLabelName="one"/></ap:TextLabels>'
    )
    (root,) = outline_of(note).roots
    assert root.note == "a b\\nPriority: 1\\nProgress: 50 %\\nLabels: one".replace("\\n", "\n")
    assert "<b>b</b>" in root.note_html


def test_note_that_has_only_its_preview() -> None:
    preview = '<ap:NotesGroup><ap:NotesXhtmlData PreviewPlainText="a&lt;br&gt;b"/></ap:NotesGroup>'
    assert outline_of(preview).roots[0].note == "a\nb"


def test_links_of_older_and_newer_versions() -> None:
    links = (
        '<ap:Hyperlink Url="a.mmap"/><ap:HyperlinkGroup><ap:IndexedHyperlink Url="http://b/"/>'
        '<ap:IndexedHyperlink Url=""/></ap:HyperlinkGroup>'
    )
    assert outline_of(links).roots[0].links == ("a.mmap", "http://b/")


def test_facts_of_the_document() -> None:
    outline = outline_of(
        "",
        rest='<ap:DocumentGroup><ap:Author UserName="Ann"/><ap:Description Subject="what"'
        ' Comments="more"/><ap:Keywords Keywords="k, l"/><ap:Version Major="20"/>'
        '<ap:DateTimeStamps Created="2024-01-01T00:00:00" LastModified="0001-01-01T00:00:00"/>'
        "</ap:DocumentGroup>",
    )
    assert outline.roots[0].note == "what\nmore\nKeywords: k, l"
    assert (outline.author, outline.created, outline.modified) == ("Ann", 1704067200000, None)
    assert (outline.software, outline.software_version) == ("MindManager", "")


@pytest.mark.parametrize(("root", "template"), [("Map", False), ("MapTemplate", True)])
def test_template_is_told_by_its_root(root: str, template: bool) -> None:
    assert outline_of("", root).template is template


def test_bare_xml() -> None:
    assert read(document("").encode(), LIMITS).roots == (Topic("Centre", "c"),)


def test_password() -> None:
    with pytest.raises(BrokenFile, match="password"):
        read(archive_of({"Document.xml.zencr": b"\x00\x01"}), LIMITS)


def test_document_of_another_program() -> None:
    with pytest.raises(NotAMap):
        read(archive_of({"Document.xml": "<w:document/>"}), LIMITS)
