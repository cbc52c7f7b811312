"""Topics with thousands of links, pictures, files or marks: each is copied a few times at most.

A small file may have hundreds of thousands of them. A reader that adds each to a tuple copies all
before it, and takes seconds.
"""

import json

import pytest

from mapshelf.model import Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import XMIND_XML, archive_of, freemind

MANY = 1000
COPIES = 8
"""How often a reader may copy each of them: when it adds them, and when it tidies them."""


def mindmanager(inner: str) -> bytes:
    return archive_of(
        {
            "Document.xml": '<ap:Map xmlns:ap="http://schemas.mindjet.com/MindManager/Application'
            f'/2003"><ap:OneTopic><ap:Topic OId="c"><ap:Text PlainText="Centre"/>{inner}</ap:Topic>'
            "</ap:OneTopic></ap:Map>"
        }
    )


def xmind(topic: dict[str, object]) -> bytes:
    return archive_of({"content.json": json.dumps([{"rootTopic": {"title": "C", **topic}}])})


def older_xmind(inner: str) -> bytes:
    topic = f'<sheet id="s"><topic id="c"><title>C</title>{inner}</topic></sheet>'
    return archive_of({"content.xml": XMIND_XML.format(sheets=topic)})


def edrawmind(inner: str) -> bytes:
    page = f'<Page><Shape ID="1" Type="MainIdea">{inner}</Shape></Page>'
    return archive_of({"page/page.xml": page})


def wisemapping(inner: str) -> bytes:
    topic = f'<topic central="true">{inner}</topic>'
    return f'<map name="1" version="tango">{topic}</map>'.encode()


FILES = {
    "pictures of MindManager": mindmanager(f"<ap:OneImage>{'<ap:Image/>' * MANY}</ap:OneImage>"),
    "groups of pictures of MindManager": mindmanager(
        "<ap:OneImage><ap:Image/></ap:OneImage>" * MANY
    ),
    "files of MindManager": mindmanager(
        '<ap:AttachmentGroup><ap:AttachmentData FileName="a"/></ap:AttachmentGroup>' * MANY
    ),
    "links of MindManager": mindmanager('<ap:Hyperlink Url="http://x/"/>' * MANY),
    "lists of links of MindManager": mindmanager(
        "<ap:HyperlinkGroup>"
        + '<ap:IndexedHyperlink Url="http://x/"/>' * MANY
        + "</ap:HyperlinkGroup>"
    ),
    "files of XMind": xmind({"extensions": [{"resourceRefs": ["xap:a"] * MANY}]}),
    "pictures in notes of XMind": xmind(
        {
            "notes": {
                "ops": {"ops": [{"insert": {"image": "xap:a.png"}}] * MANY},
            }
        }
    ),
    "pictures of older XMind": older_xmind('<img src="xap:a.png"/>' * MANY),
    "recordings of older XMind": older_xmind(
        '<extensions><extension provider="org.xmind.ui.audionotes"><resource-refs>'
        + '<resource-ref resource-id="xap:a"/>' * MANY
        + "</resource-refs></extension></extensions>"
    ),
    "pictures of Freeplane": freemind(
        "<node TEXT='C'>" + '<hook NAME="ExternalObject" URI="a.png"/>' * MANY + "</node>"
    ),
    "reminders of Freeplane": freemind(
        "<node TEXT='C'>" + '<hook NAME="plugins/TimeManagementReminder.xml"/>' * MANY + "</node>"
    ),
    "marks of a style of Freeplane": freemind(
        '<node TEXT="C"><hook NAME="MapStyle"><map_styles><stylenode TEXT="s">'
        + '<icon BUILTIN="yes"/>' * MANY
        + "</stylenode></map_styles></hook>"
        + '<node TEXT="a" STYLE_REF="s"/>' * 10
        + "</node>",
        "freeplane 1.9.0",
    ),
    "pictures in texts of FreeMind": freemind(
        '<node TEXT="C">'
        + '<richcontent TYPE="NOTE"><html><body><img src="a"/></body></html></richcontent>' * MANY
        + "</node>"
    ),
    "marks of EdrawMind": edrawmind('<Shape><MarkData GroupName="a" Name="b"/></Shape>' * MANY),
    "pictures of EdrawMind": edrawmind('<Shape Type="Image"><Data Res="a"/></Shape>' * MANY),
    "links of WiseMapping": wisemapping('<link url="http://x/"/>' * MANY),
    "links in texts of WiseMapping": wisemapping(
        "<content>&lt;a href='http://x/'&gt;x&lt;/a&gt;</content>" * MANY
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_each_thing_beside_a_topic_is_copied_a_few_times(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = FILES[what]
    copied: list[int] = []

    def noted(topic: Topic, name: str, value: object) -> None:
        if isinstance(value, tuple):
            copied.append(len(value))
        object.__setattr__(topic, name, value)

    monkeypatch.setattr(Topic, "__setattr__", noted)
    read(content, Limits())
    assert MANY <= sum(copied) <= COPIES * MANY
