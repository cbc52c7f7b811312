"""WiseMapping: cases from real files, each as a minimal example."""

import base64

import pytest

from mapshelf.errors import NotAMap
from mapshelf.model import Image, Marker, Outline, Relationship, Style, Topic
from mapshelf.readers import Limits, read
from mapshelf.readers.formats.wisemapping_icons import icon
from tests.readers.samples import as_file, drawn

LIMITS = Limits()


def outline_of(topics: str, version: str = "tango") -> Outline:
    return read(f'<map name="1" version="{version}">{topics}</map>'.encode(), LIMITS)


def root_of(attributes: str, inner: str = "") -> Topic:
    return outline_of(f'<topic central="true" {attributes}>{inner}</topic>').roots[0]


def test_central_topic_first_and_others_float() -> None:
    outline = outline_of(
        '<topic id="2" text="loose" position="12,-30"/><topic central="true" id="1" text="Centre">'
        '<topic id="3" position="-200,5"><text><![CDATA[two\nlines]]></text>'
        '<note><![CDATA[a <note>]]></note><link url="http://x/"/></topic>'
        '<topic id="4" position="200,5"/></topic>'
        '<relationship srcTopicId="3" destTopicId="2" strokeColor="#ff0000"/><relationship/>'
    )
    (sheet,) = outline.sheets
    left = Topic("two\nlines", "3", "a <note>", links=("http://x/",), side="left")
    assert sheet.root == Topic("Centre", "1", children=[left, Topic("", "4", side="right")])
    assert sheet.floating == (Topic("loose", "2", position=(12, -30)),)
    assert sheet.relationships[0] == Relationship("3", "2", colour="#ff0000")
    assert outline.software == "WiseMapping"


def test_icons_and_emoji() -> None:
    topic = root_of(
        'imageEmoji="X" imageGallery="cloud-db"',
        '<icon id="flag_blue"/><icon id="funy_monkey"/><eicon id="\U0001f600"/><icon/>',
    )
    assert topic.markers == (
        Marker("flag-blue", "flag_blue"),
        Marker("other-funy-monkey", "funy_monkey"),
        Marker("emoji-1f600", "\U0001f600"),
        Marker("emoji-58", "X"),
        Marker("other-cloud-db", "cloud-db"),
    )


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("sign_warning", "warning"),
        ("task_75", "progress-75"),
        ("number_3", "priority-3"),
        ("people_male1", "male"),
        ("bullet_orange", "circle-orange"),
        ("tag_red", "tag-red"),
        ("face_wink", "face-wink"),
        ("arrow_up", "arrow-up"),
        ("soft_penguin", "penguin"),
    ],
)
def test_names_of_icons(original: str, name: str) -> None:
    assert icon(original) == Marker(name, original)


def test_colours_shapes_and_fold() -> None:
    topic = root_of(
        'fontStyle="Arial;15;rgb(255, 0, 0);bold;italic;" bgColor="#250be3" brColor="#080559"'
        ' connColor="rgb(0,0,0)" shape="rounded rectagle" shrink="true"',
        '<topic shrink="true" shape="elipse"><topic shrink="true" fontStyle=";x;;;"/></topic>',
    )
    assert topic.style == Style(
        "#ff0000", "#250be3", "#000000", "#080559", True, True, 15, "rounded"
    )
    below = topic.children[0]
    assert [topic.folded, below.folded, below.children[0].folded] == [False, True, False]
    assert below.style == Style(shape="ellipse")
    assert below.children[0].style is None


def test_pictures() -> None:
    data = base64.b64encode(as_file(drawn((40, 30)))).decode()
    (inside,) = root_of(f'shape="image" image="80,43:data:image/png;base64,{data}"').images
    assert (bool(inside.digest), inside.width, inside.height) == (True, 80, 43)
    (beside,) = root_of('shape="image" image="80,43:images/logo.png"').images
    assert beside == Image("", 80, 43, "logo.png")


def test_formatted_text_and_notes() -> None:
    (root,) = outline_of(
        '<topic central="true"><content contentType="html"><![CDATA[<b>bold</b> title]]></content>'
        '<note contentType="html"><![CDATA[<p>a <b>b</b></p>]]></note></topic>'
    ).roots
    assert (root.text, root.note, root.note_html) == ("bold title", "a b", "<p>a <b>b</b></p>")


def test_undeclared_html() -> None:
    """Newer versions write HTML into texts and notes without declaring it."""
    topic = root_of(
        "",
        "<text><![CDATA[<p>a <b>bold</b> <a href='http://x/?a=1&amp;b'>link</a></p>]]></text>"
        "<note><![CDATA[<p>one</p><p>two</p>]]></note>"
        "<topic><text><![CDATA[<p>plain &amp; simple</p>]]></text></topic>"
        "<topic><text><![CDATA[a <b and c> d]]></text><note><![CDATA[if a<b]]></note></topic>",
    )
    assert (topic.text, topic.links) == ("a bold link", ("http://x/?a=1&b",))
    assert topic.text_html.startswith("<p>a <b>bold</b> <a href=")
    assert (topic.note, topic.note_html) == ("one\ntwo", "<p>one</p><p>two</p>")
    plain, neither = topic.children
    assert (plain.text, plain.text_html) == ("plain & simple", "")
    assert (neither.text, neither.text_html) == ("a <b and c> d", "")
    assert (neither.note, neither.note_html) == ("if a<b", "")


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ('<note text="What%20now%3F%0A%C3%A9%20"/>', "What now?\né"),
        ('<note text="%E9t%E9"/>', "été"),
        ('<note text="ok%u2019s%20%E9%uD83D%uDE00"/>', "ok\u2019s é\U0001f600"),
        ('<note text="100%25 of 5%25"/>', "100%25 of 5%25"),
        ('<note text="50%"/>', "50%"),
        ("<note><text><![CDATA[two\nlines]]></text></note>", "two\nlines"),
        ("<note><text><![CDATA[]]></text></note>", ""),
    ],
)
def test_notes_of_old_versions(note: str, text: str) -> None:
    data = f'<map name="8007"><topic central="true" text="x">{note}</topic></map>'.encode()
    assert read(data, LIMITS).roots[0].note == text


def test_the_central_topic_by_a_number() -> None:
    outline = outline_of('<topic text="loose"/><topic central="-1" text="Centre"/>')
    assert [tree.text for tree in outline.trees()] == ["Centre", "loose"]


@pytest.mark.parametrize("version", ["tango", "pela", "beta", "unheard-of"])
def test_versions(version: str) -> None:
    assert outline_of('<topic central="true" text="x"/>', version).roots[0].text == "x"


def test_wechat_template_is_named() -> None:
    with pytest.raises(NotAMap, match="WeChat"):
        read(b'<view class="a"><text>b</text></view>', LIMITS)
