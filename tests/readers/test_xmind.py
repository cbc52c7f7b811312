"""XMind: both kinds of archive, and XML without an archive."""

import json

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Marker, Topic, TopicKind
from mapshelf.readers import Limits, read, summary
from tests.readers.samples import archive, archive_of, xmind_json, xmind_xml

LIMITS = Limits()
DUMMY = xmind_xml("<title>Warning 警告</title>")


def test_xml_with_children_of_every_kind_and_all_sheets() -> None:
    outline = read(
        archive(
            content__xml=xmind_xml(
                "<title>One</title><children>"
                '<topics type="attached"><topic id="a" xlink:href="https://a.example">'
                "<title>A</title></topic></topics>"
                '<topics type="detached"><topic><title>floating</title></topic></topics>'
                '<topics type="summary"><topic><title>sum</title></topic></topics></children>',
                "<title>Two</title>",
            ),
            Revisions___x___rev_1__xml=xmind_xml("<title>old</title>"),
        ),
        LIMITS,
    )
    one, two = outline.roots
    assert one.children == [Topic(text="A", id="a", links=("https://a.example",), side="right")]
    sheet = outline.sheets[0]
    assert sheet.floating == (Topic(text="floating", kind=TopicKind.FLOATING),)
    assert [summary.topic.text for summary in sheet.summaries] == ["sum"]
    assert (one.text, two.text) == ("One", "Two")


def test_xml_notes_plain_before_html() -> None:
    html = "<html><xhtml:p>a</xhtml:p><xhtml:p>b</xhtml:p></html>"
    outline = read(
        archive(
            content__xml=xmind_xml(
                f"<title>1</title><notes>{html}<plain>plain</plain></notes>",
                f"<title>2</title><notes>{html}<plain> </plain></notes>",
            )
        ),
        LIMITS,
    )
    assert [root.note for root in outline.roots] == ["plain", "a\nb"]


def test_prefixed_namespace() -> None:
    data = (
        '<ns0:xmap-content xmlns:ns0="urn:xmind:xmap:xmlns:content:2.0"><ns0:sheet><ns0:topic>'
        "<ns0:title>t</ns0:title></ns0:topic></ns0:sheet></ns0:xmap-content>"
    )
    assert read(archive(content__xml=data), LIMITS).roots[0].text == "t"


def test_bare_xml() -> None:
    assert read(xmind_xml("<title>bare</title>").encode(), LIMITS).roots[0].text == "bare"


def test_json_is_preferred_to_the_dummy() -> None:
    content = json.dumps([{"rootTopic": {"title": "real"}}])
    outline = read(archive(content__xml=DUMMY, content__json=content), LIMITS)
    assert [root.text for root in outline.roots] == ["real"]


def test_every_emphasis_of_a_note_is_kept() -> None:
    styles = (
        '<xmap-styles xmlns:fo="f"><styles><style id="s"><text-properties fo:font-weight="bold"'
        ' fo:font-style="italic" fo:text-decoration="underline line-through"/></style></styles>'
        "</xmap-styles>"
    )
    html = '<html><xhtml:p>so <xhtml:span style-id="s">it is</xhtml:span></xhtml:p></html>'
    content = xmind_xml(f"<title>r</title><notes>{html}<plain>so it is</plain></notes>")
    data = archive_of({"content.xml": content, "styles.xml": styles})
    (root,) = read(data, LIMITS).roots
    assert root.note_html == "<p>so <s><u><i><b>it is</b></i></u></s></p>"


def test_json_children_notes_and_links() -> None:
    outline = read(
        xmind_json(
            {
                "id": "r",
                "title": "Root",
                "notes": {"plain": {"content": "a\r\nnote"}},
                "children": {
                    "detached": [{"title": "floating"}],
                    "attached": [{"title": "A", "href": "https://a.example"}, None, 5],
                    "summary": [
                        {"title": "s", "notes": {"realHTML": {"content": "<div>x</div>y"}}}
                    ],
                },
            },
            {"title": "Second"},
        ),
        LIMITS,
    )
    assert outline.roots[0] == Topic(
        id="r",
        text="Root",
        note="a\nnote",
        children=[Topic(text="A", links=("https://a.example",), side="right")],
    )
    sheet = outline.sheets[0]
    assert [topic.text for topic in sheet.floating] == ["floating"]
    assert [(summary.topic.text, summary.topic.note) for summary in sheet.summaries] == [
        ("s", "x\ny")
    ]
    assert sheet.summaries[0].topic.note_html == "x<br>y"
    assert outline.roots[1].text == "Second"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"creator": {"name": "Vana", "version": "10.1"}}, ("XMind", "10.1")),
        ({"creator": {"name": "Xmind", "version": "24.01"}}, ("XMind", "24.01")),
        ({"creator": {"name": "Other\u202e Program"}}, ("Other Program", "")),
        ({}, ("XMind", "")),
        ([], ("XMind", "")),
    ],
)
def test_software_of_the_newer_kind(metadata: object, expected: tuple[str, str]) -> None:
    content = json.dumps([{"rootTopic": {"title": "t"}}])
    outline = read(archive(content__json=content, metadata__json=json.dumps(metadata)), LIMITS)
    assert (outline.software, outline.software_version) == expected


def test_software_of_the_older_kind() -> None:
    meta = "<meta><Creator><Name>XMind</Name><Version>R3.7.8</Version></Creator></meta>"
    outline = read(archive(content__xml=DUMMY, meta__xml=meta), LIMITS)
    assert (outline.software, outline.software_version) == ("XMind", "R3.7.8")


def test_broken_metadata_does_not_lose_the_map() -> None:
    outline = read(archive(content__xml=DUMMY, meta__xml="<meta><Creator>"), LIMITS)
    assert (outline.software, outline.roots[0].text) == ("XMind", "Warning 警告")


def test_member_names_with_a_leading_slash() -> None:
    data = archive_of({"/content.xml": xmind_xml("<title>slash</title>")})
    assert read(data, LIMITS).roots[0].text == "slash"


@pytest.mark.parametrize("content", ["{}", "[]", "[{}]", '[{"rootTopic": 5}]', "null", "[[[]]]"])
def test_json_that_is_no_map(content: str) -> None:
    with pytest.raises(BrokenFile):
        read(archive(content__json=content), LIMITS)


def test_password() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = archive_of({"content.xml": b"\x8a\x01", "META-INF/manifest.xml": manifest})
    with pytest.raises(BrokenFile, match="password"):
        read(data, LIMITS)


def test_another_programs_content_xml() -> None:
    with pytest.raises(NotAMap, match="OpenDocument"):
        read(archive(mimetype="application/x", content__xml="<office:document/>"), LIMITS)


def test_xml_labels_markers_and_rich_notes() -> None:
    outline = read(
        archive(
            content__xml=xmind_xml(
                "<title>r</title><notes><html><xhtml:p>rich <xhtml:b>note</xhtml:b></xhtml:p>"
                "</html><plain>rich note</plain></notes>"
                "<labels><label>one</label><label>two</label></labels>"
                '<marker-refs><marker-ref marker-id="priority-1"/></marker-refs>'
            ),
            meta__xml="<meta><Author><Name> Ann\n&#x202e;Lee</Name></Author><Create>"
            "<Time>2024-01-01T00:00:00Z</Time></Create></meta>",
        ),
        LIMITS,
    )
    root = outline.roots[0]
    assert root.note == "rich note"
    assert "<b>note</b>" in root.note_html
    assert root.tags == ("one", "two")
    assert root.markers == (Marker("priority-1", "priority-1"),)
    assert (outline.author, outline.created) == ("Ann Lee", 1704067200000)
    assert summary.description(outline) == "rich note"


def test_json_labels_and_markers() -> None:
    outline = read(
        xmind_json(
            {"title": "r", "labels": ["one", 2, None], "markers": [{"markerId": "task-done"}, 5]}
        ),
        LIMITS,
    )
    assert outline.roots[0].tags == ("one", "2")
    assert outline.roots[0].markers == (Marker("task-done", "task-done"),)
    assert outline.roots[0].note == ""
