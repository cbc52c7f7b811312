"""Search the unpublished maps of one user, which are in no index, within limits of size and time.

The newest maps are searched first. Searching takes a second and 50 MB for each million characters
that people wrote, and ten times as long for hostile texts. So there is a limit for both: the size
decides for usual maps, so that all pages of a list agree, and the time for hostile ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import Final

from mapshelf.formats.outline_codec import LONGEST_TEXT, Passages
from mapshelf.formats.outline_size import MOST_DECODED, size_up_to
from mapshelf.model import ListedMap, Map, Origin
from mapshelf.query import FILTERS, NOT, MapQuery
from mapshelf.search.deadline import Deadline
from mapshelf.search.listed_maps import listed_map, passages_of
from mapshelf.search.map_words import MapWords, WordFinder
from mapshelf.search.matching import UnindexedMaps
from mapshelf.search.query_parser import parse_query_text
from mapshelf.store import Store

MOST_SEARCHED: Final = 2 << 20
"""Maximum size of the texts to search: outlines, decompressed and in bytes, titles and
descriptions. Of the other maps, only title and category are searched."""

MOST_TITLES: Final = 256 << 10
"""Maximum number of characters in the titles and categories of these other maps. Maps beyond it are
found without a search text only."""

LONGEST_SEARCH: Final = 3.0
"""Seconds of processor time for reading the maps and their words."""

_USUALLY_COMPRESSED: Final = 5
"""How many times as large outlines usually are when they are decompressed."""

_FEWEST_BYTES: Final = 64 << 10
"""Bytes of compressed outlines to read at once, even if there is less room."""

_KEYS: Final = {row.name: row.keys for row in FILTERS}

_OF_FILES: Final = frozenset({"folder", "language", "size", "with_notes", "with_tasks"})
"""The filters that depend on the file of a map."""


class UnpublishedMaps:
    """The unpublished maps of a user that pass the filters of a query."""

    def __init__(self, store: Store, batches: Iterable[Sequence[Map]], query: MapQuery) -> None:
        """Read what the query needs of some maps.

        Args:
            store: the store.
            batches: the maps, the newest first, a few hundred at a time. They are not read further
                than a search goes.
            query: the query. Its text only tells whether there will be a search.
        """
        self._store = store
        self._query = query
        self._deadline = Deadline(LONGEST_SEARCH)
        self._room = MOST_SEARCHED
        names = {name.removeprefix(NOT) for name, _ in query.filters}
        self._by_origin = query.order == "edited" or "folder" in names
        if query.text or self._by_origin or names & _OF_FILES:
            read = self._read(batches)
        else:
            read = ((ListedMap(one, one.date_added), None) for batch in batches for one in batch)
        self._read_maps = list(self._wanted(read))

    def matching(self, text: str) -> list[ListedMap]:
        """Return the maps that match a search text, all if it is empty."""
        if not text:
            return [one for one, _ in self._read_maps]
        terms = parse_query_text(text, self._query.title_only)
        found, searched = self._searched
        return [found[place] for place in searched.matching(terms)]

    def close(self) -> None:
        """Free the memory of a search bit by bit, so that other threads need not wait."""
        if "_searched" in vars(self):
            self._searched[1].clear()

    def _wanted(
        self, read: Iterable[tuple[ListedMap, Passages | None]]
    ) -> Iterator[tuple[ListedMap, Passages | None]]:
        """Yield the maps that pass the filters; those that a search can find, if there will be one.

        Beyond these, no more is read.
        """
        room = MOST_TITLES
        for one, passages in read:
            if not self._passes(one):
                continue
            if self._query.text and passages is None:
                room -= _title_size(one)
                if room < 0:
                    break
            yield one, passages

    def _read(
        self, batches: Iterable[Sequence[Map]]
    ) -> Iterator[tuple[ListedMap, Passages | None]]:
        """Yield maps with the texts of their outlines, ``None`` beyond the limits."""
        for batch in batches:
            texts: list[Passages | None] = []
            for one, outline in self._outlines(batch):
                passages, size = _passages(one, outline, min(self._room, LONGEST_TEXT))
                texts.append(passages)
                size += len(one.title) + len(one.description)
                self._room = 0 if self._deadline.was_over(size) else self._room - size
            origins = self._origins(batch if self._by_origin else batch[: len(texts)])
            for one, found in zip_longest(batch, texts):
                origin = origins.get(one.file_id, Origin())
                yield listed_map(one, origin, found or Passages()), found

    def _outlines(self, batch: Sequence[Map]) -> Iterator[tuple[Map, bytes | None]]:
        """Yield maps with their outlines, as long as there is room for their texts.

        Of the outlines for which there will be no room, only a few are read.
        """
        waiting = list(reversed(batch))
        sizes = self._outline_sizes(batch) if self._room > 0 else {}
        while waiting and self._room > 0:
            some: list[Map] = []
            most = max(self._room // _USUALLY_COMPRESSED, _FEWEST_BYTES)
            while waiting and (not some or most >= sizes.get(waiting[-1].file_id, 0)):
                some.append(waiting.pop())
                most -= sizes.get(some[-1].file_id, 0)
            found = self._store.outlines([one.file_id for one in some])
            for one in some:
                if self._room > 0:
                    yield one, found.get(one.file_id)

    def _outline_sizes(self, maps: Sequence[Map]) -> dict[int, int]:
        return self._store.outline_sizes([one.file_id for one in maps])

    def _origins(self, maps: Sequence[Map]) -> dict[int, Origin]:
        return self._store.origins([one.file_id for one in maps]) if maps else {}

    def _passes(self, one: ListedMap) -> bool:
        return all(
            (key in _KEYS[name.removeprefix(NOT)](one)) != name.startswith(NOT)
            for name, key in self._query.filters
        )

    @cached_property
    def _searched(self) -> tuple[list[ListedMap], UnindexedMaps]:
        """The maps to search, with their words. It is kept for a second search, corrected."""
        found: list[ListedMap] = []
        return found, UnindexedMaps(self._words(found))

    def _words(self, found: list[ListedMap]) -> Iterator[MapWords]:
        """Yield the words of the maps to search, and append these to ``found``."""
        finder, room = WordFinder(), MOST_TITLES
        for one, passages in self._read_maps:
            if passages is not None and not self._deadline.is_over():
                found.append(one)
                yield finder.words_of(one.map, one.source, passages)
            else:
                room -= _title_size(one)
                if room < 0:
                    break
                found.append(one)
                yield finder.words_of(replace(one.map, description=""), "", Passages())


def _title_size(one: ListedMap) -> int:
    return len(one.map.title) + len(one.map.category)


def _passages(one: Map, outline: bytes | None, most: int) -> tuple[Passages | None, int]:
    """Return the texts of a map, ``None`` if it is too large to decode, and their size."""
    if outline and size_up_to(outline, MOST_DECODED) > MOST_DECODED:
        return None, MOST_SEARCHED
    passages = passages_of(one, outline, most)
    return passages, passages.size
