"""MindNode: the habits of real files, each in its smallest form, and its property lists."""

import plistlib
import struct
import time
from datetime import datetime

import pytest

from mapshelf.errors import BrokenFile, NotAMap, TooLarge
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read
from mapshelf.readers.parsing.plist_files import parse_plist
from tests.readers.samples import archive_of

LIMITS = Limits()
FORMATS = [plistlib.FMT_XML, plistlib.FMT_BINARY]


def document(*nodes: object, **facts: object) -> dict[str, object]:
    return {"version": 7, "mindMap": {"mainNodes": list(nodes)}, **facts}


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
    assert outline.roots == (
        Topic(
            "Title & more", "n", "a b", "<p>a <b>b</b></p>", children=[Topic("plain"), Topic("h")]
        ),
        Topic("Two"),
    )


@pytest.mark.parametrize("form", FORMATS)
def test_the_list_alone(form: plistlib.PlistFormat) -> None:
    """As it lies in a document that is a folder."""
    outline = read(plistlib.dumps(document({"title": "r"}), fmt=form), LIMITS)
    assert outline.roots == (Topic("r"),)
    with pytest.raises(NotAMap):
        read(plistlib.dumps({"other": "list"}, fmt=form), LIMITS)


def test_facts() -> None:
    outline = outline_of({"title": "r"}, author="Ann", comments="about", keywords="k")
    assert (outline.roots[0].note, outline.author) == ("about\nKeywords: k", "Ann")
    assert (outline.software, outline.software_version) == ("MindNode", "")


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (
            r"{\rtf1\ansi\ansicpg936{\fonttbl\f0\fnil X;}{\*\x y;}\pard\f0\fs36 \cf2 \'bc\'d3Ab}",
            "加Ab",
        ),
        (r"{\rtf1\ansi\ansicpg1252 caf\'e9\par two \{x\}}", "café\ntwo {x}"),
        (r"{\rtf1\ansi\ansicpg1252 \u233?t\u-10179?}", "ét?"),
    ],
)
def test_titles_in_rtf(rtf: str, text: str) -> None:
    assert outline_of({"title": {"text": rtf}}).roots[0].text == text


def test_bare_list() -> None:
    data = plistlib.dumps(document({"title": "r"}), fmt=plistlib.FMT_BINARY)
    assert read(data, LIMITS).roots[0].text == "r"


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
    assert isinstance(found, dict)
    if form is plistlib.FMT_BINARY:
        assert found == value
    else:  # numbers mean nothing to any reader
        assert found == {**value, "a": [None, None, True, False, "text"]}


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
    """A thousand lists of a thousand entries that are all the same few bytes."""
    with pytest.raises(BrokenFile, match="overlap"):
        parse_plist(binary([array([0] * 1000)], [8] * 1000), LIMITS)


def dictionary(key: int, value: int) -> bytes:
    return struct.pack(">BII", 0xD1, key, value)


def test_list_inside_itself() -> None:
    keys = [b"\x57mindMap", b"\x59mainNodes", b"\x58subnodes"]
    tree = [dictionary(4, 1), dictionary(5, 2), array([3]), dictionary(6, 2)]
    with pytest.raises(TooLarge, match="256 deep"):
        read(archive_of({"contents.xml": binary(tree + keys)}), LIMITS)


@pytest.mark.slow
def test_every_node_the_same_list() -> None:
    """Each of forty lists holds the next one twice: a million million topics in a kilobyte."""
    node: dict[str, object] = {"title": "x"}
    for _ in range(40):
        node = {"title": "x", "subnodes": [node, node]}
    data = archive_of({"contents.xml": plistlib.dumps(document(node), fmt=plistlib.FMT_BINARY)})
    assert len(data) < 5_000
    start = time.process_time()
    with pytest.raises(TooLarge, match="100,000 topics"):
        read(data, LIMITS)
    assert time.process_time() - start < 2


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


def test_numbers_of_thousands_of_digits() -> None:
    """Found by the fuzzer: plistlib reads them, and Python refuses to write them out."""
    assert parse_plist(binary([array([1]), b"\x14" + bytes(15) + b"\x07"]), LIMITS) == [7]
    for length in (5, 15):
        number = bytes([0x10 | length]) + b"\x7f" * (1 << length)
        with pytest.raises(BrokenFile, match="128 bits"):
            parse_plist(binary([array([1]), number]), LIMITS)
