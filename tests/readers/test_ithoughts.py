"""iThoughts: cases from real files, each as a minimal example."""

from dataclasses import replace

import pytest

from mapshelf.errors import BrokenFile
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
from mapshelf.readers import Limits, read
from mapshelf.readers.formats.ithoughts_icons import icon
from tests.readers.samples import archive_of, as_file, drawn

LIMITS = Limits()


PLAIN = Style(fill="#b2b2fe", line="#b2b2fe", shape="rounded")
CENTRAL = replace(PLAIN, shape="ellipse")


def map_of(topics: str, beside: str = "", **assets: bytes) -> bytes:
    text = (
        '<iThoughts version="4.0" app-version="7.4" author="iPad" modified="2024-01-02T00:00:00">'
        f"<topics>{topics}</topics>{beside}</iThoughts>"
    )
    members = {f"assets/{name}/{name}.dat": data for name, data in assets.items()}
    return archive_of({"mapdata.xml": text, **members})


def root_of(attributes: str, inner: str = "") -> Topic:
    return read(map_of(f"<topic {attributes}>{inner}</topic>"), LIMITS).roots[0]


def sheet_of(topics: str, beside: str = "") -> Sheet:
    outline: Outline = read(map_of(topics, beside), LIMITS)
    (sheet,) = outline.sheets
    return sheet


def test_topics_notes_and_links() -> None:
    outline = read(
        map_of(
            '<topic uuid="u" text="r" note="# a&#10;b" link="http://x/" text-width="9"'
            ' created="2024-01-01T00:00:00"><topic text="a" position="{-9.5, 1e-14}"/>'
            '<topic text="b" position="{9, 0}"/></topic>'
            '<topic text="floating" position="{10, -20.5}"/>'
        ),
        LIMITS,
    )
    (sheet,) = outline.sheets
    children = [Topic("a", side="left", style=PLAIN), Topic("b", side="right", style=PLAIN)]
    assert sheet.root == Topic(
        "r", "u", "# a\nb", links=("http://x/",), children=children, style=CENTRAL
    )
    assert sheet.floating == (Topic("floating", position=(10, -20.5), style=PLAIN),)
    assert (outline.software_version, outline.author) == ("7.4", "")  # the name of the device
    assert (outline.created, outline.modified) == (1704067200000, 1704153600000)


def test_icons_colours_and_fold() -> None:
    topic = root_of(
        'icon1="tick" icon2="icon-hat-yellow" icon3="unheard_of" color="FFB2B2" folded="1"'
        ' text-font="Helvetica-Bold | Helvetica | bold | italic" text-size="14.5"',
        '<topic folded="1" text-font="Helvetica | Helvetica |  | "/>',
    )
    assert topic.markers == (
        Marker("yes", "tick"),
        Marker("hat-yellow", "icon-hat-yellow"),
        Marker("other-unheard-of", "unheard_of"),
    )
    look = Style(fill="#ffb2b2", line="#ffb2b2", shape="ellipse", bold=True, italic=True, size=14)
    assert topic.style == look
    assert topic.folded
    assert not topic.children[0].folded  # it has no children to hide
    assert topic.children[0].style == Style(fill="#ffb2b2", line="#ffb2b2", shape="rounded")


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("p1", "priority-1"),
        ("alert", "warning"),
        ("icon-questionmark", "question"),
        ("icon-exclamationmark", "exclamation"),
        ("hand-thumb-up", "thumbs-up"),
        ("sign-stop", "stop"),
        ("sign-forbidden", "no"),
        ("icon-smiley-neutral", "face-neutral"),
        ("smiley_sad", "face-sad"),
        ("signal-flag-red", "flag-red"),
        ("icon-signpost", "signpost"),
        ("bomb", "bomb"),
    ],
)
def test_names_of_icons(original: str, name: str) -> None:
    assert icon(original) == Marker(name, original)


def test_tasks() -> None:
    topic = root_of(
        'task-progress="25" task-priority="2" task-start="2026-01-31T00:00:00"'
        ' task-due="2026-02-01T09:30:00" resources="Ann, Bob" task-effort="5h" cost="3"'
    )
    assert topic.task == Task("", 25, 2, "2026-01-31", "2026-02-01T09:30", ("Ann", "Bob"))
    assert topic.attributes == (("Effort", "5h"), ("Cost", "3"))
    assert topic.note == ""
    summed = root_of(
        'task-progress="101"', '<topic task-progress="10"/><topic task-progress="51"/><topic/>'
    )
    assert summed.task == Task(progress=30)
    assert root_of('task-progress="101"').task is None
    assert root_of('task-progress="x" task-due="soon"').task is None


def test_pictures_and_files() -> None:
    picture = as_file(drawn((40, 20)))
    data = map_of(
        '<topic att-id="p" att-name="p.dat" image-width="80"/>'
        '<topic att-id="f" att-name="f.dat" image-width="300"/>'
        '<topic att-id="../mapdata" att-name="gone.jpg"/>'
        '<topic image-width="300"/>',
        p=picture,
        f=b"text",
    )
    sheet = read(data, LIMITS).sheets[0]
    (image,) = sheet.root.images
    assert (bool(image.digest), image.width, image.height) == (True, 80, 40)
    file, gone, neither = sheet.floating
    assert (file.attachments, file.images) == ((Attachment("f.dat", 4),), ())
    assert [(image.digest, image.alt) for image in gone.images] == [("", "gone.jpg")]
    assert (neither.images, neither.attachments) == ((), ())


def test_parts_of_a_sheet_besides_the_tree() -> None:
    sheet = sheet_of(
        '<topic uuid="r" text="r"><topic uuid="a" text="a" position="{100, 10}" boundary="1">'
        '<topic uuid="f" text="float" floating="1" position="{1, 2}"><topic text="below"/></topic>'
        '<topic uuid="c" text="remark" callout="1"/></topic>'
        '<topic uuid="b" text="b"/><topic uuid="d" text="d"/>'
        '<topic uuid="s" text="sum" summary1="a" summary2="b"/></topic>',
        '<relationships><relationship end1-uuid="a" end2-uuid="b" center-text="so"'
        ' color="B247B2"/></relationships>'
        '<groups><group member0="b" member1="d" color="FF0000"/></groups>',
    )
    assert [topic.text for topic in sheet.root.children] == ["a", "b", "d"]
    assert [topic.kind for topic in sheet.root.children[0].children] == [TopicKind.CALLOUT]
    (floating,) = sheet.floating
    assert (floating.text, floating.position) == ("float", (101, 12))
    assert [topic.text for topic in floating.children] == ["below"]
    assert sheet.summaries == (Summary(("a", "b"), Topic("sum", "s", style=PLAIN)),)
    assert sheet.relationships == (Relationship("a", "b", "so", "B247B2"),)
    assert sheet.boundaries == (
        Boundary(("a",), "", "#b2b2fe"),
        Boundary(("b", "d"), "", "FF0000"),
    )


def test_markdown_marks_become_formatting() -> None:
    root = root_of('text="# **Plan** of &lt;x&gt;"', '<topic text="a * b # c"/>')
    assert (root.text, root.text_html) == ("Plan of <x>", "<b>Plan</b> of &lt;x&gt;")
    assert (root.children[0].text, root.children[0].text_html) == ("a * b # c", "")
    assert root_of('text="see [x](http://x/)" link="http://y/"').links == ("http://y/", "http://x/")


def test_colours_are_those_of_the_topic_above() -> None:
    root = root_of(
        'text="r"',
        '<topic text="a" color="FF0000"><topic text="b"><topic text="c" color="00FF00"/></topic>'
        '<topic text="d" callout="1"><topic text="f"/></topic></topic><topic text="e"/>',
    )
    fills = {topic.text: topic.style.fill for _, topic in root.walk() if topic.style}
    usual = {"r": "#b2b2fe", "e": "#b2b2fe", "d": "#ffd8b2", "f": "#ffd8b2"}
    assert fills == {**usual, "a": "#ff0000", "b": "#ff0000", "c": "#00ff00"}


def test_no_topics() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        read(map_of(""), LIMITS)


@pytest.mark.slow
def test_summaries_of_the_same_thousands_are_limited() -> None:
    topics = "".join(f'<topic uuid="{n}"/>' for n in range(3_000))
    summaries = '<topic summary1="0" summary2="2999"/>' * 3_000
    sheet = sheet_of(f'<topic uuid="r">{topics}{summaries}</topic>')
    assert sum(len(summary.topics) for summary in sheet.summaries) < 20_000
    assert len(sheet.summaries) == 3_000
