"""VYM: the habits of real files, each in its smallest form."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()


def outline_of(centres: str, name: str = "map.xml", facts: str = "") -> Outline:
    text = f'<?xml version="1.0"?><!DOCTYPE vymmap>\n<vymmap version="2.8.18" {facts}>{centres}'
    return read(archive_of({name: f"{text}</vymmap>", "images/": ""}), LIMITS)


def test_several_centres() -> None:
    outline = outline_of(
        '<mapcenter uuid="u"><heading>One</heading><branch url="http://x/" vymLink="a.vym">'
        '<heading textMode="plainText" text="A"/><task status="Finished"/></branch></mapcenter>'
        "<mapcenter/>"
    )
    below = Topic("A", note="Task: Finished", links=("http://x/", "a.vym"))
    assert outline.roots == (Topic("One", "u", children=[below]), Topic(""))


@pytest.mark.parametrize("name", ["map.xml", "time-management.xml"])
def test_xml_may_bear_any_name(name: str) -> None:
    assert outline_of("<mapcenter><heading>r</heading></mapcenter>", name).roots[0].text == "r"


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("<heading>plain &lt;b&gt;</heading>", "plain <b>"),
        ("<heading>old&lt;br&gt;break</heading>", "old\nbreak"),
        (
            '<heading textMode="richText"><![CDATA[<!DOCTYPE HTML PUBLIC "x"><html><head><style>p'
            "</style></head><body><p>rich</p></body></html>]]></heading>",
            "rich",
        ),
        (
            r'<heading textMode="richText" text="&lt;html&gt;\n&lt;p class=\&quot;a\&quot;&gt;b"/>',
            "b",
        ),
        (r'<heading textMode="plainText" text="say \&quot;a\&quot;\nb"/>', 'say "a"\nb'),
        ('<heading textMode="plainText" text="a &lt;br&gt; b"/>', "a <br> b"),
        ("<heading><html><body><p>inside</p></body></html></heading>", "inside"),
    ],
)
def test_headings(heading: str, text: str) -> None:
    assert outline_of(f"<mapcenter>{heading}</mapcenter>").roots[0].text == text


def test_notes_and_the_comment_on_the_map() -> None:
    outline = outline_of(
        "<mapcenter><heading>r</heading><vymnote><html><body><p>a <b>b</b></p></body></html>"
        '</vymnote></mapcenter><mapcenter><vymnote textMode="plainText">c\nd</vymnote></mapcenter>',
        facts='author="Ann" date="2024-01-01" comment="what it is"',
    )
    assert [root.note for root in outline.roots] == ["a b\nwhat it is", "c\nd"]
    assert "<b>b</b>" in outline.roots[0].note_html
    assert (outline.author, outline.modified) == ("Ann", 1704067200000)
    assert (outline.software, outline.software_version) == ("VYM", "2.8.18")


def test_no_centre() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("")


def test_archive_with_other_xml() -> None:
    with pytest.raises(NotAMap):
        read(archive_of({"a.xml": "<a/>", "b.xml": ""}), LIMITS)
