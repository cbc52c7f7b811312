"""Mindomo: the elements that other published programs read from its documents."""

import pytest

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive

LIMITS = Limits()
NAMESPACE = "http://schemas.mindomo.com/application/version-"


def document(inner: str, version: str = "3.6") -> str:
    return f'<mo:map xmlns:mo="{NAMESPACE}{version}" version="{version}">{inner}</mo:map>'


def outline_of(inner: str) -> Outline:
    return read(archive(Document__xml=document(inner)), LIMITS)


TREE = (
    '<mo:topics><mo:topic id="r"><mo:text>Root</mo:text><mo:subTopics>'
    '<mo:topic id="a"><mo:text>A</mo:text><mo:subTopics><mo:topic><mo:text>A1</mo:text>'
    '</mo:topic></mo:subTopics></mo:topic><mo:topic deleted="true"><mo:text>gone</mo:text>'
    "<mo:subTopics><mo:topic><mo:text>gone too</mo:text></mo:topic></mo:subTopics></mo:topic>"
    '<mo:topic deleted="false"><mo:text>B</mo:text></mo:topic></mo:subTopics></mo:topic>'
    "<mo:topic><mo:text>floating</mo:text></mo:topic></mo:topics>"
)


def test_tree_without_what_was_deleted() -> None:
    assert outline_of(TREE).roots == (
        Topic("Root", id="r", children=[Topic("A", id="a", children=[Topic("A1")]), Topic("B")]),
        Topic("floating"),
    )


@pytest.mark.parametrize("member", ["Document.xml", "document.xml", "map.xml"])
def test_names_of_the_member(member: str) -> None:
    data = archive(**{member.replace(".", "__"): document(TREE, "2.7")})
    assert len(list(read(data, LIMITS).topics())) == 5


def test_bare_document_is_not_taken_for_freemind() -> None:
    outline = read(document(TREE).encode(), LIMITS)
    assert (outline.software, outline.roots[0].text) == ("Mindomo", "Root")


def test_facts() -> None:
    facts = (
        "<mo:name>n</mo:name><mo:author>Ada</mo:author>"
        "<mo:creationDate>2020-01-02T03:04:05Z</mo:creationDate>"
        "<mo:modificationDate>1577934246000</mo:modificationDate>"
    )
    outline = outline_of(facts + TREE)
    assert (outline.author, outline.created, outline.modified) == (
        "Ada",
        1577934245000,
        1577934246000,
    )
    assert outline_of(facts.replace("Ada", "4711") + TREE).author == ""


def test_texts_that_are_html() -> None:
    text = "&lt;p&gt;one&lt;/p&gt;&lt;p&gt;t&amp;amp;wo&lt;/p&gt;"
    root = f"<mo:topics><mo:topic><mo:text>{text}</mo:text></mo:topic></mo:topics>"
    assert outline_of(root).roots[0].text == "one\nt&wo"
    assert outline_of(root.replace(text, "a &lt; b &gt; c")).roots[0].text == "a < b > c"


def test_document_without_topics_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("<mo:topics/>")


def test_mindmanagers_document_is_not_mindomos() -> None:
    data = archive(
        Document__xml='<ap:Map xmlns:ap="http://schemas.mindjet.com/MindManager/Application/2003">'
        '<ap:OneTopic><ap:Topic><ap:Text PlainText="x"/></ap:Topic></ap:OneTopic></ap:Map>'
    )
    assert read(data, LIMITS).software == "MindManager"
