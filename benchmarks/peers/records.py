"""The maps of a catalogue as input for the peers: from the same store, in the same order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

import orjson

from benchmarks.catalogue import BASE_URL, Catalogue
from mapshelf.formats.outline_codec import Passages, outline_passages
from mapshelf.model import MAP_KEYS, Map
from mapshelf.snapshot.format.records import encode_record, with_base_url
from mapshelf.store import open_store

T = TypeVar("T")

BATCH: Final = 1000

COLUMNS: Final = (
    "file_id",
    "id",
    "title",
    "description",
    "thumbs_up",
    "thumbs_down",
    "views",
    "downloads",
    "thumbnail",
    "url",
    "category",
    "category_id",
    "date_added",
    "owner",
    "size",
    "copyright",
    "licence_type_id",
    "software",
)
"""The database column for each key of a Map object, in the order of the keys."""

NUMBERS: Final = frozenset(
    ("file_id", "thumbs_up", "thumbs_down", "views", "downloads", "category_id")
)
"""Columns of integers; the others contain text."""

WEIGHTS: Final = {"title": 8.0, "description": 3.0, "owner": 1.5, "category": 1.5, "topics": 1.0}
"""The fields to search, and their weights, for peers that support weights."""


@dataclass(frozen=True, slots=True)
class Document:
    """A map, and the text of its topics."""

    map: Map
    topics: str

    def row(self) -> tuple[Any, ...]:
        """Return its values for ``COLUMNS``."""
        record = with_base_url(encode_record(self.map), BASE_URL.encode())
        values = orjson.loads(record)
        return tuple(
            int(values[key]) if column in NUMBERS else values[key]
            for key, column in zip(MAP_KEYS, COLUMNS, strict=True)
        )

    def texts(self) -> tuple[str, ...]:
        """Return its texts for the fields of ``WEIGHTS``."""
        found = self.map
        return found.title, found.description, found.owner, found.category, self.topics


def documents(catalogue: Catalogue) -> Iterator[Document]:
    """Yield all maps, the oldest first."""
    store = open_store(catalogue.settings.database)
    try:
        revision = 0
        while changes := store.changes(revision, BATCH):
            revision = changes[-1].revision
            for change in changes:
                if change.map is not None:
                    passages = outline_passages(change.outline) if change.outline else Passages()
                    yield Document(change.map, "\n".join((*passages.shallow, *passages.deep)))
    finally:
        store.close()


def map_object(row: tuple[Any, ...]) -> dict[str, str]:
    """Return the Map object of a row; all its values are strings."""
    return dict(zip(MAP_KEYS, map(str, row), strict=True))


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Yield items in lists of ``size``."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
