"""Serialise outlines to bytes, for the store and for other processes.

The tree is flattened: each topic has the index of its parent. Deeply nested data would exceed the
recursion limits of pickle and json. Deflate reduces the size to a fifth, which matters because
outlines are most of the data in a store.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Any, Final

import orjson

from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_bytes import decoding_errors, unpacked
from mapshelf.formats.outline_size import LARGEST, check_size
from mapshelf.model import (
    Attachment,
    Boundary,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
    topic_facts,
)

FORMAT: Final = 5
"""Version of the encoding, stored in every encoded outline."""

READABLE: Final = (2, 3, 4, FORMAT)
"""Supported versions: 2 had no language, 3 only the texts, notes and links of topics, 4 no numbers,
details and shown attributes, no hidden lines and no positions of callouts."""

LONGEST_TEXT: Final = 512 << 10
"""Maximum number of characters of a map that are searched, from its beginning. The largest map of
people that we know has 402,000. The worst text of this length, within ``MOST_VARIANTS`` in
``text/word_forms.py``, takes three seconds and 260 MB to index."""

_PLAIN_ARROW: Final = 4
"""Number of values in the row of an arrow to a topic; further values follow."""

_PLAIN: Final = 6
"""Number of values in the row of a plain topic; further content is in the next value."""

FACTS: Final = tuple(fact.name for fact in fields(Outline) if fact.name != "sheets")
"""The metadata of the map."""


def encode_outline(outline: Outline, most: int = LARGEST) -> bytes:
    """Serialise ``outline`` to bytes that ``decode_outline`` accepts.

    Raises:
        TooLarge: it would be larger than ``most`` bytes, uncompressed.
    """
    trees = list(outline.trees())
    topics: list[list[object]] = []
    places: dict[int, int] = {}
    pending: list[tuple[int, Topic]] = [(-1, tree) for tree in reversed(trees)]
    while pending:
        parent, topic = pending.pop()
        position = len(topics)
        if parent < 0:
            places[id(topic)] = position
        topics.append(_row(parent, topic))
        pending.extend((position, child) for child in reversed(topic.children))
    document = {
        "format": FORMAT,
        **{name: getattr(outline, name) for name in FACTS},
        "sheets": [_sheet_row(sheet, places) for sheet in outline.sheets],
        "topics": topics,
    }
    encoded = orjson.dumps(document, default=tuple)  # named tuples
    check_size(len(encoded), most)
    return zlib.compress(encoded)


def _row(parent: int, topic: Topic) -> list[object]:
    row = [parent, topic.id, topic.text, topic.note, topic.note_html, topic.links]
    more = {name: value for name in _MORE if (value := getattr(topic, name))}
    if topic.kind is not TopicKind.ATTACHED:
        more["kind"] = topic.kind.value
    if topic.style:
        style = topic.style
        more["style"] = {name: value for name in _LOOKS if (value := getattr(style, name))}
    if more:
        row.append(more)
    return row


_MORE: Final = (
    *("text_html", "markers", "tags", "task", "attributes", "images", "attachments"),
    *("formula", "folded", "side", "position", "number", "details", "shown_attributes"),
)
"""Fields that most topics lack; written only if set."""

_LOOKS: Final = tuple(look.name for look in fields(Style))


def _sheet_row(sheet: Sheet, places: dict[int, int]) -> dict[str, object]:
    return {
        "root": places[id(sheet.root)],
        "title": sheet.title,
        "background": sheet.background,
        "floating": [places[id(topic)] for topic in sheet.floating],
        "relationships": list(map(_arrow_row, sheet.relationships)),
        "boundaries": sheet.boundaries,
        "summaries": [(topics, places[id(topic)]) for topics, topic in sheet.summaries],
        **({"clockwise": True} if sheet.clockwise else {}),
    }


def _arrow_row(arrow: Relationship) -> Sequence[object]:
    usual = arrow.point is None and arrow.heads == "end"
    return arrow[:_PLAIN_ARROW] if usual else arrow


@decoding_errors()
def decode_outline(data: bytes) -> Outline:
    """Deserialise the outline in ``data``.

    Raises:
        StoreDamaged: ``data`` was not written by ``encode_outline`` of this version.
        MemoryError: it takes more memory than this process may use.
    """
    return _outline(orjson.loads(zlib.decompress(data)))


@decoding_errors()
def outline_texts(data: bytes) -> list[str]:
    """Return the texts of all topics in ``data``, in document order.

    Raises:
        StoreDamaged: as ``decode_outline``.
    """
    return [row[2] for row in orjson.loads(zlib.decompress(data))["topics"]]


@dataclass(frozen=True, slots=True)
class Passages:
    """The texts of a map's topics, for the search index.

    Attributes:
        shallow: texts of the central and the main topics.
        deep: texts of all other topics, all notes, text attached to topics, and labels of arrows
            and boundaries.
        language: language of the texts, empty if unknown.
        size: uncompressed size of the outline in bytes.
        topics: number of topics.
        notes: whether any topic has a note.
        tasks: whether any topic is a task.
        edited: time of the last edit according to the file (``Outline.modified``).
        tree: depth and text of each topic, in order; for a topic without text, its images.
    """

    shallow: tuple[str, ...] = ()
    deep: tuple[str, ...] = ()
    language: str = ""
    size: int = field(default=0, compare=False)
    topics: int = field(default=0, compare=False)
    notes: bool = field(default=False, compare=False)
    tasks: bool = field(default=False, compare=False)
    edited: int | None = field(default=None, compare=False)
    tree: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)


@decoding_errors()
def outline_passages(data: bytes, most: int = LONGEST_TEXT) -> Passages:
    """Extract the searchable text of the map in ``data``.

    It is limited to ``most`` characters, so that one map cannot delay all others.

    Raises:
        StoreDamaged: as ``decode_outline``.
        TooLarge: it is larger than any that is stored now. Indexing has no memory limit.
    """
    document = unpacked(data)
    return _passages(orjson.loads(document), most, len(document))


def _passages(document: dict[str, Any], most: int, size: int) -> Passages:
    shallow: list[str] = []
    deep: list[str] = []
    depths: list[int] = []
    tree: list[tuple[int, str]] = []
    room = most
    for row in document["topics"]:
        parent, _, text, note, _, _ = row if len(row) == _PLAIN else row[:_PLAIN]
        depth = depths[parent] + 1 if parent >= 0 else 0
        depths.append(depth)
        tree.append((depth, text or _pictured(row)))
        if text:
            (shallow if depth <= 1 else deep).append(text[:room])
        room -= len(text)
        if note:
            deep.append(note[: max(0, room)])
        room -= len(note)
        if len(row) > _PLAIN:
            for words in row_facts(row[_PLAIN]):
                deep.append(words[: max(0, room)])
                room -= len(words)
        if room <= 0:
            break
    for words in filter(None, _labels(document.get("sheets", ()))):
        if room <= 0:
            break
        deep.append(words[:room])
        room -= len(words)
    topics = document["topics"]
    return Passages(
        tuple(shallow),
        tuple(deep),
        document.get("language", ""),
        size,
        topics=len(topics),
        notes=any(map(itemgetter(3), topics)),
        tasks=any("task" in row[_PLAIN] for row in topics if len(row) > _PLAIN),
        edited=document.get("modified"),
        tree=tuple(tree),
    )


def _pictured(row: list[Any]) -> str:
    """Return a text for the images of a topic, empty if it has none."""
    images = row[_PLAIN].get("images", ()) if len(row) > _PLAIN else ()
    return " ".join(digest for digest, *_ in images if digest)


SEARCHABLE: Final = frozenset({"tags", "attributes", "task", "attachments", "formula"})
"""The content of topics that ``row_facts`` reads."""


def row_facts(more: dict[str, Any]) -> list[str]:
    """Return ``Topic.facts`` of a topic, given the last value of its row."""
    resources = more.get("task", {}).get("resources", ())
    files = [name for name, _ in more.get("attachments", ())]
    formula = more.get("formula", "")
    return topic_facts(more.get("tags", ()), more.get("attributes", ()), resources, files, formula)


def _labels(sheets: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the labels of arrows and boundaries."""
    for sheet in sheets:
        yield sheet["title"]
        yield from (arrow[2] for arrow in sheet["relationships"])
        yield from (text for _, text, _ in sheet["boundaries"])


def _outline(document: dict[str, Any]) -> Outline:
    if document["format"] not in READABLE:
        raise StoreDamaged(f"an outline in the store has format {document['format']}")
    roots: list[Topic] = []
    topics: list[Topic] = []
    for row in document["topics"]:
        parent, identifier, text, note, note_html, links = row[:6]
        topic = Topic(text, identifier, note, note_html, tuple(links))
        if len(row) > 6:
            _add_more(topic, row[6])
        (roots if parent < 0 else topics[parent].children).append(topic)
        topics.append(topic)
    if "sheets" in document:
        sheets = tuple(_sheet(row, topics) for row in document["sheets"])
    else:
        sheets = tuple(map(Sheet, roots))
    return Outline(sheets, **{name: document[name] for name in FACTS if name in document})


def _add_more(topic: Topic, more: dict[str, Any]) -> None:
    for name, value in more.items():
        read = _READ.get(name)
        setattr(topic, name, read(value) if read else value)


def _task(value: dict[str, Any]) -> Task:
    return Task(**{**value, "resources": tuple(value["resources"])})


_READ: Final[dict[str, Callable[[Any], object]]] = {
    "kind": TopicKind,
    "markers": lambda rows: tuple(Marker(*row) for row in rows),
    "tags": tuple,
    "task": _task,
    "attributes": lambda rows: tuple((name, value) for name, value in rows),
    "images": lambda rows: tuple(Image(*row) for row in rows),
    "attachments": lambda rows: tuple(Attachment(*row) for row in rows),
    "style": lambda value: Style(**value),
    # Earlier versions stored infinite places, which JSON has no numbers for.
    "position": lambda place: None if None in place else tuple(place),
    "shown_attributes": tuple,
}
"""Constructors for the values that JSON has no type for."""


def _sheet(row: dict[str, Any], topics: list[Topic]) -> Sheet:
    return Sheet(
        topics[row["root"]],
        row["title"],
        tuple(topics[place] for place in row["floating"]),
        tuple(map(_relationship, row["relationships"])),
        tuple(Boundary(tuple(ids), text, colour) for ids, text, colour in row["boundaries"]),
        tuple(Summary(tuple(ids), topics[place]) for ids, place in row["summaries"]),
        row["background"],
        row.get("clockwise", False),
    )


def _relationship(row: list[Any]) -> Relationship:
    start, end, text, colour, *more = row
    if not more:
        return Relationship(start, end, text, colour)
    point, heads = more
    return Relationship(start, end, text, colour, tuple(point) if point else None, heads)
