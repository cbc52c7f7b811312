"""The texts that are searched are those of the outline, and damage is reported."""

import zlib
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given

from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_bytes import unpacked, unpacked_up_to
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.formats.outline_texts import OutlineTexts, read_texts
from mapshelf.model import Outline, Topic, sheets_of
from tests.outlines import OUTLINES


@pytest.mark.slow
@given(OUTLINES)
def test_texts_are_those_of_the_topics(outline: Outline) -> None:
    found = read_texts(unpacked(encode_outline(outline)))
    topics = list(outline.topics())
    assert list(found.texts) == [topic.text for _, topic in topics]
    assert [found.id(number) for number in range(len(topics))] == [one.id for _, one in topics]
    labels = list(labels_of(outline))
    notes = (
        (one.note, *one.facts(), *(text for topic_id, text in labels if topic_id == one.id))
        for _, one in topics
    )
    lines = ("\n".join(filter(None, texts)) for texts in notes)
    assert found.notes == {number: line for number, line in enumerate(lines) if line}


def labels_of(outline: Outline) -> Iterator[tuple[str, str]]:
    """Yield all labels with the ids of their topics."""
    for sheet in outline.sheets:
        yield sheet.root.id, sheet.title
        yield from ((arrow.start, arrow.text) for arrow in sheet.relationships)
        for boundary in sheet.boundaries:
            yield from ((topic_id, boundary.text) for topic_id in boundary.topics[:1])


@pytest.mark.slow
@given(OUTLINES)
def test_topics_are_below_those_above_them(outline: Outline) -> None:
    found = read_texts(unpacked(encode_outline(outline)))
    path: list[int] = []
    for number, (depth, _) in enumerate(outline.topics()):
        del path[depth:]
        assert found.above(number) == path
        path.append(number)


def texts_of(document: bytes) -> OutlineTexts:
    """Return the texts of a document that is stored and read again."""
    unpacked_document = unpacked_up_to(zlib.compress(document), 1000)
    assert unpacked_document is not None
    return read_texts(unpacked_document)


@pytest.mark.parametrize(
    "damaged",
    [
        *(b"", b"{", b"[]", b"{}", b'{"format":5}', b'{"format":1,"topics":[]}', b"\xff"),
        *(b'{"format":5,"topics":[1]}', b'{"format":5,"topics":[[]]}'),
        b'{"format":5,"topics":[],"sheets":[{"root":0}]}',
    ],
)
def test_damage_is_reported(damaged: bytes) -> None:
    with pytest.raises(StoreDamaged):
        texts_of(damaged)


def test_documents_of_the_first_formats_have_no_labels() -> None:
    document = {"format": 2, "topics": [[-1, "a", "Root", "", "", []], [0, "b", "", "x", "", []]]}
    found = texts_of(orjson.dumps(document))
    assert (found.texts, found.notes, found.above(1)) == (["Root", ""], {1: "x"}, [0])


def test_only_small_documents_are_unpacked() -> None:
    encoded = encode_outline(Outline(sheets_of([Topic("a" * 1000)])))
    size = len(unpacked(encoded))
    assert unpacked_up_to(encoded, size) == unpacked(encoded)
    assert unpacked_up_to(encoded, size - 1) is None
    assert unpacked_up_to(b"x" * 100, 10) is None
    with pytest.raises(StoreDamaged):
        unpacked_up_to(b"not compressed", 1000)
