"""VYM: cases from real files, each as a minimal example."""

import hashlib

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Image, Outline, Relationship, Style, Task, Topic
from mapshelf.readers import Limits, read
from mapshelf.readers.formats.freemind_markers import markers_of
from mapshelf.readers.parsing.xml_files import parse_xml
from tests.readers.samples import archive_of, as_file, drawn

LIMITS = Limits()


def outline_of(centres: str, name: str = "map.xml", facts: str = "") -> Outline:
    text = f'<?xml version="1.0"?><!DOCTYPE vymmap>\n<vymmap version="2.8.18" {facts}>{centres}'
    return read(archive_of({name: f"{text}</vymmap>", "images/": ""}), LIMITS)


def test_several_centres_are_on_one_canvas() -> None:
    (sheet,) = outline_of(
        '<mapcenter uuid="u" absPosX="10" absPosY="20"><heading>One</heading>'
        '<branch url="http://x/" vymLink="a.vym" relPosX="-5">'
        '<heading textMode="plainText" text="A"/></branch><branch relPosX="5"/></mapcenter>'
        '<mapcenter absPosX="-90" absPosY="25.5"/><mapcenter/>',
        facts='backgroundColor="#ffffee"',
    ).sheets
    below = Topic("A", links=("http://x/", "a.vym"), side="left")
    assert sheet.root == Topic("One", "u", children=[below, Topic("", side="right")])
    assert [topic.position for topic in sheet.floating] == [(-100.0, 5.5), (-10.0, -20.0)]
    assert sheet.background == "#ffffee"


def test_what_is_attached_to_a_branch() -> None:
    root = outline_of(
        '<userflagdef name="flag-hook-green" uuid="f1"/><userflagdef name="mine" uuid="f2"/>'
        "<mapcenter><standardflag>lamp</standardflag><standardflag>new one</standardflag>"
        '<userflag uuid="f1"/><userflag uuid="f2"/>'
        '<branch scrolled="yes"><heading textColor="#ff0000">red</heading>'
        '<task status="WIP" prio="B"/><branch><heading textColor="#000000"/>'
        '<frame frameType="Ellipse" penColor="#0000ff" brushColor="#ffeedd"/></branch></branch>'
        '<branch scrolled="yes"/></mapcenter>'
    ).roots[0]
    assert root.markers == (
        ("idea", "lamp"),
        ("other-new-one", "new one"),
        ("yes", "flag-hook-green"),
        ("other-mine", "mine"),
    )
    red, leaf = root.children
    assert (red.style, red.folded, red.task) == (
        Style(text="#ff0000"),
        True,
        Task("started", priority=2),
    )
    assert red.children[0].style == Style(fill="#ffeedd", border="#0000ff", shape="ellipse")
    assert (leaf.folded, leaf.style) == (False, None)


def test_links_across_and_frames() -> None:
    sheet = outline_of(
        '<mapcenter><branch uuid="a"/><branch><branch/><frame frameType="Cloud"'
        ' includeChildren="true" penColor="#ff112233"/></branch></mapcenter><mapcenter uuid="c"/>'
        '<xlink beginID="mc:0,bo:0" endID="mc:0,bo:1,bo:0" color="#00ff00"/>'
        '<xlink beginID="mc:1" endID="mc:0,bo:7"/>'
    ).sheets[0]
    assert sheet.root.children[1].children[0].id == "mc:0,bo:1,bo:0"
    assert sheet.relationships[0] == Relationship("a", "mc:0,bo:1,bo:0", "", "#00ff00")
    assert sheet.relationships[1][:2] == ("c", "")
    assert [boundary.colour for boundary in sheet.boundaries] == ["#112233"]


def test_links_to_copied_topics_lead_to_the_copies() -> None:
    sheet = outline_of(
        '<mapcenter><branch uuid="a"/><branch uuid="a"/></mapcenter>'
        '<xlink beginID="mc:0,bo:0" endID="mc:0,bo:1"/>'
    ).sheets[0]
    assert [topic.id for topic in sheet.root.children] == ["mc:0,bo:0", "mc:0,bo:1"]
    assert sheet.relationships[0][:2] == ("mc:0,bo:0", "mc:0,bo:1")


def test_pictures_are_in_the_archive() -> None:
    picture = as_file(drawn((40, 20)))
    text = (
        '<vymmap><mapcenter><floatimage href="file:images/a.png" scaleX="0.5" scaleY="2"'
        ' originalName="A"/><floatimage href="file:images/none.png" scaleFactor="2"/></mapcenter>'
        "</vymmap>"
    )
    outline = read(archive_of({"map.xml": text, "images/a.png": picture}), LIMITS)
    found, missing = outline.roots[0].images
    assert found == Image(hashlib.sha256(picture).hexdigest(), 20.0, 40.0, "A")
    assert missing == Image("", 0.0, 0.0, "")


@pytest.mark.parametrize("name", ["map.xml", "time-management.xml"])
def test_the_xml_member_may_have_any_name(name: str) -> None:
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
        (
            '<heading textMode="plainText"><![CDATA[<html><head></head><body><p>a <b>b</b></p>'
            "</body></html>]]></heading>",
            "a b",
        ),
    ],
)
def test_headings(heading: str, text: str) -> None:
    assert outline_of(f"<mapcenter>{heading}</mapcenter>").roots[0].text == text


def test_notes_and_the_comment_on_the_map() -> None:
    outline = outline_of(
        "<mapcenter><heading>r</heading><vymnote><html><body><p>a <b>b</b></p></body></html>"
        '</vymnote><branch><vymnote textMode="plainText">c\nd</vymnote></branch></mapcenter>',
        facts='author="Ann" date="2024-01-01" comment="what it is"',
    )
    assert [topic.note for _, topic in outline.topics()] == ["a b\nwhat it is", "c\nd"]
    assert "<b>b</b>" in outline.roots[0].note_html
    assert (outline.author, outline.modified) == ("Ann", 1704067200000)
    assert (outline.software, outline.software_version) == ("VYM", "2.8.18")


def test_maps_converted_from_freemind() -> None:
    flags = ("priority-3", "desktopnew", "mail", "warning", "gohome", "korn", "new")
    elements = "".join(f"<standardflag>freemind-{flag}</standardflag>" for flag in flags)
    root = outline_of(
        f"<mapcenter>{elements}<heading>r</heading>"
        '<vymnote textMode="plainText"><![CDATA[<html><head></head><body><p>a</p>'
        "<ul><li><b>b</b></li></ul></body></html>]]></vymnote></mapcenter>"
    ).roots[0]
    icons = ("full-3", "desktop_new", "Mail", "messagebox_warning", "gohome", "korn", "new")
    elements = "".join(f'<icon BUILTIN="{icon}"/>' for icon in icons)
    same = markers_of(parse_xml(f"<a>{elements}</a>", LIMITS).iter("icon"))
    assert [found.name for found in root.markers] == [icon.name for icon in same]
    assert [found.original for found in root.markers] == [f"freemind-{flag}" for flag in flags]
    assert root.markers[0].name == "priority-3"
    assert root.note == "a\nb"
    assert "<li><b>b</b></li>" in root.note_html


def test_no_centre() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("")


def test_archive_with_other_xml() -> None:
    with pytest.raises(NotAMap):
        read(archive_of({"a.xml": "<a/>", "b.xml": ""}), LIMITS)
