"""Outlines as bytes, for the store and for passing between processes.

The tree is written flat (each topic names its parent's position) because nested forms are
limited by the recursion of pickle and json, and deep maps are real. Deflate takes it to about a
fifth: outlines are the bulk of a catalogue's store.
"""

import zlib
from dataclasses import fields
from typing import Any, Final

import orjson

from mapshelf.errors import StoreDamaged
from mapshelf.model import Outline, Topic

FORMAT: Final = 3
"""Written first in every encoded outline; a reader of another version refuses it."""


LONGEST_TEXT: Final = 4 << 20
"""Characters of one map that go into the search index."""

FACTS: Final = tuple(fact.name for fact in fields(Outline) if fact.name != "roots")
"""What an outline tells of the map as a whole."""


def encode_outline(outline: Outline) -> bytes:
    """Return ``outline`` as bytes that ``decode_outline`` turns back into an equal one."""
    topics: list[tuple[object, ...]] = []
    pending: list[tuple[int, Topic]] = [(-1, root) for root in reversed(outline.roots)]
    while pending:
        parent, topic = pending.pop()
        position = len(topics)
        topics.append((parent, topic.id, topic.text, topic.note, topic.note_html, topic.links))
        pending.extend((position, child) for child in reversed(topic.children))
    document = {
        "format": FORMAT,
        **{name: getattr(outline, name) for name in FACTS},
        "topics": topics,
    }
    return zlib.compress(orjson.dumps(document))


def decode_outline(data: bytes) -> Outline:
    """Return the outline in ``data``.

    Raises:
        StoreDamaged: ``data`` was not written by ``encode_outline`` of this version.
    """
    try:
        return _outline(orjson.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, LookupError, TypeError) as error:
        raise StoreDamaged("an outline in the store cannot be read") from error


def outline_text(data: bytes) -> str:
    """Return texts and notes of all topics in ``data``, one a line, for the search index.

    At most ``LONGEST_TEXT`` characters, so that one map cannot hold up all others.

    Raises:
        StoreDamaged: as ``decode_outline``.
    """
    try:
        topics = orjson.loads(zlib.decompress(data))["topics"]
        text = "\n".join(part for topic in topics for part in (topic[2], topic[3]) if part)
        return text[:LONGEST_TEXT]
    except (zlib.error, ValueError, LookupError, TypeError) as error:
        raise StoreDamaged("an outline in the store cannot be read") from error


def _outline(document: dict[str, Any]) -> Outline:
    if document["format"] != FORMAT:
        raise StoreDamaged(f"an outline in the store has format {document['format']}")
    roots: list[Topic] = []
    topics: list[Topic] = []
    for parent, identifier, text, note, note_html, links in document["topics"]:
        topic = Topic(text, identifier, note, note_html, tuple(links))
        (roots if parent < 0 else topics[parent].children).append(topic)
        topics.append(topic)
    return Outline(tuple(roots), **{name: document[name] for name in FACTS})
