"""MindManager: cases from real files, each as a minimal example."""

import base64
from dataclasses import replace

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import (
    Attachment,
    Boundary,
    Marker,
    Outline,
    Relationship,
    Style,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of, as_file, drawn

LIMITS = Limits()
NAMESPACE = "http://schemas.mindjet.com/MindManager/Application/2003"


def document(inner: str, root: str = "Map", rest: str = "") -> str:
    """Return a ``Document.xml`` whose central topic contains ``inner``."""
    return (
        f'<ap:{root} xmlns:ap="{NAMESPACE}" xmlns:cor="http://x.example/core"><ap:OneTopic>'
        f'<ap:Topic OId="c"><ap:Text PlainText="Centre"/>{inner}</ap:Topic></ap:OneTopic>{rest}'
        f"</ap:{root}>"
    )


def outline_of(inner: str, root: str = "Map", rest: str = "") -> Outline:
    return read(archive_of({"Document.xml": document(inner, root, rest)}), LIMITS)


def topic(text: str, inner: str = "") -> str:
    return f'<ap:Topic><ap:Text PlainText="{text}"/>{inner}</ap:Topic>'


def callout(text: str) -> str:
    return f"<ap:FloatingTopics>{topic(text)}</ap:FloatingTopics>"


def sub_topics(*inner: str) -> str:
    """Return topics ``t0``, ``t1`` ... that contain ``inner``."""
    topics = (
        f'<ap:Topic OId="t{number}"><ap:Text PlainText="T{number}"/>{part}</ap:Topic>'
        for number, part in enumerate(inner)
    )
    return f"<ap:SubTopics>{''.join(topics)}</ap:SubTopics>"


def test_topics_hang_in_groups() -> None:
    outline = outline_of(
        f"<ap:SubTopics>{topic('A', callout('remark'))}<ap:Topic/></ap:SubTopics>"
        f"<ap:FloatingTopics>{topic('floating')}</ap:FloatingTopics>"
        "<ap:OneBoundary><ap:Boundary><ap:FloatingTopics>"
        f"{topic('on the boundary')}</ap:FloatingTopics></ap:Boundary></ap:OneBoundary>",
    )
    (root,) = outline.roots
    assert (root.id, root.text) == ("c", "Centre")
    assert [child.text for child in root.children] == ["A", "", "on the boundary"]
    assert root.children[2].kind is TopicKind.CALLOUT
    assert [(child.text, child.kind) for child in root.children[0].children] == [
        ("remark", TopicKind.CALLOUT)
    ]
    assert [topic.text for topic in outline.sheets[0].floating] == ["floating"]


def test_topics_that_float_beside_the_central_one() -> None:
    outline = outline_of("", rest=f"<ap:FloatingTopics>{topic('legend')}</ap:FloatingTopics>")
    assert [topic.text for topic in outline.sheets[0].floating] == ["legend"]


def test_notes_task_and_labels() -> None:
    note = (
        '<ap:NotesGroup><ap:NotesXhtmlData PreviewPlainText="no"><html><p>a <b>b</b></p></html>'
        "</ap:NotesXhtmlData></ap:NotesGroup>"
        '<ap:Task TaskPriority="urn:mindjet:Prio1" TaskPercentage="50" Resources="Ann; Bob"'
        ' StartDate="2026-01-31T00:00:00" DeadlineDate="2026-02-01T09:30:00"/>'
        '<ap:TextLabels><ap:TextLabel TextLabelName="one"/></ap:TextLabels>'
        '<ap:Comments><ap:Comment AuthorName="Ann" Text="why?"/></ap:Comments>'
    )
    (root,) = outline_of(note).roots
    assert root.note == "a b\nAnn: why?"
    assert "<b>b</b>" in root.note_html
    assert root.tags == ("one",)
    assert root.task == Task(
        progress=50,
        priority=1,
        start="2026-01-31",
        due="2026-02-01T09:30",
        resources=("Ann", "Bob"),
    )


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
    assert outline.roots[0].note == "what\nmore"
    assert outline.roots[0].tags == ("k", "l")
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


def test_description_of_a_template_is_not_the_maps() -> None:
    comments = "This is a blank template with one topic, for MindManager."
    outline = outline_of(
        "",
        rest=f'<ap:DocumentGroup><ap:Description Subject="Plan" Comments="{comments}"/>'
        "</ap:DocumentGroup>",
    )
    assert outline.roots[0].note == "Plan"


def test_metadata_of_the_map_is_cleaned() -> None:
    outline = outline_of(
        "",
        rest='<ap:DocumentGroup><ap:Description Subject="a&#x202e;b"/>'
        f'<ap:Keywords Keywords=" k&#x202e; ,{"x" * 900}"/></ap:DocumentGroup>',
    )
    assert outline.roots[0].note == "ab"
    assert outline.roots[0].tags[0] == "k"
    assert len(outline.roots[0].tags[1]) <= 500


def test_icons() -> None:
    icons = "".join(
        f'<ap:Icon IconType="urn:mindjet:{name}"/>'
        for name in ("FlagRed", "Emergency", "Prio2", "ArrowUp", "JudgeHammer")
    )
    (root,) = outline_of(
        f'<ap:IconsGroup><ap:Icons>{icons}<ap:Icon IconSignature="77"/></ap:Icons></ap:IconsGroup>'
    ).roots
    assert [marker.name for marker in root.markers] == [
        *("flag-red", "warning", "priority-2", "arrow-up", "other-judge-hammer", "other-custom")
    ]
    assert root.markers[0].original == "urn:mindjet:FlagRed"


PICTURE = (
    '<ap:OneImage><ap:Image><ap:ImageData ImageType="urn:mindjet:PngImage">{data}</ap:ImageData>'
    '<ap:ImageSize Width="25.4" Height="12.7"/></ap:Image></ap:OneImage>'
)


def test_picture_in_the_archive_with_its_size_in_millimetres() -> None:
    inner = PICTURE.format(data="<cor:Uri>mmarch://bin/A.bin</cor:Uri>")
    data = archive_of({"Document.xml": document(inner), "bin/A.bin": as_file(drawn())})
    (image,) = read(data, LIMITS).roots[0].images
    assert (len(image.digest), image.width, image.height) == (64, 96, 48)


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf", "1e999", "wide"])
def test_numbers_that_are_not_finite_count_as_missing(odd: str) -> None:
    picture = PICTURE.format(data="<cor:Uri>mmarch://bin/A.bin</cor:Uri>").replace("25.4", odd)
    offset = f'<ap:Offset CX="{odd}" CY="25.4"/>'
    inner = document(picture + sub_topics(offset))
    data = archive_of({"Document.xml": inner, "bin/A.bin": as_file(drawn())})
    (root,) = read(data, LIMITS).roots
    (image,) = root.images
    assert (image.width, image.height) == (96, 48)  # the height tells the width
    assert (root.children[0].side, root.children[0].position) == ("", (0, 96))


@pytest.mark.parametrize("member", ["mmarch://bin/B.bin", "http://x.example/a.png", ""])
def test_picture_that_is_not_there(member: str) -> None:
    (image,) = outline_of(PICTURE.format(data=f"<cor:Uri>{member}</cor:Uri>")).roots[0].images
    assert (image.digest, image.width) == ("", 96)


def test_picture_in_xml_without_an_archive() -> None:
    written = base64.b64encode(as_file(drawn())).decode()
    inner = PICTURE.format(data=f"<cor:Base64>{written}</cor:Base64>")
    (image,) = read(document(inner).encode(), LIMITS).roots[0].images
    assert image.digest


def test_attachments() -> None:
    inner = (
        '<ap:AttachmentGroup><ap:AttachmentData FileName="plan.pdf">'
        "<cor:Uri>mmarch://bin/P.bin</cor:Uri></ap:AttachmentData></ap:AttachmentGroup>"
    )
    data = archive_of({"Document.xml": document(inner), "bin/P.bin": b"12345"})
    assert read(data, LIMITS).roots[0].attachments == (Attachment("plan.pdf", 5),)


def test_looks() -> None:
    (root,) = outline_of(
        '<ap:SubTopicShape SubTopicShape="urn:mindjet:Oval"/>'
        '<ap:CalloutFloatingTopicShape CalloutFloatingTopicShape="urn:mindjet:None"/>'
        '<ap:Color FillColor="ff112233" LineColor="ff445566"/>'
    ).roots
    assert root.style == Style(fill="#112233", line="#445566", border="#445566", shape="ellipse")
    assert outline_of('<ap:Color FillColor="00112233"/>').roots[0].style is None


def test_letters_of_the_whole_text_and_of_parts() -> None:
    text = (
        '<ap:Text PlainText="a &lt;b&gt; c"><ap:Font Bold="true" Size="14." Color="ffff0000"/>'
        '<ap:FontRange Bold="true" From="2" To="4"/><ap:FontRange Italic="true" From="4" To="6"/>'
        '<ap:FontRange Color="ff000000" From="0" To="1"/></ap:Text>'
    )
    (root,) = outline_of(f"<ap:SubTopics><ap:Topic>{text}</ap:Topic></ap:SubTopics>").roots
    (part,) = root.children
    assert part.style == Style(text="#ff0000", bold=True, size=14)
    assert part.text_html == "a <b>&lt;b</b><i><b>&gt;</b></i><i> c</i>"


def test_ranges_without_a_format_leave_the_text_plain() -> None:
    ranges = '<ap:FontRange Bold="false" Color="ff000000" From="0" To="3"/>'
    text = f'<ap:Text PlainText="plain"><ap:Font/>{ranges}</ap:Text>'
    (root,) = outline_of(f"<ap:SubTopics><ap:Topic>{text}</ap:Topic></ap:SubTopics>").roots
    assert (root.children[0].text_html, root.children[0].style) == ("", None)


def relationship(start: str, end: str, inner: str = "") -> str:
    ends = "".join(
        f'<ap:ConnectionGroup Index="{number}"><ap:Connection><ap:ObjectReference OIdRef="{oid}"/>'
        "</ap:Connection></ap:ConnectionGroup>"
        for number, oid in enumerate((start, end))
    )
    return f"<ap:Relationships><ap:Relationship>{ends}{inner}</ap:Relationship></ap:Relationships>"


def test_relationships_with_the_topic_that_is_their_label() -> None:
    label = f"<ap:FloatingTopics>{topic('leads to')}</ap:FloatingTopics>"
    outline = outline_of(
        sub_topics("", ""),
        rest=relationship("t0", "t1", f'{label}<ap:Color LineColor="ffff6600"/>'),
    )
    assert outline.sheets[0].relationships == (Relationship("t0", "t1", "leads to", "#ff6600"),)
    assert len(outline.roots[0].children) == 2


@pytest.mark.parametrize(("usual", "expected"), [("ffff6600", "#ff6600"), ("ff000000", "")])
def test_relationships_have_the_colour_that_is_usual_in_the_map(usual: str, expected: str) -> None:
    group = f'<ap:DefaultColor FillColor="00000000" LineColor="{usual}"/>'
    styles = f"<ap:RelationshipDefaultsGroup>{group}</ap:RelationshipDefaultsGroup>"
    outline = outline_of(
        sub_topics("", ""),
        rest=f"{relationship('t0', 't1')}<ap:StyleGroup>{styles}</ap:StyleGroup>",
    )
    assert outline.sheets[0].relationships == (Relationship("t0", "t1", "", expected),)


BOUNDARY = '<ap:OneBoundary><ap:Boundary OId="b">{inner}</ap:Boundary></ap:OneBoundary>'


def test_boundaries_and_relationships_to_them() -> None:
    outline = outline_of(
        sub_topics(BOUNDARY.format(inner='<ap:Color LineColor="ff00ff00"/>'), ""),
        rest=relationship("b", "t1"),
    )
    assert outline.sheets[0].boundaries == (Boundary(("t0",), "", "#00ff00"),)
    assert outline.sheets[0].relationships == (Relationship("t0", "t1"),)


def test_boundaries_have_the_colour_of_the_lines_of_the_map() -> None:
    group = '<ap:RootTopicDefaultsGroup><ap:DefaultColor LineColor="ff102030"/>'
    rest = f"<ap:StyleGroup>{group}</ap:RootTopicDefaultsGroup></ap:StyleGroup>"
    inner = (BOUNDARY.format(inner=""), BOUNDARY.format(inner='<ap:Color FillColor="ff00ff00"/>'))
    (sheet,) = outline_of(sub_topics(*inner), rest=rest).sheets
    assert [line.colour for line in sheet.boundaries] == ["#102030", "#00ff00"]


def test_sides_of_main_topics_of_mindmanager() -> None:
    places = ('<ap:Offset CX="9" CY="1"/>', '<ap:Offset CX="-9" CY="1"/>', "")
    (sheet,) = outline_of(sub_topics(places[0], places[1] + sub_topics(places[0]), "")).sheets
    assert [main.side for main in sheet.root.children] == ["right", "left", ""]
    assert sheet.root.children[1].children[0].side == ""
    assert sheet.clockwise


def test_boundary_around_a_topic_without_id() -> None:
    inner = f"<ap:SubTopics>{topic('A', BOUNDARY.format(inner=''))}</ap:SubTopics>"
    outline = outline_of(inner)
    (boundary,) = outline.sheets[0].boundaries
    assert boundary.topics == (outline.roots[0].children[0].id,) != ("",)


def test_boundary_that_is_a_brace_is_a_summary() -> None:
    shape = '<ap:BoundaryShape BoundaryShape="urn:mindjet:SummaryArc"/>'
    inner = f"<ap:FloatingTopics>{topic('in short')}</ap:FloatingTopics>{shape}"
    sheet = outline_of(sub_topics(BOUNDARY.format(inner=inner))).sheets[0]
    assert sheet.boundaries == ()
    ((topics, summary),) = sheet.summaries
    assert (topics, summary.text, summary.kind) == (("t0",), "in short", TopicKind.SUMMARY)


def test_leaves_are_not_folded() -> None:
    """MindManager also folds leaves, and writes the state for each view: the first one counts."""
    folded = '<ap:TopicViewGroup ViewIndex="0"><ap:Collapsed Collapsed="true"/></ap:TopicViewGroup>'
    other = folded.replace('"0"', '"1"')
    (root,) = outline_of(
        sub_topics(folded, f"{sub_topics('')}{folded}", f"{sub_topics('')}{other}")
    ).roots
    assert [child.folded for child in root.children] == [False, True, False]


def test_links_to_topics() -> None:
    place = "#xpointer(/descendant-or-self::ap:Topic[@OId='a+b=='])"
    links = f'<ap:Hyperlink Url="{place}"/>'
    assert outline_of(links).roots[0].links == ("#a+b==",)
    links = f'<ap:Hyperlink Url="other.mmap{place}"/>'
    assert outline_of(links).roots[0].links == ("other.mmap#a+b==",)


def test_places_count_from_the_middle() -> None:
    offset = '<ap:Offset CX="25.4" CY="-12.7"/>'
    (root,) = outline_of(sub_topics(offset + sub_topics(offset))).roots
    (main,) = root.children
    assert main.position == (96, -48)
    assert main.children[0].position is None  # relative to the parent


def test_levels_have_styles() -> None:
    group = (
        "<ap:StyleGroup><ap:RootTopicDefaultsGroup>"
        '<ap:DefaultColor FillColor="fffee49e" LineColor="ff000000"/></ap:RootTopicDefaultsGroup>'
        '<ap:RootSubTopicDefaultsGroup Level="1"><ap:DefaultColor FillColor="ffccffff"'
        ' LineColor="ff0000ff"/></ap:RootSubTopicDefaultsGroup>'
        '<ap:RootSubTopicDefaultsGroup Level="0"><ap:DefaultColor FillColor="ffffff99"/>'
        '<ap:DefaultText><ap:Font Size="14." Bold="true"/></ap:DefaultText>'
        '<ap:DefaultSubTopicShape SubTopicShape="urn:mindjet:RoundedRectangle"/>'
        "</ap:RootSubTopicDefaultsGroup><ap:CalloutTopicDefaultsGroup>"
        '<ap:DefaultCalloutFloatingTopicShape CalloutFloatingTopicShape="urn:mindjet:OvalBalloon"/>'
        "</ap:CalloutTopicDefaultsGroup></ap:StyleGroup>"
    )
    own = '<ap:Color FillColor="00ffffff"/>'
    deep = sub_topics(sub_topics(sub_topics(callout("call"))), own)
    (root,) = outline_of(deep, rest=group).roots
    styles = [topic.style for _, topic in root.walk()]
    third = Style(fill="#ccffff", line="#0000ff")
    main = Style(
        fill="#ffff99", line="#000000", border="#000000", bold=True, size=14, shape="rounded"
    )
    assert styles == [
        Style(fill="#fee49e", line="#000000"),
        main,
        third,
        third,
        Style(line="#000000", border="#000000", shape="ellipse"),
        replace(main, fill=""),
    ]


def test_background() -> None:
    style = '<ap:StyleGroup><ap:BackgroundFill FillColor="{}"/></ap:StyleGroup>'
    assert outline_of("", rest=style.format("ffffffe5")).sheets[0].background == "#ffffe5"
    assert outline_of("", rest=style.format("ffffffff")).sheets[0].background == ""


def test_styles_and_markers_of_the_document_are_no_topics() -> None:
    things = (
        '<ap:IconsGroup><ap:Icons><ap:Icon IconType="urn:mindjet:FlagRed"/></ap:Icons>'
        '</ap:IconsGroup><ap:Task TaskPriority="urn:mindjet:Prio1"/>'
    )
    rest = (
        f"<ap:StyleGroup>{things}</ap:StyleGroup><ap:MarkersSetGroup>{things}</ap:MarkersSetGroup>"
    )
    assert outline_of("", rest=rest).roots == (Topic("Centre", "c"),)


def test_files_without_namespaces_are_read() -> None:
    data = (
        '<?xml version="1.0"?><Map><Topic Text="Centre"><Notes>said</Notes><Icon Name="FlagRed"/>'
        '<Hyperlink URL="http://a.example/"/><Topic Text="A"><Topic Text="B"/></Topic></Topic>'
        "</Map>"
    )
    outline = read(data.encode(), LIMITS)
    assert outline.roots == (
        Topic(
            "Centre",
            note="said",
            markers=(Marker("flag-red", "FlagRed"),),
            links=("http://a.example/",),
            children=[Topic("A", children=[Topic("B")])],
        ),
    )
    assert outline.software == "MindManager"


def test_other_maps_without_namespaces_are_refused() -> None:
    with pytest.raises(NotAMap):
        read(b"<Map><Layer Text='roads'/></Map>", LIMITS)
