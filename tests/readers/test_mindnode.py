"""MindNode: cases from real files, each as a minimal example, and property lists."""

import plistlib
import struct
from dataclasses import replace
from datetime import datetime

import pytest

from mapshelf.errors import BrokenFile, NotAMap, TooLarge
from mapshelf.model import Attachment, Marker, Outline, Relationship, Style, Task, Topic
from mapshelf.readers import Limits, read
from mapshelf.readers.parsing.plist_files import parse_plist
from tests.readers.samples import archive_of, as_file, drawn

LIMITS = Limits()
FORMATS = [plistlib.FMT_XML, plistlib.FMT_BINARY]


def document(*nodes: object, **facts: object) -> dict[str, object]:
    """Return a document as versions 4 and 5 write it."""
    return {"version": 5, "mindMap": {"mainNodes": list(nodes)}, **facts}


def canvas(*nodes: object, **parts: object) -> dict[str, object]:
    """Return a document as versions 6 and later write it."""
    trees = [{"mainNode": node, "layoutStyle": 2} for node in nodes]
    return {"version": 7, "canvas": {"mindMaps": trees, **parts}}


def outline_of(*nodes: object, **facts: object) -> Outline:
    data = plistlib.dumps(document(*nodes, **facts), fmt=plistlib.FMT_BINARY)
    return read(archive_of({"contents.xml": data}), LIMITS)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("member", ["contents.xml", "My map.mindnode/contents.xml"])
def test_nodes_of_both_kinds_of_list_and_of_a_compressed_folder(
    form: plistlib.PlistFormat, member: str
) -> None:
    node = {
        "nodeID": "n",
        "title": {"text": "<p style='x'>Title &amp; more</p>"},
        "note": {"text": "<p>a <b>b</b></p>"},
        "subnodes": [{"title": "plain"}, 5, {"title": {"text": "t", "htmlText": "<p>h</p>"}}],
    }
    style = {"My map.mindnode/style.mindnodestyle/contents.xml": b"<plist/>"}
    data = plistlib.dumps(document(node, {"title": "Two"}), fmt=form)
    outline = read(archive_of({member: data, **style}), LIMITS)
    (sheet,) = outline.sheets
    children = [Topic("plain"), Topic("h")]
    assert sheet.root == Topic("Title & more", "n", "a b", "<p>a <b>b</b></p>", children=children)
    assert sheet.floating == (Topic("Two"),)


@pytest.mark.parametrize("form", FORMATS)
def test_a_property_list_without_an_archive(form: plistlib.PlistFormat) -> None:
    """The property list of a document that is a folder."""
    outline = read(plistlib.dumps(document({"title": "r"}), fmt=form), LIMITS)
    assert outline.roots == (Topic("r"),)
    with pytest.raises(NotAMap):
        read(plistlib.dumps({"other": "list"}, fmt=form), LIMITS)


def test_facts() -> None:
    outline = outline_of({"title": "r"}, author="Ann", comments="about", keywords="k")
    assert (outline.roots[0].note, outline.author) == ("about", "Ann")
    assert outline.roots[0].tags == ("k",)
    assert (outline.software, outline.software_version) == ("MindNode", "")


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (
            r"{\rtf1\ansi\ansicpg936{\fonttbl\f0\fnil X;}{\*\x y;}\pard\f0\fs36 \cf2 \'bc\'d3Ab}",
            "加Ab",
        ),
        (r"{\rtf1\ansi\ansicpg1252 caf\'e9\par two \{x\}}", "café\ntwo {x}"),
        (r"{\rtf1\ansi\ansicpg1252 \u233?t\u-10179?}", "ét\ufffd"),
        (r"{\rtf1\ansi\ansicpg1252 \u26481?\u20140? caf\'E9 \u-10179?\u-8694?}", "東京 café 😊"),
        (r"{\rtf1\ansi\ansicpg1252 \u-10179\'3f\u-8694\'3f!}", "😊!"),
        (r"{\rtf1\ansi\ansicpg1252 \uc0\u26481 \u20140 ?}", "東京?"),
    ],
)
def test_titles_in_rtf(rtf: str, text: str) -> None:
    assert outline_of({"title": {"text": rtf}}).roots[0].text == text


def test_bare_list() -> None:
    data = plistlib.dumps(document({"title": "r"}), fmt=plistlib.FMT_BINARY)
    assert read(data, LIMITS).roots[0].text == "r"


@pytest.mark.parametrize("packed", [True, False])
def test_later_versions_have_a_canvas(*, packed: bool) -> None:
    """All main nodes are on one sheet, as on the canvas."""
    first = {
        "nodeID": "1",
        "title": {"text": "<p>first</p>"},
        "location": "{100, 50}",
        "subnodes": [
            {"title": "l", "location": "{40, 0}"},
            {"title": "r", "location": "{40, 0}", "isLeftAligned": False},
        ],
    }
    second = {"nodeID": "2", "title": {"text": "second"}, "location": "{80.5, 250}"}
    ends = {"startNodeID": "1", "endNodeID": "2"}
    arrows = [
        {
            "endPoints": ends,
            "title": {"text": "<p>leads to</p>"},
            "pathStyle": {"strokeStyle": {"color": "{1, 0, 0, 1}"}},
        },
        ends,
    ]
    value = canvas(first, second, 5, crossConnections=arrows, color="{1.0, 1.0, 0.5, 1.0}")
    data = plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
    (sheet,) = read(archive_of({"contents.xml": data}) if packed else data, LIMITS).sheets
    sides = [Topic("l", side="left"), Topic("r", side="right")]
    assert sheet.root == Topic("first", "1", children=sides)
    assert sheet.floating == (Topic("second", "2", position=(-19.5, 200)),)
    assert sheet.relationships == (
        Relationship("1", "2", "leads to", "#ff0000"),
        Relationship("1", "2"),
    )
    assert sheet.background == "#ffff80"


def test_colours_of_both_generations() -> None:
    title = "<p style='background-color: rgba(1, 1, 1, 1); color: rgba(255, 0, 0, 1.0); font: bold"
    old = {
        "title": {"htmlText": title + ' 18px "X";\'>t</p>'},
        "fillColor": "{1.000, 1.000, 0.000, 1.000}",
        "isDrawingFill": True,
        "strokeColor": "{0, 0, 1, 1}",
        "strokeWidth": 3.0,
    }
    new = {
        "title": {
            "text": "t",
            "fontStyle": {"color": "{1, 0, 0, 1}", "bold": True, "fontSize": 18},
        },
        "shapeStyle": {
            "fillColor": "{1, 1, 0, 1}",
            "borderStrokeStyle": {"color": "{0, 1, 0, 0.0}"},
        },
        "pathStyle": {"strokeStyle": {"color": "{0, 0, 1, 1}", "width": 3}},
    }
    for node in (old, new):
        root = outline_of({"title": "r", "subnodes": [node]}, {**node, "subnodes": []}).roots[0]
        assert root.children[0].style == Style(
            text="#ff0000", fill="#ffff00", line="#0000ff", bold=True, size=18, line_width=3
        )
    floating = outline_of({"title": "r"}, {**old, "isDrawingFill": False}).sheets[0].floating[0]
    assert floating.style == Style(text="#ff0000", border="#0000ff", bold=True, size=18)


def test_formatting_and_links_of_titles() -> None:
    title = "<p style='x'>see <b>this</b> <a href='http://x/'>page</a></p>"
    root = outline_of(
        {"title": {"text": title}, "fileLink": {"relativeFilePath": "a b.pdf"}}
    ).roots[0]
    assert (root.text, root.links) == ("see this page", ("http://x/", "a b.pdf"))
    assert "<b>this</b>" in root.text_html
    assert outline_of({"title": {"text": "<p><span>x</span></p>"}}).roots[0].text_html == ""


@pytest.mark.parametrize(
    ("title", "note", "formula"),
    [
        ("$e^{i\\pi}$", "", "e^{i\\pi}"),
        ("<p>Energy $E=mc^2$ here</p>", "", r"\text{Energy }E=mc^2\text{ here}"),
        ("<p>能量 $E=mc^2$, $x_1$</p>", "", r"E=mc^2 \quad x_1"),
        ("$x$", "", "x"),
        ("costs $5 or $7", "", ""),
        ("t", "<p>so: $$\\frac{a}{b}$$ and $$c$$</p>", "\\frac{a}{b} \\quad c"),
        ("t", "costs $5 or $7", ""),
    ],
)
def test_formulas(title: str, note: str, formula: str) -> None:
    root = outline_of({"title": {"text": title}, "note": {"text": note}}).roots[0]
    assert root.formula == formula


def test_tasks_tags_and_fold() -> None:
    tags = [{"tagID": "A", "name": "work"}, {"tagID": "B", "name": "home"}]
    node = {
        "title": "r",
        "task": {"state": 2},
        "tags": ["B", "A", "gone"],
        "hasFoldedSubnodes": True,
        "subnodes": [{"title": "a", "task": {"state": 1}, "hasFoldedSubnodes": True}],
    }
    data = plistlib.dumps(canvas(node, tags=tags), fmt=plistlib.FMT_BINARY)
    root = read(data, LIMITS).roots[0]
    assert (root.task, root.tags, root.folded) == (Task("done"), ("home", "work"), True)
    assert (root.children[0].task, root.children[0].folded) == (Task("todo"), False)


@pytest.mark.parametrize("folder", ["", "My map.mindnode/"])
def test_pictures_files_and_stickers(folder: str) -> None:
    nodes = [
        {"attachment": {"fileName": "p", "size": "{80, 60}", "type": 2}},
        {"attachment": {"fileName": "plan.pdf"}},
        {"attachment": {"fileName": "gone.png"}},
        {"attachment": {"clipArtName": "Rocket Ship"}},
    ]
    data = plistlib.dumps(document({"subnodes": nodes}), fmt=plistlib.FMT_BINARY)
    picture = as_file(drawn((40, 30)))
    members = {"contents.xml": data, "resources/p": picture, "resources/plan.pdf": b"%PDF"}
    outline = read(archive_of({folder + name: each for name, each in members.items()}), LIMITS)
    shown, file, gone, sticker = outline.roots[0].children
    assert [(bool(image.digest), image.width) for image in shown.images] == [(True, 80)]
    assert (file.attachments, file.images) == ((Attachment("plan.pdf", 4),), ())
    assert [(image.digest, image.alt) for image in gone.images] == [("", "gone.png")]
    assert sticker.markers == (Marker("other-rocket-ship", "Rocket Ship"),)


@pytest.mark.parametrize("value", [{}, [], {"mindMap": {}}, {"mindMap": []}, document()])
def test_list_without_a_map(value: dict[str, object] | list[object]) -> None:
    for form in FORMATS:
        with pytest.raises(BrokenFile):
            read(archive_of({"contents.xml": plistlib.dumps(value, fmt=form)}), LIMITS)


def test_contents_of_a_style_alone_are_no_map() -> None:
    with pytest.raises(NotAMap):
        read(archive_of({"style.mindnodestyle/contents.xml": b"<plist/>"}), LIMITS)


# --- Property lists ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_every_kind_of_value(form: plistlib.PlistFormat) -> None:
    value = {"a": [1, 2.5, True, False, "text"], "b": {"c": "é"}, "d": [], "e": {}, "f": "x" * 99}
    found = parse_plist(plistlib.dumps(value, fmt=form), LIMITS)
    assert found == value


@pytest.mark.parametrize("form", FORMATS)
def test_dates(form: plistlib.PlistFormat) -> None:
    data = plistlib.dumps([datetime(2024, 1, 1)], fmt=form)
    found = parse_plist(data, LIMITS)
    assert isinstance(found, list)
    assert str(found[0]).startswith("2024-01-01 00:00:00")


def binary(objects: list[bytes], offsets: list[int] | None = None) -> bytes:
    """Return a binary list of ``objects``, the first of which is its top."""
    places, position = [], 8
    for item in objects:
        places.append(position)
        position += len(item)
    table = b"".join(struct.pack(">I", place) for place in offsets or places)
    count = len(offsets or places)
    return (
        b"bplist00" + b"".join(objects) + table + struct.pack(">6xBBQQQ", 4, 4, count, 0, position)
    )


def array(references: list[int]) -> bytes:
    size = struct.pack(">BBI", 0xAF, 0x12, len(references))
    return size + struct.pack(f">{len(references)}I", *references)


def test_objects_that_share_their_bytes() -> None:
    """A thousand lists with a thousand entries each, all in the same few bytes."""
    with pytest.raises(BrokenFile, match="overlap"):
        parse_plist(binary([array([0] * 1000)], [8] * 1000), LIMITS)


def dictionary(key: int, value: int) -> bytes:
    return struct.pack(">BII", 0xD1, key, value)


def test_list_inside_itself() -> None:
    keys = [b"\x57mindMap", b"\x59mainNodes", b"\x58subnodes"]
    tree = [dictionary(4, 1), dictionary(5, 2), array([3]), dictionary(6, 2)]
    with pytest.raises(TooLarge, match="256 deep"):
        read(archive_of({"contents.xml": binary(tree + keys)}), LIMITS)


def test_nested_lists_that_repeat_each_other() -> None:
    """Each of forty lists contains the next one twice: a trillion topics in a kilobyte."""
    node: dict[str, object] = {"title": "x"}
    for _ in range(40):
        node = {"title": "x", "subnodes": [node, node]}
    data = archive_of({"contents.xml": plistlib.dumps(document(node), fmt=plistlib.FMT_BINARY)})
    assert len(data) < 5_000
    with pytest.raises(TooLarge, match="1,000 topics"):
        read(data, replace(LIMITS, topics=1_000))


def test_too_many_objects_and_too_deep() -> None:
    chain = [array([number + 1]) for number in range(3_000)]
    with pytest.raises(TooLarge, match="deep"):
        parse_plist(binary([*chain, b"\x08"]), LIMITS)
    with pytest.raises(TooLarge, match="objects"):
        parse_plist(binary([b"\x08"] * 20), Limits(topics=1))


@pytest.mark.parametrize("length", range(8, 80, 3))
def test_binary_cut_short(length: int) -> None:
    data = plistlib.dumps({"a": ["b", {"c": "d" * 30}]}, fmt=plistlib.FMT_BINARY)
    with pytest.raises(BrokenFile):
        parse_plist(data[: min(length, len(data) - 1)], LIMITS)


@pytest.mark.parametrize(
    "text",
    [
        "<plist/>",
        "<a/>",
        "<plist><dict>",
        '<!DOCTYPE plist [<!ENTITY a "b">]><plist><dict/></plist>',
    ],
)
def test_broken_xml_list(text: str) -> None:
    with pytest.raises(BrokenFile):
        parse_plist(text.encode(), LIMITS)


def test_numbers_with_thousands_of_digits() -> None:
    """Found by the fuzzer: plistlib reads such a number, but Python refuses to format it."""
    assert parse_plist(binary([array([1]), b"\x14" + bytes(15) + b"\x07"]), LIMITS) == [7]
    for length in (5, 15):
        number = bytes([0x10 | length]) + b"\x7f" * (1 << length)
        with pytest.raises(BrokenFile, match="128 bits"):
            parse_plist(binary([array([1]), number]), LIMITS)
