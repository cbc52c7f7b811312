"""Read the texts of an outline that can be searched, without making its topics.

A page of results searches thousands of topics and shows a few of them. To make all the others would
take longer than to search them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_bytes import decoding_errors
from mapshelf.formats.outline_codec import READABLE, SEARCHABLE, row_facts

_PARENT: Final = 0
_ID: Final = 1
_TEXT: Final = 2
_NOTE: Final = 3
_MORE: Final = 6
"""Where the row of a topic has what is needed here; see ``outline_codec``."""


@dataclass(frozen=True, slots=True)
class OutlineTexts:
    """The searchable texts of an outline. Topics are numbered from 0, in document order.

    Attributes:
        texts: the text of each topic.
        notes: the other searchable texts of those topics that have any: the note, a line for each
            kind of fact, and labels. The title of a sheet belongs to its central topic, that of an
            arrow to the topic where it starts, that of a boundary to its first topic.
    """

    texts: Sequence[str]
    notes: Mapping[int, str]
    _rows: Sequence[Sequence[Any]]
    _depths: dict[int, int] = field(default_factory=dict)

    def id(self, topic: int) -> str:
        """Return the id of a topic."""
        return str(self._rows[topic][_ID])

    def above(self, topic: int) -> list[int]:
        """Return the topics on the path to a topic, from its root down to its parent."""
        found = list(self._upwards(topic))
        return found[::-1]

    def depth(self, topic: int) -> int:
        """Return how many topics are on the path to a topic; 0 for a root.

        To go up from each of all topics would take time that grows with the square of their number.
        """
        depths = self._depths
        known, unknown = topic, list[int]()
        while known >= 0 and known not in depths:
            unknown.append(known)
            known = self._rows[known][_PARENT]
        first = depths[known] + 1 if known >= 0 else 0
        for depth, one in enumerate(reversed(unknown), first):
            depths[one] = depth
        return depths[topic]

    def _upwards(self, topic: int) -> Iterator[int]:
        while (topic := self._rows[topic][_PARENT]) >= 0:
            yield topic


@decoding_errors()
def read_texts(document: bytes) -> OutlineTexts:
    """Return the texts of an outline from its document (``outline_bytes.unpacked_up_to``).

    Raises:
        StoreDamaged: the document is not one that was encoded.
    """
    decoded: dict[str, Any] = orjson.loads(document)
    if decoded["format"] not in READABLE:
        raise StoreDamaged(f"an outline in the store has format {decoded['format']}")
    rows = decoded["topics"]
    labels = _labels(decoded.get("sheets", ()), rows)
    notes = {
        topic: note
        for topic, row in enumerate(rows)
        if (row[_NOTE] or row[_ID] in labels or _has_facts(row))
        and (note := "\n".join(filter(None, _notes(row, labels))))
    }
    return OutlineTexts([row[_TEXT] for row in rows], notes, rows)


def _has_facts(row: Sequence[Any]) -> bool:
    return len(row) > _MORE and not SEARCHABLE.isdisjoint(row[_MORE])


def _notes(row: Sequence[Any], labels: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield row[_NOTE]
    if len(row) > _MORE:
        yield from row_facts(row[_MORE])
    yield from labels.get(row[_ID], ())


def _labels(
    sheets: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Any]]
) -> dict[str, list[str]]:
    """Return the titles of sheets and the labels of arrows and boundaries, by topic id."""
    labels: dict[str, list[str]] = {}
    for sheet in sheets:
        named = [(rows[sheet["root"]][_ID], sheet["title"])]
        named += [(start, text) for start, _, text, *_ in sheet["relationships"]]
        named += [(topic, text) for topics, text, _ in sheet["boundaries"] for topic in topics[:1]]
        for topic, text in named:
            if text:
                labels.setdefault(topic, []).append(text)
    return labels
