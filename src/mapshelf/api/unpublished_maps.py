"""Search the unpublished maps of one user, which are in no index, within limits of size and time.

The newest maps are searched first. Searching takes a second and 50 MB for each million characters
that people wrote, and ten times as long for hostile texts. So there is a limit for both: the size
decides for usual maps, so that all pages of a list agree, and the time for hostile ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from mapshelf.formats.outline_codec import LONGEST_TEXT, Passages
from mapshelf.formats.outline_size import MOST_DECODED, size_up_to
from mapshelf.model import ListedMap, Map
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
"""Seconds of processor time for reading the words of the maps."""

_KEYS: Final = {row.name: row.keys for row in FILTERS}

_OF_FILES: Final = frozenset({"folder", "language", "size", "with_notes", "with_tasks"})
"""The filters that depend on the file of a map."""


class UnpublishedMaps:
    """The unpublished maps of a user that pass the filters of a query."""

    def __init__(self, store: Store, maps: Sequence[Map], query: MapQuery) -> None:
        """Read what the query needs of some maps.

        Args:
            store: the store.
            maps: the maps, the oldest first.
            query: the query. Its text only tells whether there will be a search.
        """
        self._store = store
        self._query = query
        by_file = query.order == "edited" or any(
            name.removeprefix(NOT) in _OF_FILES for name, _ in query.filters
        )
        if query.text or by_file:
            read = self._read(maps)
        else:
            read = ((ListedMap(one, one.date_added), None) for one in maps)
        self._read_maps = [(one, text) for one, text in read if self._passes(one)]

    def matching(self, text: str) -> list[ListedMap]:
        """Return the maps that match a search text, all if it is empty."""
        if not text:
            return [one for one, _ in self._read_maps]
        terms = parse_query_text(text, self._query.title_only)
        found, searched = self._searched
        return [found[place] for place in searched.matching(terms)]

    def _read(self, maps: Sequence[Map]) -> Iterator[tuple[ListedMap, Passages | None]]:
        """Yield maps with the texts of their outlines, newest first, ``None`` beyond the limit."""
        room = MOST_SEARCHED
        for one in reversed(maps):
            passages = None
            if room > 0:
                most = min(room, LONGEST_TEXT)
                passages, size = self._passages(one, most)
                room -= size + len(one.title) + len(one.description)
            yield (
                listed_map(one, self._store.origin(one.file_id), passages or Passages()),
                passages,
            )

    def _passages(self, one: Map, most: int) -> tuple[Passages | None, int]:
        """Return the texts of a map, ``None`` if it is too large to decode, and their size."""
        outline = self._store.outline(one.file_id)
        if outline and size_up_to(outline, MOST_DECODED) > MOST_DECODED:
            return None, MOST_SEARCHED
        passages = passages_of(one, outline, most)
        return passages, passages.size

    def _passes(self, one: ListedMap) -> bool:
        return all(
            (key in _KEYS[name.removeprefix(NOT)](one)) != name.startswith(NOT)
            for name, key in self._query.filters
        )

    @cached_property
    def _searched(self) -> tuple[list[ListedMap], UnindexedMaps]:
        """The maps to search, with their words. It is kept for a second search, corrected."""
        pairs = list(self._words())
        return [one for one, _ in pairs], UnindexedMaps([words for _, words in pairs])

    def _words(self) -> Iterator[tuple[ListedMap, MapWords]]:
        finder, deadline, room = WordFinder(), Deadline(LONGEST_SEARCH), MOST_TITLES
        for one, passages in self._read_maps:
            if passages is not None and not deadline.is_over():
                yield one, finder.words_of(one.map, one.source, passages)
            else:
                room -= len(one.map.title) + len(one.map.category)
                if room < 0:
                    break
                yield one, finder.words_of(replace(one.map, description=""), "", Passages())
