"""Outlines as bytes: trees of any depth are decoded unchanged, and damage is reported."""

import sys
import zlib
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.errors import StoreDamaged, TooLarge
from mapshelf.formats.outline_codec import (
    FORMAT,
    LONGEST_TEXT,
    decode_outline,
    encode_outline,
    outline_passages,
)
from mapshelf.formats.outline_lookup import may_have, outline_picture
from mapshelf.formats.outline_size import LARGEST
from mapshelf.model import (
    Attachment,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Task,
    Topic,
    sheets_of,
)
from mapshelf.sandbox.pool import ConfinedChild
from tests.outlines import OUTLINES


@pytest.mark.slow
@given(OUTLINES)
def test_round_trip(outline: Outline) -> None:
    data = encode_outline(outline)
    assert decode_outline(data) == outline
    assert encode_outline(decode_outline(data)) == data
    topics = list(outline.topics())
    passages = outline_passages(data)
    assert passages.shallow == tuple(t.text for depth, t in topics if depth <= 1 and t.text)
    assert sorted(passages.deep) == sorted(
        [t.text for depth, t in topics if depth > 1 and t.text]
        + [t.note for _, t in topics if t.note]
        + [fact for _, t in topics for fact in t.facts()]
        + [words for words in labels(outline) if words]
    )


def labels(outline: Outline) -> Iterator[str]:
    for sheet in outline.sheets:
        yield sheet.title
        yield from (arrow.text for arrow in sheet.relationships)
        yield from (boundary.text for boundary in sheet.boundaries)


def test_words_attached_to_topics_are_found() -> None:
    topic = Topic(
        "t",
        tags=("a", "b"),
        attributes=(("cost", "5"),),
        task=Task("done", resources=("Ann",)),
        attachments=(Attachment("plan.pdf"),),
        formula="x^2",
        markers=(Marker("idea", "idea"),),
    )
    passages = outline_passages(encode_outline(Outline(sheets_of((topic,)))))
    assert passages.deep == ("a, b", "cost: 5", "Ann", "plan.pdf", "x^2")


def chain(depth: int) -> Topic:
    root = topic = Topic("0")
    for level in range(1, depth):
        topic.children.append(Topic(str(level)))
        topic = topic.children[0]
    return root


@pytest.mark.slow
def test_very_deep_trees() -> None:
    """Deeper than Python's recursion limit, so the test compares them level by level."""
    root = chain(10_000)
    data = encode_outline(Outline(sheets_of((root,))))
    decoded = decode_outline(data)
    assert [(depth, topic.text) for depth, topic in decoded.topics()] == [
        (level, str(level)) for level in range(10_000)
    ]
    passages = outline_passages(data)
    assert passages.shallow == ("0", "1")
    assert passages.deep == tuple(str(level) for level in range(2, 10_000))
    dismantle(root)
    dismantle(decoded.roots[0])


def dismantle(root: Topic) -> None:
    """Take a deep tree apart, so that freeing it needs no recursion."""
    for _, topic in list(root.walk()):
        topic.children = []


@pytest.mark.slow
def test_very_wide_trees() -> None:
    root = Topic("r", children=[Topic(str(n)) for n in range(20_000)])
    outline = Outline(sheets_of((root, Topic("second"))))
    assert decode_outline(encode_outline(outline)) == outline


def test_text_for_the_index_is_bounded() -> None:
    whole = Topic("x" * 100, note="n" * (LONGEST_TEXT - 100), children=[Topic("left out")])
    passages = outline_passages(encode_outline(Outline(sheets_of((whole,)))))
    assert passages.shallow == ("x" * 100,)
    assert passages.deep == ("n" * (LONGEST_TEXT - 100),)
    longer = Topic("x" * (LONGEST_TEXT + 5), note="left out")
    passages = outline_passages(encode_outline(Outline(sheets_of((longer,)))))
    assert passages.shallow == ("x" * LONGEST_TEXT,)
    assert not "".join(passages.deep)


def test_words_beside_topics_are_within_the_bounds() -> None:
    root = Topic("r", "0", children=[Topic("s", "1")])
    arrows = tuple(Relationship("0", "1", "a" * 4096) for _ in range(2000))
    encoded = encode_outline(Outline((Sheet(root, "sheet", relationships=arrows),)))
    for most in (LONGEST_TEXT, 5000):
        passages = outline_passages(encoded, most)
        texts = (*passages.shallow, *passages.deep)
        assert sum(map(len, texts)) == most
        assert passages.size > 2000 * 4096


def test_topics_and_levels_are_counted() -> None:
    flat, deep = Topic("a", children=[Topic("b"), Topic("c")]), chain(4)
    assert (
        Outline(sheets_of((flat, deep))).topic_count,
        Outline(sheets_of((flat, deep))).depth,
    ) == (7, 4)
    assert (
        Outline(sheets_of((Topic("a"),))).topic_count,
        Outline(sheets_of((Topic("a"),))).depth,
    ) == (1, 1)


def document(**changes: object) -> bytes:
    whole = orjson.loads(zlib.decompress(encode_outline(Outline(sheets_of((Topic("t"),))))))
    return zlib.compress(orjson.dumps({**whole, **changes}))


def test_an_unchanged_document_is_read() -> None:
    assert decode_outline(document()) == Outline(sheets_of((Topic("t"),)))


def test_outlines_of_the_version_before_are_read() -> None:
    """Arrows and pictures had fewer values."""
    row = [-1, "a", "t", "", "", [], {"images": [["d", 1.0, 2.0, "seen"]]}]
    sheet = {"root": 0, "title": "", "background": "", "floating": [], "summaries": []}
    arrows = {"relationships": [["a", "a", "again", "#ff0000"]], "boundaries": []}
    old = document(format=4, topics=[row], sheets=[{**sheet, **arrows}])
    topic = Topic("t", "a", images=(Image("d", 1.0, 2.0, "seen"),))
    arrow = Relationship("a", "a", "again", "#ff0000")
    assert decode_outline(old) == Outline((Sheet(topic, relationships=(arrow,)),))
    assert outline_passages(old).deep == ("again",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not deflated",
        encode_outline(Outline(sheets_of((Topic("t"),))))[:-3],
        zlib.compress(b""),
        zlib.compress(b"{"),
        zlib.compress(b"[]"),
        zlib.compress(b"null"),
        zlib.compress(b"\xff"),
        document(topics=None),
        document(topics=5),
        document(topics=[1]),
        document(topics=[[-1, "too", "short"]]),
        document(topics=[[7, "", "t", "", "", []]]),
        document(topics=[["-1", "", "t", "", "", []]]),
    ],
)
def test_damage_is_reported(data: bytes) -> None:
    with pytest.raises(StoreDamaged):
        decode_outline(data)


@pytest.mark.parametrize("version", [0, FORMAT + 1, None, "1"])
def test_another_format_is_refused(version: object) -> None:
    with pytest.raises(StoreDamaged, match="format"):
        decode_outline(document(format=version))


def test_a_place_that_was_infinite_is_none() -> None:
    """Earlier versions stored it as null."""
    row = [-1, "", "t", "", "", [], {"position": [None, 300.0]}]
    assert decode_outline(document(topics=[row])).roots[0].position is None


def long_texts(size: int) -> Outline:
    """Return an outline whose texts together have ``size`` bytes."""
    return Outline(sheets_of((Topic("r", children=[Topic("x" * (1 << 20))] * (size >> 20)),)))


def test_no_outline_is_larger_than_the_limit() -> None:
    assert outline_passages(encode_outline(long_texts(LARGEST - (1 << 20)))).topics == LARGEST >> 20
    with pytest.raises(TooLarge, match="its texts together are larger than 32 MiB"):
        encode_outline(long_texts(LARGEST))
    with pytest.raises(TooLarge, match=r"larger than 0\.5 MiB"):
        encode_outline(long_texts(1 << 20), 1 << 19)


def test_larger_outlines_of_earlier_versions_are_not_decoded_without_a_memory_limit() -> None:
    stored = encode_outline(long_texts(LARGEST), 2 * LARGEST)
    with pytest.raises(TooLarge):
        outline_passages(stored)
    with pytest.raises(TooLarge):
        may_have(stored, "t", 0)
    assert outline_picture(stored) == ""
    assert decode_outline(stored).topic_count == 1 + (LARGEST >> 20)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_lack_of_memory_is_no_damage() -> None:
    stored = encode_outline(long_texts(30 << 20))
    child = ConfinedChild(memory=150 << 20, descriptors=64)
    try:
        with pytest.raises(MemoryError, match="the outline takes more memory than is allowed"):
            child.call(decode_outline, (stored,), 60.0)
    finally:
        child.close()


@given(st.binary())
def test_any_bytes_are_damage_at_worst(data: bytes) -> None:
    for candidate in (data, zlib.compress(data)):
        for read in (decode_outline, outline_passages):
            with pytest.raises(StoreDamaged):
                read(candidate)
