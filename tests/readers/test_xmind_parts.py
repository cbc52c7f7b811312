"""XMind: everything in maps besides text, in both kinds of file, and invalid forms of it."""

import json
import sys
from types import FrameType
from typing import Any

import pytest

from mapshelf.model import (
    Attachment,
    Boundary,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.model.markers import is_known
from mapshelf.readers import Limits, read
from mapshelf.readers.formats import xmind_parts
from mapshelf.readers.formats.xmind_markers import xmind_marker
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from tests.readers.samples import XMIND_XML, archive_of, as_file, drawn

LIMITS = Limits()


def older(topic: str, sheet: str = "", members: dict[str, str | bytes] | None = None) -> Outline:
    """Return the outline of an older file, with XML in its central topic and its sheet."""
    content = XMIND_XML.format(
        sheets=f'<sheet id="s" style-id="paper"><topic id="c"><title>C</title>{topic}</topic>'
        f"{sheet}</sheet>"
    )
    return finished(archive_of({"content.xml": content, **(members or {})}))


def newer(
    topic: dict[str, object],
    sheet: dict[str, object] | None = None,
    members: dict[str, str | bytes] | None = None,
) -> Outline:
    """Return the outline of a newer file, from the members of its central topic and its sheet."""
    root = {"id": "c", "title": "C", **topic}
    content = json.dumps([{"rootTopic": root, **(sheet or {})}])
    return finished(archive_of({"content.json": content, **(members or {})}))


def finished(data: bytes) -> Outline:
    """Return the outline of a file as the catalogue keeps it."""
    outline = read(data, LIMITS)
    assign_topic_ids(outline)
    return sound_sheets(outline)


def branches(group: str, *inner: str) -> str:
    """Return children in the older format, with ids like ``attached0``."""
    topics = (
        f'<topic id="{group}{number}"><title>{group} {number}</title>{part}</topic>'
        for number, part in enumerate(inner)
    )
    return f'<topics type="{group}">{"".join(topics)}</topics>'


def json_branches(group: str, *inner: dict[str, object]) -> dict[str, object]:
    topics = [
        {"id": f"{group}{number}", "title": f"{group} {number}", **part}
        for number, part in enumerate(inner)
    ]
    return {group: topics}


PLACE = '<position x="{}" y="{}"/>'
OLDER = older(
    f"<children>{branches('attached', '', '', '')}"
    f"{branches('detached', PLACE.format(100, -20.5))}{branches('callout', PLACE.format(9, 9))}"
    f"{branches('summary', '', '')}</children>"
    '<summaries><summary range="(1,2)" topic-id="summary0"/>'
    '<summary range="(0,)" topic-id="summary1"/></summaries>'
    '<boundaries><boundary id="b1" range="(0,1)" style-id="line"><title>two</title></boundary>'
    '<boundary id="b2" range="master"/></boundaries>',
    '<title>Plan</title><relationships><relationship end1="attached0" end2="attached2"'
    ' style-id="line"><title>leads to</title></relationship>'
    '<relationship end1="b1" end2="detached0"/><relationship end1="attached0" end2="gone"/>'
    "</relationships>",
    {
        "styles.xml": '<xmap-styles><styles><style id="paper"><map-properties fill="#FFF9EA"/>'
        '</style><style id="line"><relationship-properties line-color="#B62C25"/></style></styles>'
        "</xmap-styles>"
    },
)
NEWER = newer(
    {
        "children": {
            **json_branches("attached", {}, {}, {}),
            **json_branches("detached", {"position": {"x": 100, "y": -20.5}}),
            **json_branches("callout", {"position": {"x": 9, "y": 9}}),
            **json_branches("summary", {}, {}),
        },
        "summaries": [
            {"range": "(1,2)", "topicId": "summary0"},
            {"range": "(0,)", "topicId": "summary1"},
        ],
        "boundaries": [
            {
                "id": "b1",
                "range": "(0,1)",
                "title": "two",
                "titleUnedited": True,
                "style": {"properties": {"line-color": "#B62C25"}},
            },
            {"id": "b2", "range": "master", "title": ""},
        ],
    },
    {
        "title": "Plan",
        "style": {"properties": {"svg:fill": "#FFF9EA"}},
        "relationships": [
            {
                "end1Id": "attached0",
                "end2Id": "attached2",
                "title": "leads to",
                "style": {"properties": {"line-color": "#B62C25"}},
            },
            {"end1Id": "b1", "end2Id": "detached0"},
            {"end1Id": "attached0", "end2Id": "gone"},
        ],
    },
)
BOTH = pytest.mark.parametrize("outline", [OLDER, NEWER], ids=["older", "newer"])


@BOTH
def test_parts_of_a_sheet_besides_the_tree(outline: Outline) -> None:
    (sheet,) = outline.sheets
    attached = [f"attached{number}" for number in range(3)]
    assert sheet == Sheet(
        Topic(
            "C",
            "c",
            children=[
                Topic("attached 0", "attached0", side="right"),
                Topic("attached 1", "attached1", side="right"),
                Topic("attached 2", "attached2", side="left"),
                Topic("callout 0", "callout0", kind=TopicKind.CALLOUT),
            ],
        ),
        "Plan",
        (Topic("detached 0", "detached0", kind=TopicKind.FLOATING, position=(100, -20.5)),),
        (
            Relationship("attached0", "attached2", "leads to", "#b62c25"),
            Relationship("attached0", "detached0"),
        ),
        (Boundary(("attached0", "attached1"), "two", "#b62c25"), Boundary(("c",))),
        (
            Summary(
                ("attached1", "attached2"),
                Topic("summary 0", "summary0", kind=TopicKind.SUMMARY),
            ),
            Summary(tuple(attached), Topic("summary 1", "summary1", kind=TopicKind.SUMMARY)),
        ),
        "#fff9ea",
    )


def test_brackets_around_topics_without_ids() -> None:
    """One real file gives 180 topics the id ""."""
    outline = newer(
        {
            "children": {
                "attached": [{"id": "", "title": "A"}, {"id": "", "title": "B"}],
                "summary": [{"id": "", "title": "S"}],
            },
            "boundaries": [{"range": "(1,1)"}],
            "summaries": [{"range": "(0,1)", "topicId": ""}],
        }
    )
    (sheet,) = outline.sheets
    first, second = (child.id for child in sheet.root.children)
    assert first != second
    assert sheet.boundaries == (Boundary((second,)),)
    assert sheet.summaries[0].topics == (first, second)


def test_a_summary_that_names_no_topic_takes_them_in_order() -> None:
    outline = newer(
        {
            "children": {**json_branches("attached", {}, {}), **json_branches("summary", {}, {})},
            "summaries": [{"range": "(0,0)"}, {"range": "(1,1)"}],
        }
    )
    assert [summary.topics for summary in outline.sheets[0].summaries] == [
        ("attached0",),
        ("attached1",),
    ]


@pytest.mark.parametrize("span", ["", "(7,9)", "(x)", "(2,1)", "(99999999,1)"])
def test_invalid_ranges_are_ignored(span: str) -> None:
    outline = newer(
        {"children": json_branches("attached", {}), "boundaries": [{"range": span}]},
    )
    assert outline.sheets[0].boundaries == ()


def test_floating_topics_below_others_stand_alone_too() -> None:
    outline = newer(
        {
            "children": json_branches(
                "attached",
                {"children": {"detached": [{"title": "F", "position": {"x": 1, "y": 2}}]}},
            )
        }
    )
    (topic,) = outline.sheets[0].floating
    assert (topic.text, topic.position) == ("F", None)  # its position is not relative to the centre


def test_folded() -> None:
    assert newer({"branch": "folded"}).roots[0].folded
    children = '<children><topics type="attached"><topic branch="folded"/></topics></children>'
    assert older(children).roots[0].children[0].folded


def test_pictures() -> None:
    members: dict[str, str | bytes] = {"attachments/a.png": as_file(drawn((40, 20)))}
    inner = '<xhtml:img xhtml:src="xap:attachments/a.png" xmlns:svg="s" svg:width="20"/>'
    source = {"src": "xap:attachments/a.png", "width": 20}
    for outline in (older(inner, members=members), newer({"image": source}, members=members)):
        (image,) = outline.roots[0].images
        assert (len(image.digest), image.width, image.height) == (64, 20, 10)


@pytest.mark.parametrize(
    ("source", "alt"),
    [
        ("http://a.example/pic.png?x=1", "pic.png"),
        ("xap:resources/gone.png", ""),
        ("xap:resources/no.svg", ""),
    ],
)
def test_pictures_that_are_not_there(source: str, alt: str) -> None:
    outline = newer({"image": {"src": source}}, members={"resources/no.svg": "<html/>"})
    (image,) = outline.roots[0].images
    assert (image.digest, image.alt) == ("", alt)


def test_a_too_large_picture_is_left_out() -> None:
    limits = Limits(unpacked=5_000, picture=50_000)
    content = json.dumps([{"rootTopic": {"title": "C", "image": {"src": "xap:a.png"}}}])
    data = archive_of({"content.json": content, "a.png": bytes(20_000)})
    (image,) = read(data, limits).roots[0].images
    assert image.digest == ""


def test_a_formula_and_not_the_picture_of_it() -> None:
    outline = newer(
        {
            "image": {"src": "xap:resources/f.png", "isMathJaxImage": True},
            "extensions": [
                {"provider": "org.xmind.ui.mathJax", "content": {"content": "$e^{i\\pi}$"}}
            ],
        }
    )
    assert outline.roots[0].formula == "e^{i\\pi}"
    assert outline.roots[0].images == ()


def test_links() -> None:
    for link, expected in (
        ("xmind:#t1", "#t1"),
        ("https://a.example/", "https://a.example/"),
        ("file:///a/b.txt", "file:///a/b.txt"),
        ("../x.xmind", "../x.xmind"),
    ):
        assert newer({"href": link}).roots[0].links == (expected,)
    inner = '<children><topics type="attached"><topic xlink:href="xmind:#t1"/></topics></children>'
    assert older(inner).roots[0].children[0].links == ("#t1",)


def test_attachments() -> None:
    """Members of the archive have generated names: the title has the real one."""
    members: dict[str, str | bytes] = {"resources/ab12.pdf": b"12345", "r/p.png": as_file(drawn())}
    named = newer({"title": "plan.PDF", "href": "xap:resources/ab12.pdf"}, members=members)
    assert named.roots[0].attachments == (Attachment("plan.PDF", 5),)
    other = newer({"href": "xap:resources/ab12.pdf"}, members=members)
    assert other.roots[0].attachments == (Attachment("ab12.pdf", 5),)
    assert other.roots[0].links == ()
    picture = newer({"href": "xap:r/p.png"}, members=members).roots[0]
    assert len(picture.images) == 1
    assert [attachment.name for attachment in picture.attachments] == ["p.png"]


def test_an_audio_note_is_an_attachment() -> None:
    outline = older(
        '<extensions><extension provider="org.xmind.ui.audionotes"><resource-refs>'
        '<resource-ref resource-id="attachments/a.mp3" type="file-entry"/></resource-refs>'
        "</extension></extensions>",
        members={"attachments/a.mp3": b"123"},
    )
    assert outline.roots[0].attachments == (Attachment("a.mp3", 3),)


def test_tasks() -> None:
    inner = (
        '<extensions><extension provider="org.xmind.ui.taskInfo"><content check-point="true">'
        "<assigned-to>Ann, Bob</assigned-to><duration>1d</duration>"
        "<start-date>2022-04-05</start-date><progress>23</progress></content></extension>"
        '<extension provider="org.xmind.ui.map.unbalanced"/></extensions>'
    )
    expected = Task(progress=23, start="2022-04-05", resources=("Ann", "Bob"))
    assert older(inner).roots[0].task == expected
    facts = {"assigned-to": "Ann, Bob", "start-date": "2022-04-05", "progress": 23}
    listed = [{"name": name, "content": value} for name, value in facts.items()]
    for content in (facts, listed):
        extensions = [{"provider": "org.xmind.ui.taskInfo", "content": content}]
        assert newer({"extensions": extensions}).roots[0].task == expected


def test_a_task_of_the_newest_version() -> None:
    content = {"status": "doing", "due": 1769850000000, "priority": 2}
    extensions = [{"provider": "org.xmind.ui.task", "content": content}]
    assert newer({"extensions": extensions}).roots[0].task == Task(
        state="started", priority=2, due="2026-01-31T09:00"
    )


@pytest.mark.parametrize("state", ["todo", "paused", "done", "cancelled"])
def test_states_of_tasks(state: str) -> None:
    extensions = [{"provider": "org.xmind.ui.taskInfo", "content": {"status": state}}]
    assert newer({"extensions": extensions}).roots[0].task == Task(state=state)
    inner = (
        '<extensions><extension provider="org.xmind.ui.taskInfo"><content>'
        f"<status>{state}</status></content></extension></extensions>"
    )
    assert older(inner).roots[0].task == Task(state=state)


STYLES = (
    '<xmap-styles xmlns:svg="s" xmlns:fo="f"><styles><style id="own"><topic-properties'
    ' svg:fill="#DCE6F2" fo:color="#376092" fo:font-weight="bold" fo:font-style="italic"'
    ' fo:font-size="16pt" border-line-color="#558ED5" line-color="#000000" line-width="2pt"'
    ' shape-class="org.xmind.topicShape.roundedRect"/></style></styles><automatic-styles>'
    '<style id="theme"><topic-properties svg:fill="#FF0000"/></style></automatic-styles>'
    "</xmap-styles>"
)
LOOK = Style(
    text="#376092",
    fill="#dce6f2",
    line="#000000",
    border="#558ed5",
    bold=True,
    italic=True,
    size=16,
    shape="rounded",
    line_width=2,
)


def test_styles_of_older_xmind_files() -> None:
    children = (
        '<children><topics type="attached"><topic style-id="own"/><topic style-id="gone"/>'
        "<topic/></topics></children>"
    )
    (root,) = older(children, members={"styles.xml": STYLES}).roots
    assert [child.style for child in root.children] == [LOOK, None, None]
    (root,) = older(children, members={"styles.xml": "<broken"}).roots
    assert root.children[0].style is None


def test_styles_of_newer_xmind_files() -> None:
    properties = {
        "svg:fill": "#DCE6F2",
        "fo:color": "#376092",
        "fo:font-weight": "700",
        "fo:font-style": "italic",
        "fo:font-size": "16pt",
        "border-line-color": "#558ED5",
        "line-color": "#000000",
        "line-width": "2",
        "shape-class": "org.xmind.topicShape.roundedRect",
    }
    assert newer({"style": {"properties": properties}}).roots[0].style == LOOK
    nothing = {"svg:fill": "none", "fo:font-weight": "500", "fo:text-align": "left"}
    assert newer({"style": {"properties": nothing}}).roots[0].style is None


def test_titles_with_formatting() -> None:
    runs = [{"text": "a<b "}, {"text": "c", "fo:font-weight": "bold"}]
    assert newer({"attributedTitle": runs}).roots[0].text_html == "a&lt;b <b>c</b>"
    assert newer({"attributedTitle": runs[:1]}).roots[0].text_html == ""


def test_lines_of_titles_with_formatting() -> None:
    runs = [{"text": "a\nb\r\n"}, {"text": "c\rd", "fo:font-weight": "bold"}]
    assert newer({"attributedTitle": runs}).roots[0].text_html == "a<br>b<br><b>c<br>d</b>"
    assert newer({"attributedTitle": runs[:1]}).roots[0].text_html == ""


def test_notes_with_the_operations_of_an_editor() -> None:
    operations = [
        {"insert": "Head"},
        {"insert": "\n", "attributes": {"header": 2}},
        {"insert": "one "},
        {"insert": "bold", "attributes": {"bold": True}},
        {"insert": "\n", "attributes": {"list": "ordered"}},
        {"insert": "two", "attributes": {"link": 'http://a.example/"x'}},
        {"insert": "\n", "attributes": {"list": "ordered"}},
        {"insert": "a < b\nlast"},
    ]
    plain = "Head\none bold\ntwo\na < b\nlast"
    notes = {"plain": {"content": plain}, "ops": {"ops": operations}}
    (root,) = newer({"notes": notes}).roots
    assert root.note == plain
    assert root.note_html == (
        '<h2>Head</h2><ol><li>one <b>bold</b></li><li><a href="http://a.example/&quot;x"'
        ' rel="noopener noreferrer">two</a></li></ol><p>a &lt; b</p><p>last</p>'
    )


def test_notes_without_formatting_stay_plain() -> None:
    notes = {
        "plain": {"content": "words"},
        "ops": {"ops": [{"insert": "words\n"}]},
        "html": {"content": {"paragraphs": [{"spans": [{"text": "words"}]}]}},
    }
    (root,) = newer({"notes": notes}).roots
    assert (root.note, root.note_html) == ("words", "")


def test_notes_in_paragraphs() -> None:
    bold = {"text": "b", "style": {"properties": {"fo:font-weight": "bold"}}}
    link = {"href": "http://a.example/", "spans": [{"text": "l"}]}
    paragraphs = [{"spans": [{"text": "a"}, bold]}, {"spans": [link]}]
    notes = {"html": {"content": {"paragraphs": paragraphs}}}
    (root,) = newer({"notes": notes}).roots
    assert root.note == "ab\nl"
    assert "<b>b</b>" in root.note_html
    assert 'href="http://a.example/"' in root.note_html


def test_notes_of_the_older_kind_keep_formatting_and_pictures() -> None:
    styles = (
        '<xmap-styles><styles><style id="b"><text-properties font-weight="bold"/></style>'
        "</styles></xmap-styles>"
    )
    (root,) = older(
        '<notes><html><xhtml:p>a <xhtml:span style-id="b">b</xhtml:span>'
        '<xhtml:img xhtml:src="xap:attachments/a.png"/></xhtml:p></html><plain>a b</plain></notes>',
        members={"styles.xml": styles, "attachments/a.png": as_file(drawn())},
    ).roots
    assert root.note_html == "<p>a <b>b</b></p>"
    assert len(root.images) == 1


def test_comments() -> None:
    comments = (
        '<comments><comment author="Ann" object-id="c"><content>why?</content></comment>'
        '<comment author="" object-id="c"><content>because</content></comment>'
        '<comment author="Bob" object-id="gone"><content>?</content></comment></comments>'
    )
    note = "<notes><plain>note</plain></notes>"
    assert older(note, members={"comments.xml": comments}).roots[0].note == (
        "note\nAnn: why?\nbecause"
    )
    assert newer(
        {
            "notes": {"plain": {"content": "note"}},
            "comments": [{"author": "Ann", "content": "why?"}, {"content": "because"}, 5],
        }
    ).roots[0].note == ("note\nAnn: why?\nbecause")


def test_members_that_are_empty() -> None:
    """In one real file, every topic has all of these members."""
    empty: dict[str, object] = {
        "image": {},
        "labels": [],
        "comments": [],
        "markers": [],
        "style": {},
        "notes": {},
    }
    assert newer(empty).roots == (Topic("C", "c"),)


@pytest.mark.parametrize("value", [5, "x", [5], {"a": 5}, [[]], True, None])
def test_members_of_another_type(value: object) -> None:
    names = ("image", "labels", "comments", "markers", "style", "notes", "position", "branch")
    more = ("extensions", "boundaries", "summaries", "attributedTitle", "href")
    sheet = {"style": value, "relationships": value}
    outline = newer(dict.fromkeys((*names, *more), value), sheet)
    assert outline.roots[0].text == "C"


MARKERS = {
    "priority-9": "priority-9",
    "task-start": "progress-0",
    "task-oct": "progress-12",
    "task-half": "progress-50",
    "task-done": "task-done",
    "task-pause": "task-paused",
    "smiley-smile": "face-happy",
    "star-dark-green": "star-green",
    "half-star-gray": "star-grey",
    "flag-red": "flag-red",
    "people-orange": "person-orange",
    "tag-dark-blue": "tag-blue",
    "arrow-up-left": "arrow-up-left",
    "symbol-right": "yes",
    "symbol-code": "code",
    "c_symbol_drink": "drink",
    "c_simbol-plus": "plus",
    "month-aug": "month-8",
    "week-sun": "weekday-7",
    "other-lightbulb": "idea",
    "c_symbol_thermometer": "other-c-symbol-thermometer",
    "0a1b2c": "other-0a1b2c",
}


@pytest.mark.parametrize("identifier", MARKERS)
def test_markers(identifier: str) -> None:
    expected = Marker(MARKERS[identifier], identifier)
    assert xmind_marker(identifier) == expected
    assert newer({"markers": [{"markerId": identifier}]}).roots[0].markers == (expected,)


GROUPS = {
    "priority": "1 2 3 4 5 6 7 8 9",
    "task": "start oct quarter 3oct half 5oct 3quar 7oct done pause",
    "flag": "red orange yellow green blue purple gray dark-blue dark-green dark-gray",
    "star": "red orange yellow green blue purple gray dark-blue dark-green dark-gray",
    "people": "red orange yellow green blue purple gray dark-blue dark-green dark-gray",
    "half-star": "red yellow green blue purple gray",
    "tag": "red orange yellow green blue dark-blue dark-purple grey",
    "smiley": "smile laugh angry cry surprise boring embarrass think love sad devil upset",
    "arrow": "up down left right up-left up-right down-left down-right left-right up-down refresh",
    "month": "jan feb mar apr may jun jul aug sep oct nov dec",
    "week": "mon tue wed thu fri sat sun",
    "other": "calendar email phone phone2 fax people people2 clock coffee-cup question exclam"
    " lightbulb businesscard social chat note lock unlock yes no bomb",
}


@pytest.mark.parametrize("group", GROUPS)
def test_all_common_markers_have_a_name(group: str) -> None:
    markers = [xmind_marker(f"{group}-{name}") for name in GROUPS[group].split()]
    assert [marker for marker in markers if not is_known(marker.name)] == []


THEME = (
    '<xmap-styles xmlns:svg="s" xmlns:fo="f"><automatic-styles>'
    '<style id="own"><topic-properties fo:color="#112233"/></style>'
    '<style id="1"><topic-properties svg:fill="#DCE6F2" fo:color="#376092"/></style>'
    '<style id="2"><topic-properties svg:fill="#FF0000" line-color="#0000FF"/></style>'
    '<style id="3"><topic-properties border-line-color="#558ED5" line-color="#558ED5"/></style>'
    '<style id="4"><topic-properties svg:fill="#00FF00"/></style>'
    '<style id="5"><map-properties svg:fill="#FFF9EA"/></style>'
    '<style id="6"><relationship-properties line-color="#77933C"/></style>'
    '</automatic-styles><master-styles><style id="T" type="theme"><theme-properties>'
    '<default-style style-family="centralTopic" style-id="1"/>'
    '<default-style style-family="mainTopic" style-id="2"/>'
    '<default-style style-family="subTopic" style-id="3"/>'
    '<default-style style-family="floatingTopic" style-id="4"/>'
    '<default-style style-family="map" style-id="5"/>'
    '<default-style style-family="boundary" style-id="gone"/>'
    '<default-style style-family="relationship" style-id="6"/>'
    "</theme-properties></style></master-styles></xmap-styles>"
)


def styles_by_text(outline: Outline) -> dict[str, Style | None]:
    return {topic.text: topic.style for _, topic in outline.topics()}


def test_themes_of_the_older_kind_say_how_topics_look() -> None:
    content = XMIND_XML.format(
        sheets='<sheet id="s" theme="T"><topic id="c"><title>C</title><children>'
        '<topics type="attached"><topic id="m" style-id="own"><title>M</title><children>'
        '<topics type="attached"><topic id="d"><title>D</title></topic></topics></children>'
        '</topic></topics><topics type="detached"><topic id="f"><title>F</title></topic></topics>'
        '</children></topic><relationships><relationship end1="m" end2="d"/></relationships>'
        '</sheet><sheet theme="gone"><topic id="o"><title>O</title></topic></sheet>'
    )
    outline = finished(archive_of({"content.xml": content, "styles.xml": THEME}))
    assert styles_by_text(outline) == {
        "C": Style(fill="#dce6f2", text="#376092"),
        "M": Style(fill="#ff0000", line="#0000ff", text="#112233"),
        "D": Style(line="#558ed5", shape="underline"),
        "F": Style(fill="#00ff00"),
        "O": None,
    }
    assert outline.sheets[0].background == "#fff9ea"
    assert outline.sheets[0].relationships[0].colour == "#77933c"


def test_themes_of_the_newer_kind_colour_branches() -> None:
    children = {
        "attached": [
            {"id": "a", "title": "A", "children": {"attached": [{"id": "d", "title": "D"}]}},
            {"id": "b", "title": "B", "style": {"properties": {"line-color": "#010101"}}},
            {"id": "e", "title": "E"},
        ],
        "summary": [{"id": "s", "title": "S"}],
    }
    theme = {
        "map": {"properties": {"multi-line-colors": "#F04137 #F8932E", "svg:fill": "#F5F5FA"}},
        "centralTopic": {"properties": {"svg:fill": "#000000"}},
        "mainTopic": {"properties": {"fo:font-weight": "600", "line-color": "#333333"}},
        "subTopic": {"properties": {"fo:color": "inherited", "line-color": "#333333"}},
        "summaryTopic": {"properties": {"svg:fill": "#EBEBEB"}},
        "boundary": "hostile",
        "colorThemes": [1],
    }
    outline = newer({"children": children}, {"theme": theme})
    assert styles_by_text(outline) == {
        "C": Style(fill="#000000"),
        "A": Style(line="#f04137", bold=True),
        "B": Style(line="#010101", bold=True),
        "E": Style(line="#f04137", bold=True),
        "D": Style(shape="underline"),
        "S": Style(fill="#ebebeb"),
    }
    assert outline.sheets[0].background == "#f5f5fa"


def test_the_cost_of_a_boundary_does_not_depend_on_siblings() -> None:
    def steps(siblings: int, boundaries: int) -> int:
        attached = [{"id": f"k{n}", "title": "t"} for n in range(siblings)]
        around = [{"id": f"b{n}", "range": "(1,2)"} for n in range(boundaries)]
        root = {"id": "r", "children": {"attached": attached}, "boundaries": around}
        content = json.dumps([{"id": "s", "rootTopic": root}])
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            if frame.f_code.co_filename != xmind_parts.__file__:
                return None
            count += event == "line"
            return trace

        data = archive_of({"content.json": content, "metadata.json": "{}"})
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            read(data, Limits())
        finally:
            sys.settrace(before)
        return count

    few, many = (steps(siblings, 200) - steps(siblings, 1) for siblings in (20, 500))
    assert many < 1.5 * few


BRANCHES = ("", "", f"<children>{branches('attached', '', '', '')}</children>", "")


def sides_of(structure: str, right_number: str = "", *inner: str) -> tuple[list[str], bool]:
    """Return the sides of main topics and whether they run clockwise; both kinds of file agree."""
    name, extension = f"org.xmind.ui.{structure}", "org.xmind.ui.map.unbalanced"
    xml = XMIND_XML.format(
        sheets=f'<sheet><topic id="c" structure-class="{name if structure else ""}"><title/>'
        f"<children>{branches('attached', *(inner or BRANCHES))}</children><extensions>"
        f'<extension provider="{extension}"><content><right-number>{right_number}</right-number>'
        "</content></extension></extensions></topic></sheet>"
    )
    (sheet,) = finished(archive_of({"content.xml": xml})).sheets
    below: list[dict[str, object]] = [
        {"children": json_branches("attached", *({},) * part.count("<topic "))} if part else {}
        for part in inner or BRANCHES
    ]
    content = [{"name": "right-number", "content": right_number}] if right_number else []
    root: dict[str, object] = {
        "children": json_branches("attached", *below),
        "extensions": [{"provider": extension, "content": content}],
    }
    (newest,) = newer({**root, "structureClass": name} if structure else root).sheets
    sides = [topic.side for topic in sheet.root.children]
    assert [topic.side for topic in newest.root.children] == sides
    assert newest.clockwise == sheet.clockwise
    return sides, sheet.clockwise


@pytest.mark.parametrize(
    ("structure", "right_number", "rights", "clockwise"),
    [
        ("map.unbalanced", "1", 1, True),
        ("map.unbalanced", "0", 0, True),
        ("map.unbalanced", "9", 4, True),
        ("map.clockwise", "", 3, True),  # half of the visible topics is only reached there
        ("map.unbalanced", "-1", 3, True),
        ("map", "2", 2, False),
        ("", "", 3, False),
        ("logic.right", "1", 4, False),
        ("tree.left", "", 0, False),
    ],
)
def test_sides_of_main_topics_of_xmind(
    structure: str, right_number: str, rights: int, clockwise: bool
) -> None:
    sides = ["right"] * rights + ["left"] * (4 - rights)
    assert sides_of(structure, right_number) == (sides, clockwise)


def test_structures_without_sides_leave_them_to_the_layout() -> None:
    assert sides_of("timeline.vertical", "2") == (["right", "left"] * 2, False)
    assert sides_of("timeline.horizontal", "2") == ([""] * 4, False)
    assert sides_of("org-chart.down") == ([""] * 4, False)
